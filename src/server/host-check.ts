import type { IncomingHttpHeaders } from 'node:http';
import { normalHost } from './listen-address.ts';

// A web page in somebody's browser can make requests to this machine, and can have its own name
// resolve to it (DNS rebinding). It cannot forge the Host and Origin that the browser sends.

type Scheme = 'http' | 'https';

interface Authority {
  readonly host: string;
  /** Null: none was written. */
  readonly port: number | null;
}

export interface HostRules {
  readonly scheme: Scheme;
  /** The port listened on, once it is known. */
  readonly port: () => number;
  /** The host of the address listened on. */
  readonly listenHost: string;
  /** Names, with a port where it is neither ours nor the usual one, or whole origins. */
  readonly allowedHosts: readonly string[];
}

export type HostVerdict =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'refused'; readonly message: string };

const authorityPattern =
  /^(\[[\da-fA-F:.]{2,45}\]|[A-Za-z\d_](?:[A-Za-z\d_.-]{0,251}))(?::(\d{1,5}))?$/;
const originPattern = /^(https?):\/\/([^/?#@\s]+)$/i;
const usualPort: Readonly<Record<Scheme, number>> = { http: 80, https: 443 };

/** The names by which this server may be called, and the pages that may call it. */
export class HostCheck {
  readonly #rules: HostRules;
  /** `host` with any usual port, or `host:port` with exactly that one. */
  readonly #names = new Set<string>(['localhost', '127.0.0.1', '[::1]']);
  /** Pages elsewhere that may call, as whole origins. */
  readonly #origins = new Set<string>();

  constructor(rules: HostRules) {
    this.#rules = rules;
    this.#names.add(normalHost(rules.listenHost));
    for (const allowed of rules.allowedHosts) this.#allow(allowed);
  }

  #allow(text: string): void {
    const origin = readOrigin(text.trim());
    const authority = origin ?? readAuthority(text.trim());
    if (authority === null) {
      throw new Error(
        `server.allowedHosts: ${JSON.stringify(text)} is no host name; write names such as ` +
          `bellows.example, bellows.example:8443 or https://bellows.example`,
      );
    }
    const { host, port } = authority;
    this.#names.add(port === null ? host : `${host}:${port}`);
    if (origin !== null) this.#origins.add(originText(origin.scheme, origin));
  }

  /** `localAddress`: the one that the client connected to; a browser told so by number is not fooled. */
  judge(headers: IncomingHttpHeaders, request: RequestFacts): HostVerdict {
    const written = headers[':authority'] ?? headers.host;
    const authority = typeof written === 'string' ? readAuthority(written) : null;
    if (authority === null || !this.#isOurs(authority, request.localAddress)) {
      const seen = typeof written === 'string' ? JSON.stringify(written.slice(0, 100)) : 'none';
      return refused(
        `the Host header (${seen}) is no name of this server; if it should be, add it to ` +
          `server.allowedHosts`,
      );
    }
    const site = headers['sec-fetch-site'];
    const isVisit = request.isRead && headers['sec-fetch-mode'] === 'navigate';
    const { origin } = headers;
    if (origin === undefined) {
      if (site !== 'cross-site' || isVisit) return { kind: 'admitted' };
      return refused('a page of another site may not call this server');
    }
    const page = readOrigin(origin);
    if (page !== null && this.#mayCall(page, authority)) return { kind: 'admitted' };
    return refused(
      `the page ${JSON.stringify(origin.slice(0, 100))} may not call this server; only its own ` +
        `pages may, and origins listed in server.allowedHosts`,
    );
  }

  #isOurs({ host, port }: Authority, localAddress: string): boolean {
    if (port !== null && this.#names.has(`${host}:${port}`)) return true;
    const { scheme } = this.#rules;
    const isUsual = port === null || port === this.#rules.port() || port === usualPort[scheme];
    return isUsual && (this.#names.has(host) || host === normalHost(localAddress));
  }

  /** From the very origin that the request goes to, or from one that is listed. */
  #mayCall(page: Authority & { readonly scheme: Scheme }, called: Authority): boolean {
    const { scheme } = this.#rules;
    if (this.#origins.has(originText(page.scheme, page))) return true;
    return originText(page.scheme, page) === originText(scheme, called);
  }
}

export interface RequestFacts {
  readonly localAddress: string;
  /** GET or HEAD: following a link to a page is fine. */
  readonly isRead: boolean;
}

const refused = (message: string): HostVerdict => ({ kind: 'refused', message });

function readAuthority(text: string): Authority | null {
  const match = authorityPattern.exec(text);
  if (match === null) return null;
  const [, host = '', port] = match;
  const bare = host.startsWith('[') ? host.slice(1, -1) : host;
  return { host: normalHost(bare), port: port === undefined ? null : Number(port) };
}

function readOrigin(text: string): (Authority & { readonly scheme: Scheme }) | null {
  const match = originPattern.exec(text);
  if (match === null) return null;
  const authority = readAuthority(match[2] ?? '');
  const scheme = match[1]?.toLowerCase() === 'https' ? 'https' : 'http';
  return authority === null ? null : { ...authority, scheme };
}

const originText = (scheme: Scheme, { host, port }: Authority): string =>
  `${scheme}://${host}:${port ?? usualPort[scheme]}`;

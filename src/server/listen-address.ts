import { isIP, isIPv4, isIPv6 } from 'node:net';

/** Where to listen. */
export interface ListenAddress {
  /** A name or an address, without brackets. */
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
}

const pattern = /^(?:\[([^\][]+)\]|([^:\][\s/]+)):(\d{1,5})$/;

/** `127.0.0.1:7070`, `[::1]:0`, `localhost:7070`; throws a sentence for anything else. */
export function parseListen(text: string): ListenAddress {
  const bad = (what: string): Error =>
    new Error(
      `server.listen: ${JSON.stringify(text)} ${what}; write an address and a port, such as ` +
        `127.0.0.1:7070, [::1]:7070 or 0.0.0.0:7070`,
    );
  const match = pattern.exec(text.trim());
  if (match === null) throw bad('is no address to listen on');
  const [, bracketed, plain, port = ''] = match;
  if (bracketed !== undefined && !isIPv6(bracketed)) throw bad('has no IPv6 address in brackets');
  const host = bracketed ?? plain ?? '';
  if (bracketed === undefined && /^[\d.]+$/.test(host) && !isIPv4(host)) {
    throw bad('has no IPv4 address');
  }
  if (Number(port) > 65_535) throw bad('has a port above 65535');
  return { host, port: Number(port) };
}

/** Only this machine reaches it. */
export const isLoopback = (host: string): boolean =>
  host.toLowerCase() === 'localhost' ||
  (isIPv4(host) && host.startsWith('127.')) ||
  (isIPv6(host) && normalHost(host) === '[::1]');

/** A host as it stands in a URL: lower case, IPv6 shortened and in brackets. */
export function normalHost(host: string): string {
  if (!isIPv6(host)) return host.toLowerCase();
  const url = `http://[${host.replace(/%.*$/, '')}]/`;
  return URL.canParse(url) ? new URL(url).hostname : `[${host.toLowerCase()}]`;
}

/** What a client on this machine would open. All addresses at once are no address to go to. */
export function urlOf(scheme: 'http' | 'https', host: string, port: number): string {
  const target = host === '0.0.0.0' ? '127.0.0.1' : normalHost(host) === '[::]' ? '::1' : host;
  return `${scheme}://${normalHost(target)}:${port}`;
}

/** `127.0.0.1:7070`, `[::1]:7070`: who is at the other end. */
export const peerText = (address: string, port: number): string =>
  isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;

/** Why listening failed, and what to do. */
export function explainListenError(error: unknown, { host, port }: ListenAddress): Error {
  const where = peerText(host, port);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const sentences: Readonly<Record<string, string>> = {
    EADDRINUSE: `${where} is in use by another process; stop that one, or set server.listen to another port`,
    EACCES: `no permission to listen on ${where}; ports below 1024 need more rights: use one above, such as 7070`,
    EADDRNOTAVAIL: `${where} is no address of this machine; set server.listen to one that is, or to 127.0.0.1:${port}`,
    ENOTFOUND: `${host} is a name that nothing resolves; set server.listen to an address such as 127.0.0.1:${port}`,
    EAI_AGAIN: `${host} cannot be resolved now; set server.listen to an address such as 127.0.0.1:${port}`,
  };
  const words = error instanceof Error ? error.message : String(error);
  return new Error(sentences[code] ?? `listening on ${where} failed: ${words}`, { cause: error });
}

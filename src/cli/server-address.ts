import { isIPv4 } from 'node:net';
import { CommandError } from './option-values.ts';

/** Where a server is. */
export interface ServerAddress {
  /** Without a slash at its end. */
  readonly url: string;
  readonly isSecure: boolean;
  /** It is this machine: nobody else hears what is said. */
  readonly isLoopback: boolean;
}

/** `http://host:7070`, `https://host`, or `host:7070` for http. */
export function parseServerAddress(raw: string): ServerAddress {
  const bad = (what: string, remedy: string): CommandError =>
    new CommandError(`--server: ${JSON.stringify(withoutSecrets(raw))} ${what}; ${remedy}`);
  const example = 'write host:port or https://host:port, for example 127.0.0.1:7070';
  const hasScheme = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(raw);
  if (!hasScheme && !/:\d+\/?$/.test(raw)) throw bad('has no port', example);
  const text = hasScheme ? raw : `http://${raw}`;
  if (!URL.canParse(text)) throw bad('is not an address', example);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw bad(`is ${url.protocol.slice(0, -1)}, not http or https`, example);
  }
  if (url.username !== '' || url.password !== '') {
    throw bad('holds a name or password', 'use --token-file or BELLOWS_TOKEN instead');
  }
  if (url.search !== '' || url.hash !== '') throw bad('has more than a path', 'leave out ? and #');
  return {
    url: `${url.origin}${url.pathname}`.replace(/\/+$/, ''),
    isSecure: url.protocol === 'https:',
    isLoopback: isLoopback(url.hostname),
  };
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));

/** What stands before an @ may be a password. */
const withoutSecrets = (raw: string): string => raw.replace(/^([a-z]+:\/\/)?.*@/i, '$1...@');

import { Code, ConnectError } from '@connectrpc/connect';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../ports/clock.ts';
import type { Caller } from './caller.ts';
import type { Ends } from './node-request.ts';
import { Buckets, clientOf } from './rate.ts';
import type { TokenBook } from './token-book.ts';

export type Admission =
  | { readonly kind: 'known'; readonly caller: Caller; readonly tokenId: string | null }
  | { readonly kind: 'refused'; readonly error: ConnectError };

export interface AdmissionRules {
  readonly tokens: TokenBook;
  readonly clock: Clock;
  /** False: whoever is on this machine may do everything without one. */
  readonly needsToken: boolean;
  readonly failuresPerMinute: number;
}

const bearer = /^Bearer +(\S{1,200})$/i;

/** Says who calls. A valid token is always let in: failures of others behind its address do not lock it out. */
export class Admissions {
  readonly #rules: AdmissionRules;
  readonly #failures: Buckets;

  constructor(rules: AdmissionRules) {
    this.#rules = rules;
    const { failuresPerMinute } = rules;
    this.#failures = new Buckets({ perSecond: failuresPerMinute / 60, burst: failuresPerMinute });
  }

  admit(headers: IncomingHttpHeaders, { from, remoteAddress }: Ends): Admission {
    const { tokens, clock, needsToken } = this.#rules;
    const { authorization } = headers;
    if (authorization === undefined && !needsToken) {
      const caller: Caller = { name: 'local', role: 'admin', from, hasToken: false };
      return { kind: 'known', caller, tokenId: null };
    }
    const secret = bearer.exec(authorization ?? '')?.[1] ?? '';
    const check = tokens.check(secret, clock.wallMs());
    switch (check.kind) {
      case 'valid': {
        const { name, role, id } = check.token;
        return { kind: 'known', caller: { name, role, from, hasToken: true }, tokenId: id };
      }
      case 'expired': {
        const at = new Date(check.token.expiresAtMs ?? 0).toISOString();
        return this.#refuse(remoteAddress, `the token expired at ${at}; create another`);
      }
      default:
        return this.#refuse(
          remoteAddress,
          'a valid token is needed: send it as `Authorization: Bearer blw_...`; an administrator ' +
            'makes one with `bellows token create`',
        );
    }
  }

  #refuse(remoteAddress: string, message: string): Admission {
    const taken = this.#failures.take(clientOf(remoteAddress), this.#rules.clock.monotonicMs());
    if (taken.kind === 'taken') {
      const challenge = { 'www-authenticate': 'Bearer realm="bellows"' };
      const error = new ConnectError(message, Code.Unauthenticated, challenge);
      return { kind: 'refused', error };
    }
    return { kind: 'refused', error: tooMany('calls without a valid token', taken.retryMs) };
  }
}

/** A refusal that says when to come back. */
export function tooMany(what: string, retryMs: number): ConnectError {
  const retryS = Math.max(1, Math.ceil(retryMs / 1_000));
  const message = `too many ${what} from this client; try again in ${retryS} s`;
  return new ConnectError(message, Code.ResourceExhausted, { 'retry-after': String(retryS) });
}

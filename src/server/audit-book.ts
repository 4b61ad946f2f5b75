import { Code, type ConnectError } from '@connectrpc/connect';
import { codeToString } from '@connectrpc/connect/protocol-connect';
import type { Clock } from '../ports/clock.ts';
import type { AuditLog } from './audit.ts';
import type { Call } from './call.ts';
import { permissionOf } from './permissions.ts';
import { Buckets } from './rate.ts';

/** Refused calls written down at once, and per second after that; a flood is counted. */
const AT_ONCE = 60;
const PER_SECOND = 1;

/** Writes calls to the audit log: all that reached a route, and of the refused ones a bounded number. */
export class AuditBook {
  readonly #audit: AuditLog;
  readonly #clock: Clock;
  readonly #denied = new Buckets({ perSecond: PER_SECOND, burst: AT_ONCE });
  #suppressed = 0;

  constructor(audit: AuditLog, clock: Clock) {
    this.#audit = audit;
    this.#clock = clock;
  }

  /** A call that was let in, once it is over. */
  finished(call: Call): void {
    if (!isMutating(call)) return;
    const { outcome } = call;
    const code = outcome?.kind === 'failed' ? outcome.error.code : Code.InvalidArgument;
    this.#write(call, outcome?.kind === 'ok' ? 'ok' : codeToString(code), 0);
  }

  /** A call that was not. A wrong token is of interest whatever it was for. */
  denied(call: Call, error: Pick<ConnectError, 'code'>): void {
    if (!isMutating(call) && error.code !== Code.Unauthenticated) return;
    if (this.#denied.take('all', this.#clock.monotonicMs()).kind === 'empty') {
      this.#suppressed++;
      return;
    }
    const suppressed = this.#suppressed;
    this.#suppressed = 0;
    this.#write(call, codeToString(error.code), suppressed);
  }

  #write(call: Call, outcome: string, suppressed: number): void {
    this.#audit.write({
      at: new Date(this.#clock.wallMs()).toISOString(),
      who: call.caller?.name ?? '',
      role: call.caller?.role ?? '',
      from: call.from,
      rpc: call.method.name,
      fleet: call.fleet,
      subject: call.subject,
      outcome,
      ...(suppressed > 0 ? { suppressed } : {}),
    });
  }
}

const isMutating = (call: Call): boolean => permissionOf(call.method.localName)?.isMutating ?? true;

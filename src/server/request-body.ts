import { Code, ConnectError } from '@connectrpc/connect';
import { formatDuration, formatQuantity } from '../api/format.ts';
import type { Clock } from '../ports/clock.ts';
import type { NodeRequest } from './node-request.ts';
import { untilAborted } from './until-aborted.ts';

/** What all bodies that are being read hold together. */
export class BodyBudget {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#bytesMax) return false;
    this.#bytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }
}

export interface BodyRules {
  readonly bytesMax: number;
  /** For all of it, or, where it is a stream, for the next piece of it. */
  readonly withinMs: number;
  readonly isStream: boolean;
  readonly clock: Clock;
  /** Ends the reading. */
  readonly signal: AbortSignal;
  readonly budget: BodyBudget;
}

/** The bytes of a request, within bounds of size and time. Read once. */
export class RequestBody implements AsyncIterable<Uint8Array> {
  readonly #request: NodeRequest;
  readonly #rules: BodyRules;
  #held = 0;
  /** Why it did not. */
  failure: ConnectError | null = null;

  constructor(request: NodeRequest, rules: BodyRules) {
    this.#request = request;
    this.#rules = rules;
  }

  /** What is wrong before a byte is read. */
  refuseByLength(): ConnectError | null {
    const length = Number(this.#request.headers['content-length'] ?? 0);
    return !this.#rules.isStream && length > this.#rules.bytesMax ? this.#tooLarge() : null;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    // Left open when we stop early: destroying the request would take the answer with it.
    const pieces = this.#request.iterator({ destroyOnReturn: false });
    let seen = 0;
    let timer = this.#arm();
    try {
      for (;;) {
        const next: Promise<IteratorResult<Uint8Array>> = Promise.race([pieces.next(), timer.late]);
        const piece = await untilAborted(next, this.#rules.signal);
        if (piece.done === true) break;
        seen += piece.value.byteLength;
        if (!this.#rules.isStream) this.#hold(piece.value.byteLength, seen);
        yield piece.value;
        if (!this.#rules.isStream) continue;
        timer.cancel();
        timer = this.#arm();
      }
    } catch (error) {
      this.failure = toBodyError(error);
      throw this.failure;
    } finally {
      timer.cancel();
    }
  }

  /** Once the call is over. */
  release(): void {
    this.#rules.budget.give(this.#held);
    this.#held = 0;
  }

  #hold(bytes: number, seen: number): void {
    if (seen > this.#rules.bytesMax) throw this.#tooLarge();
    if (!this.#rules.budget.take(bytes)) {
      throw new ConnectError(
        'the server is reading as many large requests as it may; try again in a moment',
        Code.ResourceExhausted,
      );
    }
    this.#held += bytes;
  }

  #tooLarge(): ConnectError {
    const most = formatQuantity('memory', this.#rules.bytesMax);
    return new ConnectError(
      `the request is larger than ${most}, the most this server reads (server.bodyMax); send ` +
        `pending work in pages of at most 2,000 entries`,
      Code.ResourceExhausted,
    );
  }

  #arm(): { readonly late: Promise<never>; cancel(): void } {
    const { clock, withinMs, isStream } = this.#rules;
    let cancel = (): void => undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const what = isStream ? 'nothing more of the stream' : 'not all of the request';
      const message = `${what} arrived within ${formatDuration(withinMs)}`;
      const timer = clock.after(withinMs, () =>
        reject(new ConnectError(message, Code.DeadlineExceeded)),
      );
      cancel = () => timer.cancel();
    });
    // Where nobody waits for it any more, its end is no news.
    late.catch(() => undefined);
    return { late, cancel };
  }
}

function toBodyError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  return new ConnectError('the request broke off', Code.Canceled, undefined, undefined, error);
}

/** In place of a body: Connect then answers with the error, in the words of the caller's protocol. */
export const failingBody = (error: ConnectError): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }),
});

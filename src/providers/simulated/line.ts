import { ProviderError } from '../../ports/provider.ts';
import type { Agenda } from './agenda.ts';
import type { Arrival } from './control-plane.ts';
import type { FaultKind, Faults } from './faults.ts';
import { faultTimes, type Spread } from './offer.ts';
import type { Weather } from './weather.ts';

export type CallKind = 'launch' | 'terminate' | 'list';
type TripKind =
  | 'answered'
  | 'hang'
  | 'throttled'
  | 'late-create'
  | 'lost-request'
  | 'lost-reply'
  | 'late-reply'
  | 'garbled-reply';

/** How one call fares between its caller and the cloud. */
interface Trip {
  readonly kind: TripKind;
  readonly isDoubled: boolean;
  readonly oneWayMs: number;
}

interface Caller<T> {
  readonly answer: (value: T) => void;
  readonly fail: (kind: ProviderError['kind'], message: string) => void;
}

/** The first that strikes decides; all are drawn every time, so that one shifts no other. */
const callFaults = (
  faults: Faults,
  call: CallKind,
): readonly (readonly [TripKind & FaultKind, number])[] => [
  ['hang', faults.hangRatio],
  ['throttled', faults.throttledRatio],
  ['late-create', call === 'launch' ? faults.lateCreateRatio : 0],
  ['lost-request', faults.lostRequestRatio],
  ['lost-reply', faults.lostReplyRatio],
  ['late-reply', faults.lateReplyRatio],
  ['garbled-reply', faults.garbledReplyRatio],
];

/** One connection to the cloud: carries calls there and answers back, or fails to. */
export class Line {
  readonly #agenda: Agenda;
  readonly #weather: Weather;
  readonly #latency: Spread;
  /** Calls without an answer yet. */
  readonly #hangUps = new Set<() => void>();
  #isClosed = false;

  constructor(agenda: Agenda, weather: Weather, latency: Spread) {
    this.#agenda = agenda;
    this.#weather = weather;
    this.#latency = latency;
  }

  /**
   * Carries a call. Rejects at once when its signal aborts; what is on its way then still arrives
   * and takes effect.
   */
  call<T>(call: CallKind, signal: AbortSignal, effect: (arrival: Arrival) => T): Promise<T> {
    if (this.#isClosed) {
      return Promise.reject(new ProviderError('unreachable', `${call}: the connection is closed`));
    }
    if (signal.aborted) {
      return Promise.reject(new ProviderError('timeout', `${call}: aborted before it was sent`));
    }
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        if (!this.#hangUps.delete(hangUp)) return;
        signal.removeEventListener('abort', onAbort);
        settle();
      };
      const fail = (kind: ProviderError['kind'], message: string): void =>
        finish(() => reject(new ProviderError(kind, `${call}: ${message}`)));
      const onAbort = (): void => fail('timeout', 'aborted by its caller');
      const hangUp = (): void => fail('unreachable', 'the connection was closed');
      this.#hangUps.add(hangUp);
      signal.addEventListener('abort', onAbort);
      const answer = (value: T): void => finish(() => resolve(value));
      this.#carry(this.#drawTrip(call), effect, { answer, fail });
    });
  }

  /** Calls under way end as unreachable; what they did or will do stands. */
  close(): void {
    this.#isClosed = true;
    for (const hangUp of this.#hangUps) hangUp();
  }

  #drawTrip(call: CallKind): Trip {
    const { faults } = this.#weather;
    const hits = callFaults(faults, call).map(([kind, ratio]) =>
      this.#weather.isHit(kind, ratio, call) ? kind : null,
    );
    // A list that is read twice is nothing to anybody.
    const doubledRatio = call === 'list' ? 0 : faults.duplicateRequestRatio;
    const isDoubled = this.#weather.isHit('duplicate-request', doubledRatio, call);
    const nowMs = this.#agenda.nowMs();
    // Launches are throttled where they arrive, with a word on when to come back.
    const isThrottled = call !== 'launch' && nowMs < this.#weather.throttleUntilMs;
    const byLever = nowMs < this.#weather.hangUntilMs ? 'hang' : isThrottled ? 'throttled' : null;
    const fault = byLever ?? hits.find((hit) => hit !== null) ?? null;
    if (fault !== null) this.#weather.count(fault);
    const oneWayMs = this.#weather.pickMs(this.#latency, `latency/${call}`) / 2;
    return { kind: fault ?? 'answered', isDoubled, oneWayMs };
  }

  #carry<T>(
    { kind, isDoubled, oneWayMs }: Trip,
    effect: (arrival: Arrival) => T,
    caller: Caller<T>,
  ): void {
    const weather = this.#weather;
    const sentAtMs = this.#agenda.nowMs();
    const after = (delayMs: number, act: () => void): void => {
      this.#agenda.after(delayMs, act);
    };
    const fail = (delayMs: number, error: ProviderError['kind'], message: string): void =>
      after(delayMs, () => caller.fail(error, message));
    /** Arrives, takes effect, perhaps twice; `reply` is what becomes of the answer. */
    const arrive = (reply: (value: T) => void): void =>
      after(oneWayMs, () => {
        const value = effect({ pass: 'first', sentAtMs });
        if (isDoubled) {
          weather.count('duplicate-request');
          after(weather.pickMs(faultTimes.duplicate, 'duplicate-after'), () =>
            effect({ pass: 'again', sentAtMs }),
          );
        }
        reply(value);
      });

    switch (kind) {
      case 'answered':
        return arrive((value) => after(oneWayMs, () => caller.answer(value)));
      case 'late-reply': {
        const lateMs = weather.pickMs(faultTimes.lateReply, 'late-reply-after');
        return arrive((value) => after(lateMs, () => caller.answer(value)));
      }
      case 'garbled-reply':
        return arrive(() => fail(oneWayMs, 'garbage', 'the answer cannot be read'));
      case 'lost-reply':
        return arrive(() => fail(faultTimes.timeoutMs, 'timeout', 'no answer'));
      case 'hang':
        return weather.next('hang-effect') < 0.5 ? arrive(() => {}) : undefined;
      case 'lost-request':
        return weather.next('lost-request-how') < 0.5
          ? fail(faultTimes.timeoutMs, 'timeout', 'no answer')
          : fail(oneWayMs, 'unreachable', 'connection refused');
      case 'throttled':
        return fail(2 * oneWayMs, 'throttled', `retry after ${faultTimes.retryAfterMs} ms`);
      case 'late-create':
        after(weather.pickMs(faultTimes.lateCreate, 'late-create-after'), () =>
          effect({ pass: 'late', sentAtMs }),
        );
        return fail(2 * oneWayMs, 'unreachable', 'service unavailable');
    }
  }
}

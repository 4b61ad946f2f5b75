import { type EpochMs, epochMs } from '../../model/ids.ts';
import type { Clock } from '../../ports/clock.ts';

export interface Alarm {
  cancel(): void;
}

/**
 * The cloud's own time and all that it has yet to do. Its clock starts where the wall clock stood
 * and then follows the monotonic one: when a customer's clock jumps, the cloud's does not.
 */
export class Agenda {
  readonly openedAtMs: EpochMs;
  readonly #clock: Clock;
  readonly #openedAtMonotonicMs: number;
  readonly #alarms = new Set<Alarm>();
  #isStopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.openedAtMs = clock.wallMs();
    this.#openedAtMonotonicMs = clock.monotonicMs();
  }

  nowMs(): EpochMs {
    return epochMs(this.openedAtMs + this.#clock.monotonicMs() - this.#openedAtMonotonicMs);
  }

  after(delayMs: number, callback: () => void): Alarm {
    if (this.#isStopped) return { cancel: () => {} };
    const timer = this.#clock.after(delayMs, () => {
      this.#alarms.delete(alarm);
      callback();
    });
    const alarm: Alarm = {
      cancel: () => {
        this.#alarms.delete(alarm);
        timer.cancel();
      },
    };
    this.#alarms.add(alarm);
    return alarm;
  }

  /** Nothing more happens. */
  stop(): void {
    this.#isStopped = true;
    for (const alarm of this.#alarms) alarm.cancel();
  }
}

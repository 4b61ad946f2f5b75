import { epochMs } from '../model/ids.ts';
import type { Clock } from '../ports/clock.ts';

/** Real time. */
export const systemClock: Clock = {
  wallMs: () => epochMs(Date.now()),
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    // A timer waits a millisecond at least, and a large tick lets others have a turn dozens of times.
    if (delayMs <= 0) {
      const turn = setImmediate(callback);
      return { cancel: () => clearImmediate(turn) };
    }
    const timer = setTimeout(callback, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
};

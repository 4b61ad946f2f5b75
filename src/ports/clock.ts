import type { EpochMs } from '../model/ids.ts';

/** Time as the process sees it. */
export interface Clock {
  /** What the wall clock says: it may jump, in both directions. */
  wallMs(): EpochMs;
  /** Milliseconds since some start; never goes back, never jumps. */
  monotonicMs(): number;
  /** Calls back once, `delayMs` from now or a little later. Cancelling twice is fine. */
  after(delayMs: number, callback: () => void): { cancel(): void };
}

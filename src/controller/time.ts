import { type EpochMs, epochMs } from '../model/ids.ts';
import type { Clock } from '../ports/clock.ts';

/** How much faster or slower than real time we go to catch up with a clock that was set. */
const SLEW_RATIO = 0.1;
/** The wall clock is a jump away from ours: somebody set it. */
const JUMP_MS = 5_000;

/**
 * The controller's own time. It never goes back and never leaps: a wall clock that jumps an hour ahead
 * would otherwise end every wait at once, and one that jumps back would begin them anew. It follows
 * the wall clock at a tenth of real time, as a clock daemon does.
 */
export class SteadyTime {
  readonly #clock: Clock;
  #nowMs: number;
  #monotonicMs: number;
  /** What the wall clock was ahead of the monotonic one when last asked. */
  #aheadMs: number;

  /** `leastMs`: the last time that was recorded; a start with a clock behind it waits there. */
  constructor(clock: Clock, leastMs: EpochMs) {
    this.#clock = clock;
    this.#nowMs = Math.max(clock.wallMs(), leastMs);
    this.#monotonicMs = clock.monotonicMs();
    this.#aheadMs = this.#nowMs - this.#monotonicMs;
  }

  now(): EpochMs {
    const monotonicMs = this.#clock.monotonicMs();
    const passedMs = Math.max(0, monotonicMs - this.#monotonicMs);
    this.#monotonicMs = monotonicMs;
    const behindMs = this.#clock.wallMs() - (this.#nowMs + passedMs);
    const slewMs = Math.max(-passedMs * SLEW_RATIO, Math.min(passedMs * SLEW_RATIO, behindMs));
    this.#nowMs += passedMs + slewMs;
    return epochMs(Math.floor(this.#nowMs));
  }

  /**
   * How far the wall clock has jumped since this was last asked; 0 while it keeps pace. At the start,
   * how far it is behind what was recorded. Our own following of it is no jump.
   */
  takeJump(): number {
    const aheadMs = this.#clock.wallMs() - this.#clock.monotonicMs();
    const jumpMs = Math.round(aheadMs - this.#aheadMs);
    this.#aheadMs = aheadMs;
    return Math.abs(jumpMs) < JUMP_MS ? 0 : jumpMs;
  }
}

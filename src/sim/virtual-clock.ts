import type { EpochMs } from '../model/ids.ts';
import { epochMs } from '../model/ids.ts';
import type { Clock } from '../ports/clock.ts';
import { assert } from '../support/assert.ts';
import { type Timer, TimerHeap } from './timer-heap.ts';

/** 2026-01-01T00:00:00Z: a plausible wall time, so that nobody mistakes it for a duration. */
const WALL_START_MS = 1_767_225_600_000;
/** A timer that sets itself again with no delay would stop time for good; this many prove it. */
const EVENTS_PER_INSTANT_MAX = 100_000;

/**
 * One turn of the event loop: every promise chain that can go on has gone on when it resolves.
 * `setImmediate` runs after all microtasks, also those that they make.
 */
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/**
 * Time that moves only when told to. Timers fire in order of time, then of insertion, and between
 * two of them all promise chains settle: the same calls give the same order, on every machine.
 */
export class VirtualClock implements Clock {
  readonly #timers = new TimerHeap();
  #nowMs = 0;
  #wallOffsetMs: number;
  #seq = 0;
  #firedCount = 0;
  #instantCount = 0;
  #isRunning = false;

  constructor(wallStartMs: number = WALL_START_MS) {
    this.#wallOffsetMs = wallStartMs;
  }

  wallMs(): EpochMs {
    return epochMs(this.#nowMs + this.#wallOffsetMs);
  }

  /** Starts at 0. */
  monotonicMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, callback: () => void): { cancel(): void } {
    assert(Number.isFinite(delayMs), 'a delay is a number: a timer at NaN would never be due');
    const atMs = this.#nowMs + Math.max(0, delayMs);
    const timer: Timer = { atMs, seq: this.#seq++, callback, state: 'pending' };
    this.#timers.push(timer);
    return { cancel: () => this.#timers.cancel(timer) };
  }

  /** Timers set and neither fired nor cancelled. */
  get pendingCount(): number {
    return this.#timers.size;
  }

  /** Timers fired so far: how much has happened. */
  get firedCount(): number {
    return this.#firedCount;
  }

  /** When the next timer is due, on the monotonic clock; null when nothing is pending. */
  nextAtMs(): number | null {
    return this.#timers.peek()?.atMs ?? null;
  }

  /** Moves the wall clock alone, as an administrator or a time server does: forward or back. */
  jumpWall(deltaMs: number): void {
    this.#wallOffsetMs += deltaMs;
  }

  /** Lets time pass, and what is due in it happen. `advance(0)` settles what is due now. */
  async advance(ms: number): Promise<void> {
    assert(ms >= 0, 'time does not go back');
    await this.run(this.#nowMs + ms);
  }

  /** Runs to this point of the monotonic clock. What a callback throws ends the run, rejected. */
  async run(untilMs: number): Promise<void> {
    assert(!this.#isRunning, 'one run at a time: two would fight over the same timers');
    assert(untilMs >= this.#nowMs, 'time does not go back');
    this.#isRunning = true;
    try {
      await turn(); // promise chains of before may still set timers
      for (;;) {
        const timer = this.#timers.popDue(untilMs);
        if (timer === null) break;
        this.#fire(timer);
        await turn();
      }
      this.#nowMs = untilMs;
    } finally {
      this.#isRunning = false;
    }
  }

  #fire(timer: Timer): void {
    this.#instantCount = timer.atMs === this.#nowMs ? this.#instantCount + 1 : 0;
    assert(this.#instantCount <= EVENTS_PER_INSTANT_MAX, 'time stands still: a timer feeds itself');
    this.#nowMs = timer.atMs;
    this.#firedCount++;
    timer.callback();
  }
}

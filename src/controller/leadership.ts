import type { EpochMs } from '../model/ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';

export type Standing =
  | { readonly kind: 'leading'; readonly epoch: number }
  | { readonly kind: 'following'; readonly holder: string; readonly untilMs: EpochMs };

/**
 * The right to act, as the store grants it. It is believed to last until its end by both clocks,
 * counted from before it was asked for: a process that was stopped for a while sees by the wall
 * clock that its time is up, one whose clock was set back by the other.
 */
export class Leadership {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #holder: string;
  readonly #ttlMs: number;
  #epoch: number | null = null;
  #isHeldByOther = false;
  #askedMonotonicMs = 0;
  #askedWallMs = 0;

  constructor(
    { store, clock }: { readonly store: Store; readonly clock: Clock },
    { holder, ttlMs }: { readonly holder: string; readonly ttlMs: number },
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#holder = holder;
    this.#ttlMs = ttlMs;
  }

  get epoch(): number | null {
    return this.#epoch;
  }

  /** Another controller had the lease when it was last asked for. */
  get isHeldByOther(): boolean {
    return this.#isHeldByOther;
  }

  /** Time left in which calls may still run. */
  remainingMs(): number {
    if (this.#epoch === null) return 0;
    const passedMs = Math.max(
      this.#clock.monotonicMs() - this.#askedMonotonicMs,
      this.#clock.wallMs() - this.#askedWallMs,
    );
    return this.#ttlMs - passedMs;
  }

  /** A third of its time is over: time to ask again. */
  get isDue(): boolean {
    return this.remainingMs() < (this.#ttlMs * 2) / 3;
  }

  async ask(): Promise<Standing> {
    const monotonicMs = this.#clock.monotonicMs();
    const wallMs = this.#clock.wallMs();
    const answer = await this.#store.acquireLease({
      holder: this.#holder,
      nowMs: wallMs,
      ttlMs: this.#ttlMs,
      epoch: this.#epoch,
    });
    this.#isHeldByOther = answer.kind === 'held';
    if (answer.kind === 'held') {
      this.#epoch = null;
      return { kind: 'following', holder: answer.holder, untilMs: answer.untilMs };
    }
    this.#epoch = answer.epoch;
    this.#askedMonotonicMs = monotonicMs;
    this.#askedWallMs = wallMs;
    return { kind: 'leading', epoch: answer.epoch };
  }

  lose(): void {
    this.#epoch = null;
  }

  async release(): Promise<void> {
    const epoch = this.#epoch;
    this.#epoch = null;
    if (epoch !== null) await this.#store.releaseLease(epoch);
  }
}

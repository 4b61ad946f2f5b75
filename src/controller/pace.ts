/** Refusals are planned around at once, so many times before the pace applies again. */
const ROUNDS_MAX = 3;

/**
 * When to decide: at once on the first change, then at most once per `leastMs`, and at least once per
 * `mostMs`. A launch that is refused is planned anew at once, at most three rounds.
 */
export class Pace {
  #leastMs: number;
  #mostMs: number;
  #decidedMs = -Infinity;
  /** The last decision that a change asked for: one made only to look again holds up no change. */
  #answeredMs = -Infinity;
  #isWanted = true;
  #rounds = 0;

  constructor(leastMs: number, mostMs: number) {
    this.#leastMs = leastMs;
    this.#mostMs = mostMs;
  }

  set(leastMs: number, mostMs: number): void {
    this.#leastMs = leastMs;
    this.#mostMs = mostMs;
  }

  /** Something changed that a decision could depend on. */
  want(): void {
    this.#isWanted = true;
  }

  isDue(nowMs: number, wasRefused: boolean): boolean {
    return (wasRefused && this.#rounds < ROUNDS_MAX) || nowMs >= this.nextMs();
  }

  /** When the next decision is due, as far as is known now. */
  nextMs(): number {
    const againMs = this.#decidedMs + this.#mostMs;
    return this.#isWanted ? Math.min(againMs, this.#answeredMs + this.#leastMs) : againMs;
  }

  decided(nowMs: number, wasRefused: boolean): void {
    const isRound = wasRefused && nowMs < this.#answeredMs + this.#leastMs;
    this.#rounds = isRound ? this.#rounds + 1 : 0;
    // A round belongs to the tick that it repairs: it pushes the next one no further away.
    if (this.#isWanted && !isRound) this.#answeredMs = nowMs;
    this.#decidedMs = nowMs;
    this.#isWanted = false;
  }
}

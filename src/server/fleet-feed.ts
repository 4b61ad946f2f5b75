import type { BoundOutcome } from '../controller/bound.ts';
import type { TimedEvent } from '../model/event.ts';
import type { EpochMs } from '../model/ids.ts';
import type { TickInput, TickOutput } from '../model/tick.ts';

/** An event with its place among all of the fleet's. */
export interface NumberedEvent extends TimedEvent {
  readonly seq: number;
}

/** A decision, and what it was decided from. */
export interface DecidedTick {
  readonly input: TickInput;
  readonly output: TickOutput;
}

/** The lower bound of some decision, and when it was computed. */
export interface AgedBound {
  readonly outcome: BoundOutcome;
  readonly atMs: EpochMs;
}

/** Events shown with a status. */
const RECENT_MAX = 50;

/** What the controller tells as it goes, for those who ask or watch. Holds the last of everything. */
export class FleetFeed {
  #recent: NumberedEvent[] = [];
  #bound: AgedBound | null = null;
  #version = 0;
  readonly #bells = new Set<() => void>();

  /** Rises with every change. */
  get version(): number {
    return this.#version;
  }

  /** Newest first. */
  get recentEvents(): readonly NumberedEvent[] {
    return this.#recent;
  }

  get bound(): AgedBound | null {
    return this.#bound;
  }

  ticked(): void {
    this.#ring();
  }

  happened(events: readonly TimedEvent[], firstSeq: number): void {
    const numbered = events.map(({ atMs, event }, n) => ({ seq: firstSeq + n, atMs, event }));
    this.#recent = [...numbered.reverse(), ...this.#recent].slice(0, RECENT_MAX);
    this.#ring();
  }

  /** What happened before this process; oldest first. */
  recall(events: readonly NumberedEvent[]): void {
    this.#recent = [...this.#recent, ...events.toReversed()].slice(0, RECENT_MAX);
    this.#ring();
  }

  bounded(bound: AgedBound): void {
    this.#bound = bound;
    this.#ring();
  }

  /** Calls back, in a turn of its own choosing, whenever something changed; until it is undone. */
  watch(bell: () => void): () => void {
    this.#bells.add(bell);
    return () => void this.#bells.delete(bell);
  }

  #ring(): void {
    this.#version++;
    for (const bell of this.#bells) bell();
  }
}

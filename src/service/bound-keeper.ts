import { measureBound } from '../controller/bound.ts';
import { groundsOf } from '../controller/decision-snapshot.ts';
import type { EpochMs } from '../model/ids.ts';
import type { TickInput, TickOutput } from '../model/tick.ts';
import type { Clock } from '../ports/clock.ts';
import type { Solver } from '../ports/solver.ts';
import type { FleetFeed } from '../server/fleet-feed.ts';

/** A bound is computed at most this often; it is shown with its age. */
const INTERVAL_MS = 30_000;

/** Computes the lower bound of decisions that buy something, beside the loop. */
export class BoundKeeper {
  readonly #options: { readonly solver: Solver; readonly clock: Clock; readonly feed: FleetFeed };
  #isBusy = false;
  #lastMs = -Infinity;

  constructor(options: {
    readonly solver: Solver;
    readonly clock: Clock;
    readonly feed: FleetFeed;
  }) {
    this.#options = options;
  }

  /** Called with every tick; most of them launch nothing and need no solver. */
  ticked(input: TickInput, output: TickOutput): void {
    const { clock } = this.#options;
    const isBuying = output.decision.groups.some(({ launch }) => launch > 0);
    const isDue = clock.monotonicMs() - this.#lastMs >= INTERVAL_MS;
    if (!isBuying || !isDue || this.#isBusy) return;
    this.#lastMs = clock.monotonicMs();
    this.#isBusy = true;
    void this.#measure(input, output, input.atMs).finally(() => (this.#isBusy = false));
  }

  async #measure(input: TickInput, output: TickOutput, atMs: EpochMs): Promise<void> {
    const { solver, feed } = this.#options;
    try {
      const outcome = await measureBound(solver, groundsOf(input).snapshot, output.decision);
      feed.bounded({ outcome, atMs });
    } catch (error) {
      // It is shown and nothing hangs on it: no reason for the service to end.
      const detail = error instanceof Error ? error.message : String(error);
      feed.bounded({ outcome: { kind: 'unknown', why: 'solver-failed', detail }, atMs });
    }
  }
}

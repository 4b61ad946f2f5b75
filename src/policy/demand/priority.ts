import type { EntryBatch } from '../../model/demand.ts';
import { byFirst, byNumber } from '../../support/order.ts';
import { type AllocateDemand, createAllocation } from './allocation.ts';
import { byRank, placeEntries } from './place.ts';
import { type Want, openLedger } from './problem.ts';
import { placeReserved } from './reservations.ts';

/** Batches placed at a time: some ten milliseconds' worth. */
const RUNS_PER_TURN = 2_000;

/**
 * Routes entry by entry, in service order, to groups by rank: room that is there or coming first,
 * in rank order; then a new slice in the first group by rank that may open one.
 */
export const allocateByPriority: AllocateDemand = function* (problem) {
  const allocation = createAllocation(problem, openLedger(problem));
  placeReserved(problem, allocation);
  const wants = problem.wants.filter(({ demand }) => !demand.isReserved);
  let placed = 0;
  for (const { want, batch } of inServiceOrder(wants)) {
    if (++placed % RUNS_PER_TURN === 0) yield;
    placeEntries(problem, allocation, want, { count: batch.count, order: byRank });
  }
  return allocation;
};

interface Run {
  readonly want: Want;
  readonly batch: EntryBatch;
}

/** Highest priority first, then oldest, then as given. */
function inServiceOrder(wants: readonly Want[]): readonly Run[] {
  const runs = wants.flatMap((want) => want.demand.batches.map((batch) => ({ want, batch })));
  return runs.sort(
    byFirst<Run>(
      (a, b) => b.want.demand.priority - a.want.demand.priority,
      byNumber((run) => run.batch.submittedAtMs),
      byNumber((run) => run.batch.order),
    ),
  );
}

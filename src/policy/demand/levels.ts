import { assert } from '../../support/assert.ts';
import { groupBy } from '../../support/group-by.ts';
import type { Turns } from '../../support/turns.ts';
import { type Allocation, createAllocation } from './allocation.ts';
import { openMinimum } from './minimum.ts';
import { type DemandProblem, type Want, openLedger } from './problem.ts';
import { placeReserved } from './reservations.ts';

/** Places what it can of some classes on top of what is placed already. */
export type PlaceWants = (allocation: Allocation, wants: readonly Want[]) => Turns<void>;

/**
 * Serves by priority where it matters: all classes together when the bounds have room for all, for
 * the best plan; else level by level, highest first, so that none waits for a lower one.
 */
export function* allocateByLevels(problem: DemandProblem, place: PlaceWants): Turns<Allocation> {
  const together = yield* allocateLevels(problem, [problem.wants], place);
  const levels = byLevel(problem.wants);
  if (levels.length <= 1 || !isShort(problem, together)) return together;
  yield;
  return yield* allocateLevels(problem, levels, place);
}

function* allocateLevels(
  problem: DemandProblem,
  levels: readonly (readonly Want[])[],
  place: PlaceWants,
): Turns<Allocation> {
  const allocation = createAllocation(problem, openLedger(problem));
  // Slices that min launches in any case are room at no further cost.
  openMinimum(problem, allocation);
  placeReserved(problem, allocation);
  for (const wants of levels) {
    yield* place(
      allocation,
      wants.filter(({ demand }) => !demand.isReserved),
    );
  }
  return allocation;
}

/** Classes by priority, highest first. */
function byLevel(wants: readonly Want[]): readonly (readonly Want[])[] {
  const levels = groupBy(wants, (want) => want.demand.priority);
  return [...levels].sort(([a], [b]) => b - a).map(([, level]) => level);
}

/** True when something waits that another order of service might have placed. */
function isShort({ wants }: DemandProblem, allocation: Allocation): boolean {
  return wants.some((want) => {
    const isPlaceable = want.parts.every((part) => part.ranked.length > 0);
    return isPlaceable && countWaiting(allocation, want) > 0;
  });
}

/** Entries of a class that have no place yet. */
export function countWaiting({ berthings }: Allocation, want: Want): number {
  const placed = (berthings[want.index] ?? []).reduce((sum, { count }) => sum + count, 0);
  assert(placed <= want.demand.count, 'no more entries are placed than there are');
  return want.demand.count - placed;
}

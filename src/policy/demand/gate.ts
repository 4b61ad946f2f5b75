import type { EntryForm } from '../../model/demand.ts';
import type { Fleet } from '../../model/fleet.ts';
import { entryId, epochMs } from '../../model/ids.ts';
import { createAllocation } from './allocation.ts';
import { byRank, placeEntries } from './place.ts';
import { type DemandProblem, type Want, createProblem, openLedger } from './problem.ts';

/** Whether an entry could ever run in the fleet: alone in it, empty and untroubled. */
export type Gate = (want: Want) => boolean;

/**
 * A gate for the classes of a problem. It places an entry by the same code as the plan does, so
 * what passes here is refused later only for want of capacity.
 */
export function createGate(problem: DemandProblem): Gate {
  const { fleet } = problem.snapshot;
  const groups = fleet.groups.map((group) => ({ ...group, min: 0, spare: 0 }));
  const totals = groups.map(() => 0);
  const empty = { fleet: { ...fleet, groups }, slices: [], conditions: [] };
  const ledger = openLedger({ ...problem, snapshot: { ...problem.snapshot, ...empty }, totals });
  const allocation = createAllocation(problem, ledger);
  return (want) => {
    let isPlaced = false;
    allocation.attempt(() => {
      isPlaced = placeEntries(problem, allocation, want, { count: 1, order: byRank }) === 1;
      allocation.exhausted.clear();
      allocation.bookmarks.clear();
      return false; // each entry is asked about alone
    });
    return isPlaced;
  };
}

/** The submission gate: whether a request could ever run in a fleet. */
export function couldEverRun(fleet: Fleet, form: EntryForm): boolean {
  const id = entryId('gate');
  const batch = { id, count: 1, submittedAtMs: epochMs(0), order: 0, owner: null, taskIds: [] };
  const problem = createProblem({
    atMs: epochMs(0),
    fleet,
    slices: [],
    conditions: [],
    demand: [{ form, priority: 0, invalid: null, isReserved: false, batches: [batch], count: 1 }],
    floors: [],
  });
  const gate = createGate(problem);
  return problem.wants.length > 0 && problem.wants.every(gate);
}

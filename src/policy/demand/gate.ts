import type { EntryForm } from '../../model/demand.ts';
import type { Fleet } from '../../model/fleet.ts';
import { entryId, epochMs } from '../../model/ids.ts';
import { createAllocation } from './allocation.ts';
import { byRank, placeEntries } from './place.ts';
import { createProblem, openLedger } from './problem.ts';

/**
 * Whether an entry could ever run in the fleet: alone in it, empty and untroubled. It is placed by
 * the same code as in a plan, so what passes here is refused later only for want of capacity.
 */
export function couldEverRun(fleet: Fleet, form: EntryForm): boolean {
  const id = entryId('gate');
  const batch = { id, count: 1, submittedAtMs: epochMs(0), order: 0, owner: null, taskIds: [] };
  const problem = createProblem({
    atMs: epochMs(0),
    fleet: { ...fleet, groups: fleet.groups.map((group) => ({ ...group, min: 0, spare: 0 })) },
    slices: [],
    conditions: [],
    demand: [{ form, priority: 0, invalid: null, isReserved: false, batches: [batch], count: 1 }],
    floors: [],
  });
  const allocation = createAllocation(problem, openLedger(problem));
  return problem.wants.every(
    (want) => placeEntries(problem, allocation, want, { count: 1, order: byRank }) === 1,
  );
}

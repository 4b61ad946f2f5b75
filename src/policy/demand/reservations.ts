import { entryIdAt } from '../../model/demand.ts';
import type { RoomKind } from '../../model/reason.ts';
import { type Slice, onItsWay } from '../../model/slice.ts';
import { groupBy } from '../../support/group-by.ts';
import { assert, must } from '../../support/assert.ts';
import { type Allocation, type Berth, toBerths } from './allocation.ts';
import { placeGang } from './gangs.ts';
import { byRank, placeEntries } from './place.ts';
import type { DemandProblem, Want } from './problem.ts';

/**
 * Places gangs on the slices that an earlier decision reserved for them, before anything else. What
 * such a gang has lost since is made up in the same group; if that cannot be, it is placed afresh.
 */
export function placeReserved(problem: DemandProblem, allocation: Allocation): void {
  for (const want of problem.wants) {
    if (!want.demand.isReserved) continue;
    for (const batch of want.demand.batches) {
      for (let n = 0; n < batch.count; n++) {
        const slices = problem.reservations.get(entryIdAt(batch, n)) ?? [];
        if (placeOnReserved(problem, allocation, want, slices)) continue;
        placeEntries(problem, allocation, want, { count: 1, order: byRank });
      }
    }
  }
}

function placeOnReserved(
  problem: DemandProblem,
  allocation: Allocation,
  want: Want,
  slices: readonly Slice[],
): boolean {
  assert(want.form.kind === 'gang', 'slices are reserved for gangs alone');
  const part = must(want.parts[0], 'a gang has one part');
  for (const [name, list] of groupBy(slices, (slice) => slice.group)) {
    const group = problem.groups.findIndex((candidate) => candidate.name === name);
    if (group < 0 || part.admitted[group] !== 1) continue;
    const { hostsPerSlice } = must(problem.groups[group], 'a group index');
    const hosts = (kind: RoomKind): number =>
      list.filter(({ status }) => roomOf(status) === kind).length * hostsPerSlice;
    const there = Math.min(want.form.taskCount, hosts('free-room'));
    const coming = Math.min(want.form.taskCount - there, hosts('on-its-way'));
    const tasks = want.form.taskCount - there - coming;
    const at = { group, slicesMax: allocation.ledger.budgets.openable(group) };
    const rest = tasks === 0 ? [] : placeGang(problem, allocation, { part, tasks }, at);
    if (rest === null) continue;
    const reserved: Berth[] = [
      { group, room: 'free-room', tasks: there },
      { group, room: 'on-its-way', tasks: coming },
    ];
    const berths = [...reserved.filter((berth) => berth.tasks > 0), ...toBerths(group, rest)];
    allocation.place(want, 1, berths);
    return true;
  }
  return false;
}

const roomOf = (status: Slice['status']): RoomKind | null =>
  onItsWay.has(status) ? 'on-its-way' : status === 'ready' ? 'free-room' : null;

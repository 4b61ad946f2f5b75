import { assert, must } from '../../support/assert.ts';
import type { Allocation } from './allocation.ts';
import type { DemandProblem } from './problem.ts';
import type { RoomView } from './host-list.ts';

/** `count` hosts, each with so many copies of so many parts. */
export interface HostLoad {
  readonly count: number;
  readonly parts: readonly number[];
  readonly copies: readonly number[];
}

/** What a planner did with a group: loads for its rooms, by place in their list, and for new hosts. */
export interface GroupBooking {
  readonly group: number;
  readonly rooms: readonly { readonly view: RoomView; readonly loads: readonly HostLoad[] }[];
  readonly opened: readonly HostLoad[];
}

/** Books what a planner of whole hosts did: opens its slices and keeps what room is left over. */
export function bookHosts(
  problem: DemandProblem,
  allocation: Allocation,
  { group, rooms, opened }: GroupBooking,
): void {
  const { hostsPerSlice } = must(problem.groups[group], 'a group index');
  const empty = must(problem.capacity[group], 'a group index');
  const after: RoomView[] = [];
  for (const { view, loads } of rooms) {
    for (const load of loads) {
      const free = unload(problem, view.free, load);
      after.push({ kind: view.kind, free, count: load.count, isUntouched: false });
    }
    after.push(...leaveOver(view, view.count - countHosts(loads), hostsPerSlice));
  }
  const hosts = countHosts(opened);
  const slices = Math.ceil(hosts / hostsPerSlice);
  if (slices > 0) allocation.open(group, slices);
  for (const load of opened) {
    const free = unload(problem, empty, load);
    after.push({ kind: 'new', free, count: load.count, isUntouched: false });
  }
  const beside = slices * hostsPerSlice - hosts;
  after.push({ kind: 'new', free: empty, count: beside, isUntouched: false });
  allocation.ledger.rooms.replace(group, after);
}

const countHosts = (loads: readonly HostLoad[]): number =>
  loads.reduce((sum, { count }) => sum + count, 0);

/** Room left on a host under a load. */
function unload({ needs }: DemandProblem, free: Float64Array, load: HostLoad): Float64Array {
  const after = free.slice();
  for (let i = 0; i < load.parts.length; i++) {
    const need = must(needs[load.parts[i] ?? -1], 'a part index');
    const copies = load.copies[i] ?? 0;
    for (let k = 0; k < after.length; k++) {
      const left = (after[k] ?? 0) - (need[k] ?? 0) * copies;
      assert(left >= 0, 'no planner loads a host beyond its room');
      after[k] = left;
    }
  }
  return after;
}

/** Hosts left alone; of slices used in part, the others are no longer whole slices. */
function leaveOver(view: RoomView, left: number, hostsPerSlice: number): readonly RoomView[] {
  assert(left >= 0, 'no planner uses more hosts than there are');
  if (!view.isUntouched) return [{ ...view, count: left }];
  const beside = left % hostsPerSlice;
  return [
    { ...view, count: beside, isUntouched: false },
    { ...view, count: left - beside },
  ];
}

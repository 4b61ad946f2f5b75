import { must } from '../../support/assert.ts';
import type { Allocation } from './allocation.ts';
import type { HostLoad } from './host-list.ts';
import type { DemandProblem } from './problem.ts';

/** What a planner did with a group: loads for its rooms, by place in their list, and for new hosts. */
export interface GroupBooking {
  readonly group: number;
  readonly rooms: readonly (readonly HostLoad[] | undefined)[];
  readonly opened: readonly HostLoad[];
}

/** Books what a planner of whole hosts did: opens its slices and keeps what room is left over. */
export function bookHosts(
  { groups }: DemandProblem,
  allocation: Allocation,
  { group, rooms, opened }: GroupBooking,
): void {
  const { hostsPerSlice } = must(groups[group], 'a group index');
  const hosts = opened.reduce((sum, { count }) => sum + count, 0);
  const slices = Math.ceil(hosts / hostsPerSlice);
  if (slices > 0) allocation.open(group, slices);
  // What was just opened is the last room of the group.
  allocation.ledger.rooms.load(group, slices > 0 ? [...rooms, opened] : rooms);
}

import type { FloorVerdict } from '../../model/decision.ts';
import { type Slice, onItsWay } from '../../model/slice.ts';
import { must } from '../../support/assert.ts';
import type { Allocation } from './allocation.ts';
import { createExclusionLists, explainUnmet } from './explain.ts';
import type { DemandProblem, JudgedPart } from './problem.ts';
import { fitCopies } from './host-list.ts';
import { type Rooms, createRooms } from './rooms.ts';

/**
 * Floors (`request_resources`) are held against whole hosts, whatever runs on them: hosts there,
 * coming or opened for work count first, and what is missing is opened. After all work, as a floor
 * is a wish for later. As much of each as the bounds allow.
 */
export function holdFloors(problem: DemandProblem, allocation: Allocation): Floors {
  if (problem.floors.length === 0) return { verdicts: [], heldBy: problem.groups.map(() => 0) };
  const rooms = wholeHosts(problem, allocation);
  const there = problem.groups.map((_, group) => rooms.unused(group).ready);
  const listExclusions = createExclusionLists(problem);
  const verdicts = problem.floors.map((part, index) => {
    const floor = must(problem.snapshot.floors[index], 'one part per floor');
    let left = floor.count;
    for (const group of part.ranked) left -= take(rooms, group, part, left);
    for (const group of part.ranked) {
      if (left === 0) break;
      openFor(problem, allocation, rooms, { part, group, copies: left });
      left -= take(rooms, group, part, left);
    }
    const heldCount = floor.count - left;
    if (left === 0) return { heldCount, unmet: null };
    // Judged against whole hosts, which are all taken: only a new slice could help.
    const books = { rooms, budgets: allocation.ledger.budgets };
    const isEverAdmitted = part.ranked.length > 0;
    const waiting = { part, count: left, isEverAdmitted, rules: null, want: null };
    return { heldCount, unmet: explainUnmet(problem, books, waiting, listExclusions) };
  });
  const heldBy = there.map((slices, group) => Math.ceil(slices - rooms.unused(group).ready));
  return { verdicts, heldBy };
}

/** What floors came to, and how many of each group's slices, there or coming, hold them. */
export interface Floors {
  readonly verdicts: readonly FloorVerdict[];
  readonly heldBy: readonly number[];
}

const take = (rooms: Rooms, group: number, part: JudgedPart, copies: number): number =>
  rooms.take(group, part.index, copies).reduce((sum, { count }) => sum + count, 0);

const stays = ({ status }: Slice): boolean => status === 'ready' || onItsWay.has(status);

/** Every host that is there, coming or opened in this decision, as if it were empty. */
function wholeHosts(
  { snapshot, groups, capacity, needs }: DemandProblem,
  { opened }: Allocation,
): Rooms {
  const hostsPerSlice = groups.map((group) => group.hostsPerSlice);
  const rooms = createRooms({ hostsPerSlice, needs });
  groups.forEach((group, index) => {
    const there = snapshot.slices.filter((slice) => slice.group === group.name && stays(slice));
    const hosts =
      (there.length + (opened.demand[index] ?? 0) + (opened.min[index] ?? 0)) * group.hostsPerSlice;
    const free = must(capacity[index], 'a group index');
    rooms.add(index, { kind: 'free-room', free, count: hosts, isUntouched: true });
  });
  return rooms;
}

function openFor(
  { groups, capacity, needs }: DemandProblem,
  allocation: Allocation,
  rooms: Rooms,
  {
    part,
    group,
    copies,
  }: { readonly part: JudgedPart; readonly group: number; readonly copies: number },
): void {
  const free = must(capacity[group], 'a group index');
  const { hostsPerSlice } = must(groups[group], 'a group index');
  const perSlice = fitCopies(free, must(needs[part.index], 'a part index')) * hostsPerSlice;
  const slices = Math.min(
    allocation.ledger.budgets.openable(group),
    Math.ceil(copies / perSlice) || 1,
  );
  if (slices === 0) return;
  allocation.open(group, slices, 'floor');
  rooms.add(group, { kind: 'new', free, count: slices * hostsPerSlice, isUntouched: true });
}

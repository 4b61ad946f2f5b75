import { must, unreachable } from '../../support/assert.ts';
import { type Allocation, placeInRooms, toBerths } from './allocation.ts';
import { placeBundles } from './bundles.ts';
import { placeGang } from './gangs.ts';
import type { DemandProblem, JudgedPart, Want } from './problem.ts';
import { fitCopies } from './host-list.ts';

/** In which order the groups that admit a part are tried. */
export type GroupOrder = (part: JudgedPart) => readonly number[];

/** The order of rank: soft constraints, then group priority. */
export const byRank: GroupOrder = (part) => part.ranked;

/**
 * Places up to `count` entries of a class: on room that is there or coming, in group order; only
 * when there is none anywhere, on a new slice of the first group that may open one. Returns how many.
 */
export function placeEntries(
  problem: DemandProblem,
  allocation: Allocation,
  want: Want,
  { count, order }: { readonly count: number; readonly order: GroupOrder },
): number {
  // Where nothing was found and nothing has been opened since, there is nothing now. Bundles are
  // tried again all the same: with several parts, another order of groups may find a way.
  const { exhausted, openings } = allocation;
  const since = want.form.kind === 'bundles' ? undefined : exhausted.get(want.index);
  if (since !== undefined && firstOpenedSince(allocation, want, since) === Infinity) {
    exhausted.set(want.index, openings.length);
    return 0;
  }
  const placed = placeSome(problem, allocation, want, { count, order });
  if (placed < count) exhausted.set(want.index, openings.length);
  return placed;
}

/** The best rank of a group that admits the class and was opened since; Infinity if none was. */
function firstOpenedSince({ openings }: Allocation, want: Want, since: number): number {
  const { rankOf } = must(want.parts[0], 'a class has a part');
  let first = Infinity;
  for (let n = since; n < openings.length; n++) {
    const rank = rankOf[openings[n] ?? -1] ?? -1;
    if (rank >= 0 && rank < first) first = rank;
  }
  return first;
}

function placeSome(
  problem: DemandProblem,
  allocation: Allocation,
  want: Want,
  { count, order }: { readonly count: number; readonly order: GroupOrder },
): number {
  const { form } = want;
  switch (form.kind) {
    case 'single':
      return placeSingles(problem, allocation, want, { count, order });
    case 'gang':
      return upTo(count, () => placeOneGang(problem, allocation, want, form.taskCount, order));
    case 'bundles':
      return upTo(count, () => placeBundles(problem, allocation, want, order));
    default:
      return unreachable(form);
  }
}

/** Room only shrinks: where one entry of a class found none, the next will not either. */
function upTo(count: number, placeOne: () => boolean): number {
  let placed = 0;
  while (placed < count && placeOne()) placed++;
  return placed;
}

function placeSingles(
  problem: DemandProblem,
  allocation: Allocation,
  want: Want,
  { count, order }: { readonly count: number; readonly order: GroupOrder },
): number {
  const part = must(want.parts[0], 'a single task has one part');
  const groups = order(part);
  const mark = allocation.bookmarks.get(want.index);
  let roomsFrom =
    mark === undefined
      ? 0
      : Math.min(mark.roomsFrom, firstOpenedSince(allocation, want, mark.openings));
  let opensFrom = mark?.opensFrom ?? 0;
  let left = count;
  while (left > 0 && roomsFrom < groups.length) {
    left -= placeInRooms(allocation, want, groups[roomsFrom] ?? -1, left);
    if (left > 0) roomsFrom++;
  }
  // No room is left anywhere, so from here on each slice opened is filled before the next.
  while (left > 0 && opensFrom < groups.length) {
    const group = groups[opensFrom] ?? -1;
    left -= openFor(problem, allocation, want, { group, copies: left });
    roomsFrom = Math.min(roomsFrom, opensFrom);
    if (left > 0) opensFrom++;
  }
  const openings = allocation.openings.length;
  if (order === byRank) allocation.bookmarks.set(want.index, { roomsFrom, openings, opensFrom });
  return count - left;
}

/** Opens as many slices of a group as the tasks need and the bounds allow, and fills them. */
function openFor(
  { groups, capacity, needs }: DemandProblem,
  allocation: Allocation,
  want: Want,
  { group, copies }: { readonly group: number; readonly copies: number },
): number {
  const openable = allocation.ledger.budgets.openable(group);
  if (openable === 0) return 0;
  const part = must(want.parts[0], 'a single task has one part');
  const free = must(capacity[group], 'a group index');
  const perHost = fitCopies(free, must(needs[part.index], 'a part index'));
  const perSlice = perHost * must(groups[group], 'a group index').hostsPerSlice;
  allocation.open(group, Math.min(openable, Math.ceil(copies / perSlice) || 1));
  return placeInRooms(allocation, want, group, copies);
}

/** A group that can hold the gang without opening a slice comes before any that must open one. */
function placeOneGang(
  problem: DemandProblem,
  allocation: Allocation,
  want: Want,
  tasks: number,
  order: GroupOrder,
): boolean {
  const part = must(want.parts[0], 'a gang has one part');
  const groups = order(part);
  for (const mayOpen of [false, true]) {
    for (const group of groups) {
      const slicesMax = mayOpen ? allocation.ledger.budgets.openable(group) : 0;
      const taken = placeGang(problem, allocation, { part, tasks }, { group, slicesMax });
      if (taken === null) continue;
      allocation.place(want, 1, toBerths(group, taken));
      return true;
    }
  }
  return false;
}

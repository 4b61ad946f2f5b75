import { must } from '../../support/assert.ts';
import type { Allocation } from './allocation.ts';
import type { DemandProblem, JudgedPart } from './problem.ts';
import { type Taken, fitCopies } from './host-list.ts';

/**
 * Places one gang in one group, all or nothing, and says on what kinds of room; null when it does
 * not fit. `slicesMax` bounds what it may open: 0 means only room that is there or coming.
 *
 * On slices of several hosts a gang takes whole slices, one task to a host, and owns them. On
 * single hosts its tasks are placed one by one like any others.
 */
export function placeGang(
  problem: DemandProblem,
  allocation: Allocation,
  gang: { readonly part: JudgedPart; readonly tasks: number },
  at: { readonly group: number; readonly slicesMax: number },
): readonly Taken[] | null {
  const { hostsPerSlice } = must(problem.groups[at.group], 'a group index');
  let taken: readonly Taken[] | null = null;
  allocation.attempt(() => {
    taken =
      hostsPerSlice > 1
        ? takeSlices(allocation, gang.tasks / hostsPerSlice, hostsPerSlice, at)
        : takeHosts(problem, allocation, gang, at);
    return taken !== null;
  });
  return taken;
}

function takeSlices(
  { ledger, open }: Allocation,
  slices: number,
  hostsPerSlice: number,
  { group, slicesMax }: { readonly group: number; readonly slicesMax: number },
): readonly Taken[] | null {
  const missing = Math.max(0, slices - ledger.rooms.wholeSlices(group));
  if (missing > slicesMax) return null;
  if (missing > 0) open(group, missing);
  return ledger.rooms
    .takeWholeSlices(group, slices)
    .map(({ kind, slices: some }) => ({ kind, count: some * hostsPerSlice }));
}

function takeHosts(
  { capacity, needs }: DemandProblem,
  { ledger, open }: Allocation,
  { part, tasks }: { readonly part: JudgedPart; readonly tasks: number },
  { group, slicesMax }: { readonly group: number; readonly slicesMax: number },
): readonly Taken[] | null {
  const taken = ledger.rooms.take(group, part.index, tasks);
  const left = tasks - taken.reduce((sum, { count }) => sum + count, 0);
  if (left === 0) return taken;
  const perHost = fitCopies(
    must(capacity[group], 'a group index'),
    must(needs[part.index], 'a part index'),
  );
  const slices = perHost === Infinity ? 1 : Math.ceil(left / perHost);
  if (slices > slicesMax) return null;
  open(group, slices);
  return [...taken, ...ledger.rooms.take(group, part.index, left)];
}

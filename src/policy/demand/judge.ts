import type { Exclusion, UnmetCode } from '../../model/reason.ts';
import { must } from '../../support/assert.ts';
import type { Budgets } from './budgets.ts';
import type { DemandProblem, JudgedPart, Ledger } from './problem.ts';
import { fitCopies } from './host-list.ts';
import type { Rooms } from './rooms.ts';

/**
 * The one judge of whether a group can take a part: every rule that stands in the way, in the order
 * of the closed list. The submission gate asks it with the books of an empty fleet, the plan with
 * those of this moment, a suggested change with those after the change; so they cannot disagree.
 */
export function judge(
  part: JudgedPart,
  at: { readonly group: number; readonly slices: number },
  budgets: Budgets,
): readonly Exclusion[] {
  const bounds = budgets.forbids(at.group, at.slices);
  return part.admitted[at.group] === 1 ? bounds : [...part.mismatches(at.group), ...bounds];
}

/** Slices a group must open for `copies` entries of one part, beyond the room it has. */
export function slicesNeeded(
  problem: DemandProblem,
  { rooms }: Pick<Ledger, 'rooms'>,
  part: JudgedPart,
  { group, copies }: { readonly group: number; readonly copies: number },
): number {
  const { hostsPerSlice } = must(problem.groups[group], 'a group index');
  const tasks = copies * (part.gangTasks ?? 1);
  if (part.gangTasks !== null && hostsPerSlice > 1) {
    return Math.max(0, Math.ceil(tasks / hostsPerSlice) - rooms.wholeSlices(group));
  }
  const perHost = fitCopies(
    must(problem.capacity[group], 'a group index'),
    must(problem.needs[part.index], 'a part index'),
  );
  if (perHost === 0) return 1; // it never fits: any number tells the same story
  const left = tasks - countFitting(rooms, part, group, tasks);
  if (perHost === Infinity) return left > 0 ? 1 : 0;
  return Math.ceil(left / (perHost * hostsPerSlice));
}

/** Tasks, of so many, that the group's rooms hold now. */
export function countFitting(rooms: Rooms, part: JudgedPart, group: number, tasks: number): number {
  const mark = rooms.trials.mark();
  const fitting = rooms.take(group, part.index, tasks).reduce((sum, { count }) => sum + count, 0);
  rooms.trials.undo(mark);
  return fitting;
}

/** The code of an entry, from the furthest that any group got before a rule stopped it. */
export function codeOf(firstRules: readonly Exclusion[]): UnmetCode {
  let furthest = 0;
  for (const rule of firstRules) furthest = Math.max(furthest, stageOf(rule));
  return must(codes[furthest], 'one code per stage');
}

/** True for a rule of the moment: the group admits such work, but cannot take it now. */
export const isOfCapacity = (rule: Exclusion): boolean => stageOf(rule) === codes.length - 1;

const codes: readonly UnmetCode[] = [
  'no-matching-group',
  'gang-mismatch',
  'insufficient-resources',
  'no-capacity',
];

function stageOf(rule: Exclusion): number {
  switch (rule.kind) {
    case 'device':
    case 'variant':
    case 'preemptible':
    case 'constraint':
      return 0;
    case 'gang-shape':
      return 1;
    case 'host-too-small':
      return 2;
    default:
      return 3;
  }
}

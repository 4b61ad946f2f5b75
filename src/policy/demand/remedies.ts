import type { Group } from '../../model/group.ts';
import type { GroupName } from '../../model/ids.ts';
import type { Change, Exclusion } from '../../model/reason.ts';
import { must, unreachable } from '../../support/assert.ts';
import { nearestName } from '../../support/nearest.ts';
import { createAllocation } from './allocation.ts';
import { Budgets, wholeTimes } from './budgets.ts';
import { applyToFleet, applyToPart, cure, isOfRequest } from './changes.ts';
import { type Part, findMismatches } from './eligibility.ts';
import { fitCopies } from './host-list.ts';
import { isOfCapacity, judge, slicesNeeded } from './judge.ts';
import { byRank, placeEntries } from './place.ts';
import type { DemandProblem, JudgedPart, Ledger, Want } from './problem.ts';

/** A change, and how many of the waiting entries it admits. */
export interface Remedy {
  readonly change: Change;
  readonly admits: number;
}

/** Entries of a class without a place. */
export interface Waiting {
  /** The part that keeps them waiting. */
  readonly part: JudgedPart;
  readonly count: number;
  /** By group, the rules against the part, where they were told when it was tried; null: judge now. */
  readonly rules: readonly (readonly Exclusion[])[] | null;
  /** Null for a floor, which is no entry. */
  readonly want: Want | null;
}

/** A group with one hurdle, by how easily it is taken. */
interface Candidate {
  readonly index: number;
  readonly rule: Exclusion;
  readonly rank: number;
  /** Of equal rank: what the slices cost, or how much would have to be cut. */
  readonly price: number;
}

/** The first rule against waiting entries in a group, and whether it is the only one. */
export interface Hurdle {
  readonly rule: Exclusion;
  readonly isOnly: boolean;
}

/** What keeps so many of the waiting entries out of a group; null when nothing does. */
function findHurdle(
  problem: DemandProblem,
  ledger: Ledger,
  { part, rules }: Waiting,
  { group, copies }: { readonly group: number; readonly copies: number },
): Hurdle | null {
  if (rules === null && part.admitted[group] !== 1) {
    const rule = part.firstMismatch(group);
    return rule && { rule, isOnly: part.mismatchCount(group) === 1 };
  }
  const slices = rules === null ? slicesToOpen(problem, ledger, part, { group, copies }) : 0;
  const all = rules?.[group] ?? judge(part, { group, slices }, ledger.budgets);
  const rule = all[0];
  return rule === undefined ? null : { rule, isOnly: all.length === 1 };
}

/** By group, what keeps one waiting entry out. */
export const listHurdles = (
  problem: DemandProblem,
  ledger: Ledger,
  waiting: Waiting,
): readonly (Hurdle | null)[] =>
  problem.groups.map((_, group) => findHurdle(problem, ledger, waiting, { group, copies: 1 }));

/** New slices for waiting entries. Room is looked for only by gangs: a task that waits found none. */
function slicesToOpen(
  problem: DemandProblem,
  ledger: Ledger,
  part: JudgedPart,
  { group, copies }: { readonly group: number; readonly copies: number },
): number {
  if (part.admitted[group] !== 1) return 1;
  if (part.gangTasks !== null) {
    return Math.max(1, slicesNeeded(problem, ledger, part, { group, copies }));
  }
  if (copies === 1) return 1;
  const free = must(problem.capacity[group], 'a group index');
  const perHost = fitCopies(free, must(problem.needs[part.index], 'a part index'));
  const { hostsPerSlice } = must(problem.groups[group], 'a group index');
  return Math.max(1, Math.ceil(copies / (perHost * hostsPerSlice)));
}

/** Slices that hold so many entries of a part on hosts of their own; Infinity if none ever does. */
function slicesOfEmptyHosts({ need, gangTasks }: Part, group: Group, copies: number): number {
  const tasks = copies * (gangTasks ?? 1);
  if (gangTasks !== null && group.hostsPerSlice > 1) return Math.ceil(tasks / group.hostsPerSlice);
  const perHost = Object.entries(need).reduce((least, [name, each]) => {
    return each === 0 ? least : Math.min(least, wholeTimes(group.host[name] ?? 0, each));
  }, Infinity);
  return Math.max(1, Math.ceil(tasks / (perHost * group.hostsPerSlice)));
}

/**
 * The smallest single change after which the part is admitted, the plan otherwise unchanged: a
 * misspelt name put right, then a bound raised where that costs least, then waiting, then asking
 * for something else. For all waiting entries if one change can do that, else for one of them.
 * Every change is applied and tried before it is offered. `hurdles` are those for one entry.
 */
export function findRemedy(
  problem: DemandProblem,
  ledger: Ledger,
  waiting: Waiting,
  hurdles: readonly (Hurdle | null)[],
): Remedy | null {
  const { count, rules } = waiting;
  // Rules told when parts were tried together were told for one entry.
  for (const copies of count > 1 && rules === null ? [count, 1] : [1]) {
    const candidates = listCandidates(problem, ledger, waiting, { copies, hurdles });
    for (const { index, rule } of candidates) {
      const group = must(problem.groups[index], 'a group index');
      const change = cure(rule, group);
      if (change === null) continue;
      const trial = { change, index, admits: copies };
      if (isAdmittedAfter(problem, ledger, waiting, trial)) return { change, admits: copies };
    }
  }
  return null;
}

/** The group with the fewest rules against one entry, one that admits it before any other. */
export function findNearest(
  problem: DemandProblem,
  ledger: Ledger,
  { part, rules }: Waiting,
): { readonly group: GroupName; readonly rules: readonly Exclusion[] } | null {
  let nearest: { group: GroupName; rules: readonly Exclusion[] } | null = null;
  let fewest = Infinity;
  const hasHome = part.ranked.length > 0;
  problem.groups.forEach(({ name }, group) => {
    const isAdmitted = part.admitted[group] === 1;
    if (hasHome && !isAdmitted) return;
    // Rules on the request alone are a lower bound that spares judging most groups in full.
    if (!isAdmitted && part.mismatchCount(group) >= fewest) return;
    const slices = slicesToOpen(problem, ledger, part, { group, copies: 1 });
    const all = rules?.[group] ?? judge(part, { group, slices }, ledger.budgets);
    if (all.length >= fewest) return;
    fewest = all.length;
    nearest = { group: name, rules: all };
  });
  return nearest;
}

/** Groups with a single hurdle for so many entries, the easiest first. */
function listCandidates(
  problem: DemandProblem,
  ledger: Ledger,
  waiting: Waiting,
  { copies, hurdles }: { readonly copies: number; readonly hurdles: readonly (Hurdle | null)[] },
): readonly Candidate[] {
  const { part } = waiting;
  const candidates: Candidate[] = [];
  const isTypo = createTypoCheck();
  problem.groups.forEach((group, index) => {
    // More entries meet the same rules and perhaps others: two for one entry are two for all.
    const forOne = hurdles[index];
    if (!forOne?.isOnly || (copies > 1 && !isForOneGroup(forOne.rule, part))) return;
    const isAdmitted = part.admitted[index] === 1;
    const hurdle =
      copies === 1 ? forOne : findHurdle(problem, ledger, waiting, { group: index, copies });
    if (!hurdle?.isOnly) return;
    const { rule } = hurdle;
    const slices = isAdmitted ? slicesToOpen(problem, ledger, part, { group: index, copies }) : 1;
    const price =
      rule.kind === 'host-too-small' ? cutOf(rule) : slices * (group.priceMicroUsdPerHour ?? 0);
    candidates.push({ index, rule, rank: rankOf(rule, isTypo), price });
  });
  return candidates.sort(byEase);
}

/** How much of a request would have to go: the sum of what is short, each as a share of itself. */
const cutOf = ({ shortages }: Extract<Exclusion, { kind: 'host-too-small' }>): number =>
  shortages.reduce((sum, { need, have }) => sum + (need - have) / need, 0);

const byEase = (a: Candidate, b: Candidate): number =>
  a.rank - b.rank || a.price - b.price || a.index - b.index;

/** How hard it is to undo a rule: a typo first, a machine of another kind last. */
function rankOf(rule: Exclusion, isTypo: TypoCheck): number {
  switch (rule.kind) {
    case 'constraint': {
      const { op, values } = rule.constraint;
      return (op === 'eq' || op === 'in') && isTypo(values, rule.have) ? 0 : 3;
    }
    case 'variant':
      return isTypo(rule.need, rule.have) ? 0 : 4;
    case 'device':
      return isTypo([rule.need], rule.have) ? 0 : 8;
    case 'at-max':
    case 'quota-pool':
    case 'spend-cap':
    case 'fleet-max':
      return 1;
    case 'backoff':
    case 'stockout':
    case 'quota-exceeded':
    case 'paused':
    case 'deferred':
    case 'draining-group':
      return 2;
    case 'preemptible':
      return 5;
    case 'gang-shape':
      return 6;
    case 'host-too-small':
      return 7;
    default:
      return unreachable(rule);
  }
}

type TypoCheck = (values: readonly string[], known: string | null) => boolean;

/** Whether one of some values looks like a known name; names come up in many groups. */
function createTypoCheck(): TypoCheck {
  const answers = new Map<string, boolean>();
  return (values, known) => {
    if (known === null) return false;
    const question = `${values.join()} ${known}`;
    let isTypo = answers.get(question);
    if (isTypo === undefined) {
      isTypo = values.some((value) => nearestName(value, [known]) !== null);
      answers.set(question, isTypo);
    }
    return isTypo;
  };
}

/** Applies the change, keeps books on the plan as it then stands, and tries again. */
function isAdmittedAfter(
  problem: DemandProblem,
  { rooms, budgets }: Ledger,
  { part, want }: Waiting,
  {
    change,
    index,
    admits,
  }: { readonly change: Change; readonly index: number; readonly admits: number },
): boolean {
  const hasParts = part.asks.length > 1 || (want !== null && want.parts.length > 1);
  if (isOfRequest(change)) {
    if (budgets.openable(index) === 0) return false;
    // Of several unlike parts, no one knows which the change of a request would mean.
    if (hasParts) return false;
    const group = must(problem.groups[index], 'a group index');
    const changed = applyToPart(part, change);
    if (findMismatches(changed, group).length > 0) return false;
    return budgets.forbids(index, slicesOfEmptyHosts(changed, group, admits)).length === 0;
  }
  // One rule alone kept it out and is moved by just what was missing. Only a min that is short, or
  // parts that must be placed together, can still get in the way.
  if (!hasParts && budgets.isMinKept()) return true;
  const { fleet, conditions } = applyToFleet(problem.snapshot, change);
  const raised = new Budgets({ fleet, conditions, totals: [...budgets.total] });
  if (!hasParts || want === null) {
    const slices = slicesToOpen(problem, { rooms, budgets }, part, {
      group: index,
      copies: admits,
    });
    return raised.forbids(index, slices).length === 0;
  }
  const mark = rooms.trials.mark();
  const allocation = createAllocation(problem, { rooms, budgets: raised });
  const placed = placeEntries(problem, allocation, want, { count: admits, order: byRank });
  rooms.trials.undo(mark);
  return placed === admits;
}

/**
 * True when undoing the rule opens one group alone, so that all waiting entries go there whatever
 * the strategy. Where it opens several, how many it admits hangs on which the strategy takes; a
 * change of the request is judged for one entry.
 */
function isForOneGroup(rule: Exclusion, { ranked }: JudgedPart): boolean {
  if (!isOfCapacity(rule)) return false;
  const isShared = 'owed' in rule;
  return !isShared || ranked.length === 1;
}

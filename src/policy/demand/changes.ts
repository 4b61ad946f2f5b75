import type { Constraint } from '../../model/constraint.ts';
import type { Ask } from '../../model/demand.ts';
import type { Fleet } from '../../model/fleet.ts';
import type { Group } from '../../model/group.ts';
import type { GroupName } from '../../model/ids.ts';
import type { Change, Exclusion } from '../../model/reason.ts';
import type { Resources } from '../../model/resources.ts';
import type { GroupCondition } from '../../model/snapshot.ts';
import { must, unreachable } from '../../support/assert.ts';
import { nearestName } from '../../support/nearest.ts';
import { byFirst, byNumber } from '../../support/order.ts';
import { createAllocation } from './allocation.ts';
import { createBudgets, wholeTimes } from './budgets.ts';
import { type Part, findMismatches } from './eligibility.ts';
import { judge, slicesNeeded } from './judge.ts';
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

interface Candidate extends Remedy {
  readonly index: number;
  readonly slices: number;
  readonly rank: number;
  readonly price: number;
}

/** By group, every rule against so many of the waiting entries. */
export function rulesAgainst(
  problem: DemandProblem,
  ledger: Ledger,
  { part, rules }: Waiting,
  copies: number,
): readonly (readonly Exclusion[])[] {
  if (rules !== null) return rules;
  return problem.groups.map((group, index) => {
    const slices = slicesToOpen(problem, ledger, part, { group: index, copies });
    return judge(part, { group, index, slices }, ledger.budgets);
  });
}

function slicesToOpen(
  problem: DemandProblem,
  ledger: Ledger,
  part: JudgedPart,
  at: { readonly group: number; readonly copies: number },
): number {
  return part.admitted[at.group] === 1 ? Math.max(1, slicesNeeded(problem, ledger, part, at)) : 1;
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
 * Every change is applied and tried before it is offered.
 */
export function findRemedy(
  problem: DemandProblem,
  ledger: Ledger,
  waiting: Waiting,
): Remedy | null {
  const { part, count } = waiting;
  for (const copies of count > 1 ? [count, 1] : [1]) {
    const rules = rulesAgainst(problem, ledger, waiting, copies);
    const candidates = problem.groups.flatMap((group, index): Candidate[] => {
      // What is wrong with the request comes before bounds, which the changed one may not meet.
      const mismatches = findMismatches(part, group);
      const [rule, second] = mismatches.length > 0 ? mismatches : (rules[index] ?? []);
      if (rule === undefined || second !== undefined) return [];
      const change = cure(rule, group);
      if (change === null || (copies > 1 && !isForOneGroup(change, part))) return [];
      const slices = isOfRequest(change)
        ? slicesOfEmptyHosts(applyToPart(part, change), group, copies)
        : slicesToOpen(problem, ledger, part, { group: index, copies });
      const price = slices * (group.priceMicroUsdPerHour ?? 0);
      return [{ change, admits: copies, index, slices, rank: rankOf(change), price }];
    });
    candidates.sort(byEase);
    const found = candidates.find((one) => isAdmittedAfter(problem, ledger, waiting, one));
    if (found !== undefined) return { change: found.change, admits: copies };
  }
  return null;
}

const byEase = byFirst<Candidate>(
  byNumber((candidate) => candidate.rank),
  byNumber((candidate) => candidate.price),
  byNumber((candidate) => candidate.index),
);

/** The edit that undoes one rule; null where there is none. */
function cure(rule: Exclusion, { name: group, device }: Group): Change | null {
  switch (rule.kind) {
    case 'device':
      return { kind: 'ask-device', group, from: rule.need, to: rule.have };
    case 'variant':
      if (device.variant === null) return null;
      return { kind: 'ask-variant', group, from: rule.need, to: device.variant };
    case 'preemptible':
      return { kind: 'ask-preemptible', group, to: rule.have };
    case 'constraint':
      return cureConstraint(rule.constraint, rule.have, group);
    case 'gang-shape': {
      const slices = Math.max(1, Math.round(rule.tasks / rule.hostsPerSlice));
      return { kind: 'ask-tasks', group, from: rule.tasks, to: slices * rule.hostsPerSlice };
    }
    case 'host-too-small':
      return { kind: 'ask-less', group, shortages: rule.shortages };
    case 'at-max':
      return { kind: 'raise-max', group, from: rule.max, to: rule.max + rule.need - rule.have };
    case 'quota-pool': {
      const { pool, resource, max: from } = rule;
      return { kind: 'raise-quota', pool, resource, from, to: from + rule.need - rule.have };
    }
    case 'spend-cap':
      return { kind: 'raise-spend-cap', from: rule.max, to: rule.max + rule.need - rule.have };
    case 'fleet-max':
      return { kind: 'raise-fleet-max', from: rule.max, to: rule.max + rule.need - rule.have };
    case 'backoff':
    case 'stockout':
    case 'quota-exceeded':
    case 'paused':
      return { kind: 'end-condition', group, condition: rule.kind, untilMs: rule.untilMs };
    case 'draining-group':
      return { kind: 'end-condition', group, condition: 'draining', untilMs: null };
    case 'deferred':
      return null; // the next tick looks again by itself
    default:
      return unreachable(rule);
  }
}

function cureConstraint(constraint: Constraint, have: string | null, group: GroupName): Change {
  const { op, values } = constraint;
  if (have === null || (op !== 'eq' && op !== 'in')) {
    return { kind: 'ask-without', group, constraint };
  }
  return { kind: 'ask-value', group, constraint, to: op === 'eq' ? [have] : [...values, have] };
}

function rankOf(change: Change): number {
  switch (change.kind) {
    case 'ask-value':
      return isTypo(change.constraint.values, change.to.at(-1)) ? 0 : 3;
    case 'ask-variant':
      return isTypo(change.from, change.to) ? 0 : 4;
    case 'ask-device':
      return isTypo([change.from], change.to) ? 0 : 8;
    case 'raise-max':
    case 'raise-quota':
    case 'raise-spend-cap':
    case 'raise-fleet-max':
      return 1;
    case 'end-condition':
      return 2;
    case 'ask-without':
      return 3;
    case 'ask-preemptible':
      return 5;
    case 'ask-tasks':
      return 6;
    case 'ask-less':
      return 7;
    default:
      return unreachable(change);
  }
}

const isTypo = (values: readonly string[], known: string | undefined): boolean =>
  known !== undefined && values.some((value) => nearestName(value, [known]) !== null);

/** Applies the change, keeps books on the plan as it then stands, and tries again. */
function isAdmittedAfter(
  problem: DemandProblem,
  { rooms, budgets: { total } }: Ledger,
  { part, want }: Waiting,
  { change, index, slices, admits }: Candidate,
): boolean {
  const { fleet, conditions } = applyToFleet(problem.snapshot, change);
  const budgets = createBudgets({ fleet, conditions, totals: [...total] });
  if (want === null || isOfRequest(change)) {
    // Of several unlike parts, no one knows which the change of a request would mean.
    if (part.asks.length > 1 || (want !== null && want.parts.length > 1)) return false;
    const group = must(fleet.groups[index], 'changes keep the groups');
    return judge(applyToPart(part, change), { group, index, slices }, budgets).length === 0;
  }
  const mark = rooms.mark();
  const allocation = createAllocation(problem, { rooms, budgets });
  const placed = placeEntries(problem, allocation, want, { count: admits, order: byRank });
  rooms.undo(mark);
  return placed === admits;
}

/**
 * True when the change opens one group alone, so that all waiting entries go there whatever the
 * strategy. Where it opens several, how many it admits hangs on which of them the strategy takes.
 */
function isForOneGroup(change: Change, { ranked }: JudgedPart): boolean {
  if (change.kind === 'raise-max' || change.kind === 'end-condition') return true;
  return !isOfRequest(change) && ranked.length === 1;
}

const isOfRequest = ({ kind }: Change): boolean => kind.startsWith('ask-');

interface Surroundings {
  readonly fleet: Fleet;
  readonly conditions: readonly GroupCondition[];
}

/** The configuration and the state of its groups with a change made; others are left as they are. */
export function applyToFleet({ fleet, conditions }: Surroundings, change: Change): Surroundings {
  switch (change.kind) {
    case 'raise-max': {
      const groups = fleet.groups.map((group) =>
        group.name === change.group ? { ...group, max: change.to } : group,
      );
      return { fleet: { ...fleet, groups }, conditions };
    }
    case 'raise-quota': {
      const quotaPools = fleet.quotaPools.map((pool) =>
        pool.name === change.pool
          ? { ...pool, limits: { ...pool.limits, [change.resource]: change.to } }
          : pool,
      );
      return { fleet: { ...fleet, quotaPools }, conditions };
    }
    case 'raise-spend-cap': {
      const limits = { ...fleet.limits, spendMaxMicroUsdPerHour: change.to };
      return { fleet: { ...fleet, limits }, conditions };
    }
    case 'raise-fleet-max': {
      const limits = { ...fleet.limits, slicesMax: change.to };
      return { fleet: { ...fleet, limits }, conditions };
    }
    case 'end-condition':
      return { fleet, conditions: conditions.filter(({ group }) => group !== change.group) };
    default:
      return { fleet, conditions };
  }
}

/** The request with a change made to it; others leave it as it is. */
export function applyToPart(part: Part, change: Change): Part {
  const asks = part.asks.map((ask) => applyToAsk(ask, change));
  if (change.kind === 'ask-tasks') return { ...part, gangTasks: change.to };
  if (change.kind === 'ask-less') return { ...part, asks, need: lessen(part.need, change) };
  return { ...part, asks };
}

export function applyToAsk(ask: Ask, change: Change): Ask {
  const swap = (to: (constraint: Constraint) => readonly Constraint[]): Ask => {
    if (change.kind !== 'ask-value' && change.kind !== 'ask-without') return ask;
    const isIt = (one: Constraint): boolean =>
      JSON.stringify(one) === JSON.stringify(change.constraint);
    return { ...ask, constraints: ask.constraints.flatMap((one) => (isIt(one) ? to(one) : [one])) };
  };
  switch (change.kind) {
    case 'ask-value':
      return swap((constraint) => [{ ...constraint, values: change.to }]);
    case 'ask-without':
      return swap(() => []);
    case 'ask-device':
      return { ...ask, device: ask.device && { type: change.to, variants: null } };
    case 'ask-variant':
      return { ...ask, device: ask.device && { ...ask.device, variants: [change.to] } };
    case 'ask-preemptible':
      return { ...ask, preemptible: change.to };
    case 'ask-less':
      return { ...ask, resources: lessen(ask.resources, change) };
    default:
      return ask;
  }
}

function lessen(need: Resources, { shortages }: Extract<Change, { kind: 'ask-less' }>): Resources {
  const lower = Object.fromEntries(shortages.map(({ resource, have }) => [resource, have]));
  return { ...need, ...lower };
}

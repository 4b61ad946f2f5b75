import type { Constraint } from '../../model/constraint.ts';
import type { Ask } from '../../model/demand.ts';
import type { Fleet } from '../../model/fleet.ts';
import type { Group } from '../../model/group.ts';
import type { GroupName } from '../../model/ids.ts';
import type { Bound, Change, Exclusion } from '../../model/reason.ts';
import type { Resources } from '../../model/resources.ts';
import type { GroupCondition } from '../../model/snapshot.ts';
import { unreachable } from '../../support/assert.ts';
import type { Part } from './eligibility.ts';

/** The edit that undoes one rule; null where there is none. */
export function cure(rule: Exclusion, { name: group, device }: Group): Change | null {
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
      return { kind: 'raise-quota', pool, resource, from, to: raised(rule) };
    }
    case 'spend-cap':
      return { kind: 'raise-spend-cap', from: rule.max, to: raised(rule) };
    case 'fleet-max':
      return { kind: 'raise-fleet-max', from: rule.max, to: raised(rule) };
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

/** A shared bound raised by what is missing, and by what others would take of that first. */
const raised = ({ need, have, max, owed }: Extract<Bound, { owed: number }>): number =>
  max + need - have + owed;

function cureConstraint(constraint: Constraint, have: string | null, group: GroupName): Change {
  const { op, values } = constraint;
  if (have === null || (op !== 'eq' && op !== 'in')) {
    return { kind: 'ask-without', group, constraint };
  }
  return { kind: 'ask-value', group, constraint, to: op === 'eq' ? [have] : [...values, have] };
}

/** True for a change of the request, false for one of the configuration or of a condition. */
export const isOfRequest = ({ kind }: Change): boolean => kind.startsWith('ask-');

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

import type { Constraint, ConstraintOp } from '../model/constraint.ts';
import type { GroupReport } from '../model/decision.ts';
import type { EpochMs } from '../model/ids.ts';
import type {
  Change,
  Exclusion,
  Hint,
  InvalidDemand,
  PlacedWhy,
  RunnerUp,
  Shortage,
} from '../model/reason.ts';
import { unreachable } from '../support/assert.ts';
import { formatDuration, formatQuantity, formatUsd } from './format.ts';

// The one place where reasons become words: dashboard, CLI and logs all read from here.

/** Why a group cannot take an entry, in a few words with need and have. */
export function exclusionText(rule: Exclusion, atMs: EpochMs): string {
  switch (rule.kind) {
    case 'device':
      return `device: needs ${rule.need}, has ${rule.have}`;
    case 'variant':
      return `variant: needs ${orList(rule.need)}, has ${rule.have ?? 'none'}`;
    case 'preemptible':
      return `needs ${capacityKind(rule.need)} capacity, has ${capacityKind(rule.have)}`;
    case 'constraint':
      return `constraint: ${constraintText(rule.constraint)}, has ${rule.have ?? 'no such attribute'}`;
    case 'gang-shape':
      return `gang shape: ${rule.tasks} tasks do not fill slices of ${rule.hostsPerSlice} hosts`;
    case 'host-too-small':
      return `host too small: ${rule.shortages.map(shortageText).join('; ')}`;
    case 'at-max':
      return `at max: needs ${slices(rule.need)}, ${rule.have} left of ${rule.max}`;
    case 'quota-pool': {
      const show = (value: number): string => formatQuantity(rule.resource, value);
      const left = `${show(rule.have)} left of ${show(rule.max)}`;
      return `quota pool ${rule.pool}: needs ${rule.resource} ${show(rule.need)}, ${left}`;
    }
    case 'spend-cap': {
      const left = `${formatUsd(rule.have)} left of ${formatUsd(rule.max)}`;
      return `spend cap: needs ${formatUsd(rule.need)}/h, ${left}`;
    }
    case 'fleet-max':
      return `fleet max: needs ${slices(rule.need)}, ${rule.have} left of ${rule.max}`;
    case 'backoff':
    case 'stockout':
    case 'quota-exceeded':
    case 'paused':
    case 'deferred':
      return `${conditionWords[rule.kind]}${untilText(rule.untilMs, atMs)}`;
    case 'draining-group':
      return 'group is draining: no new work lands on it';
    default:
      return unreachable(rule);
  }
}

const conditionWords = {
  backoff: 'backing off after failures',
  stockout: 'provider is out of stock',
  'quota-exceeded': 'provider says quota exceeded',
  paused: 'paused',
  deferred: 'deferred by a rate limit',
} as const;

/** What to do, as an order. */
export function changeText(change: Change, atMs: EpochMs): string {
  switch (change.kind) {
    case 'raise-max':
      return `raise max of ${change.group} from ${change.from} to ${change.to}`;
    case 'raise-quota': {
      const show = (value: number): string => formatQuantity(change.resource, value);
      const { pool, resource, from, to } = change;
      return `raise ${resource} of quota pool ${pool} from ${show(from)} to ${show(to)}`;
    }
    case 'raise-spend-cap': {
      return `raise limits.spendPerHour from ${formatUsd(change.from)} to ${formatUsd(change.to)}`;
    }
    case 'raise-fleet-max':
      return `raise limits.maxSlices from ${change.from} to ${change.to}`;
    case 'end-condition':
      return endConditionText(change, atMs);
    case 'ask-value': {
      const { constraint, to, group } = change;
      const [from, wanted] = [orList(constraint.values), orList(to)];
      return `ask for ${constraint.key} ${wanted} instead of ${from} (${group})`;
    }
    case 'ask-without':
      return `drop the constraint ${constraintText(change.constraint)} (${change.group})`;
    case 'ask-device':
      return `ask for device ${change.to} instead of ${change.from} (${change.group})`;
    case 'ask-variant':
      return `ask for variant ${change.to} instead of ${orList(change.from)} (${change.group})`;
    case 'ask-preemptible':
      return `allow ${capacityKind(change.to)} capacity (${change.group})`;
    case 'ask-tasks':
      return `make the gang ${change.to} tasks instead of ${change.from} (${change.group})`;
    case 'ask-less': {
      const less = change.shortages.map(
        ({ resource, need, have }) =>
          `${resource} ${formatQuantity(resource, have)} instead of ${formatQuantity(resource, need)}`,
      );
      return `ask for at most ${less.join(' and ')} (${change.group})`;
    }
    default:
      return unreachable(change);
  }
}

function endConditionText(
  { group, condition, untilMs }: Extract<Change, { kind: 'end-condition' }>,
  atMs: EpochMs,
): string {
  if (condition === 'paused') return `resume ${group}`;
  if (condition === 'draining') return `stop draining ${group}`;
  const wait = untilMs === null ? 'wait' : `wait ${formatDuration(Math.max(0, untilMs - atMs))}`;
  return `${wait}: ${group} is in ${condition} and is tried again after it`;
}

/** What became of a group in a decision, and what it lacks. */
export function groupText(report: GroupReport, atMs: EpochMs): string {
  const words = [groupVerdictText(report, atMs)];
  if (report.shortfall !== null) words.push(shortfallText(report.shortfall, atMs));
  return words.join('; ');
}

/** What it lacks, and the bound that forbids it. */
export function shortfallText(
  { slices: missing, by }: NonNullable<GroupReport['shortfall']>,
  atMs: EpochMs,
): string {
  return `${slices(missing)} short of min or spare: ${exclusionText(by, atMs)}`;
}

/** What became of a group in a decision. */
export function groupVerdictText(
  { verdict, causes }: Pick<GroupReport, 'verdict' | 'causes'>,
  atMs: EpochMs,
): string {
  switch (verdict.kind) {
    case 'selected': {
      const parts = Object.entries(causes).filter(([, count]) => count > 0);
      return `launches for ${parts.map(([cause, count]) => `${cause} ${count}`).join(', ')}`;
    }
    case 'blocked':
      return exclusionText(verdict.by, atMs);
    case 'at-max':
      return `has ${verdict.total} of ${verdict.max} slices`;
    case 'idle':
      return 'nothing needs more of it';
    default:
      return unreachable(verdict);
  }
}

/** A name that looks like another one. */
export function hintText(hint: Hint): string {
  switch (hint.kind) {
    case 'did-you-mean':
      return `no group has ${hint.key} ${hint.value}; did you mean ${hint.known}?`;
    case 'other-key':
      return `${hint.value} is a ${hint.knownKey}, not a ${hint.key}`;
    case 'unknown-key': {
      const meant = hint.known === null ? '' : `; did you mean ${hint.known}?`;
      return `no group has an attribute ${hint.key}${meant}`;
    }
    case 'known-variants':
      return `known ${hint.type} variants: ${hint.variants.join(', ') || 'none'}`;
    default:
      return unreachable(hint);
  }
}

/** What is wrong with the request itself. */
export function invalidText(invalid: InvalidDemand): string {
  switch (invalid.kind) {
    case 'mixed-gang':
      return `tasks of the gang ask for different things: ${invalid.differences
        .map(({ field, values }) => {
          const each = values.map(
            ({ value, taskIds }) => `${fieldText(field, value)} (${someOf(taskIds)})`,
          );
          return `${field} is ${each.join(' and ')}`;
        })
        .join('; ')}`;
    case 'contradictory-constraints':
      return `no value can satisfy ${invalid.constraints.map(constraintText).join(' and ')}`;
    case 'ill-typed-constraint':
      return `constraint ${constraintText(invalid.constraint)} needs ${invalid.expected}`;
    case 'bundles-under-priority':
      return 'bundles need the strategy cost or utilization; priority places single tasks and gangs';
    case 'zero-tasks':
      return 'it has no tasks';
    case 'declared':
      return `its scheduler says: ${invalid.detail}`;
    default:
      return unreachable(invalid);
  }
}

/** Resources are kept in their smallest unit; people read another. */
function fieldText(field: string, value: string): string {
  const [section, name] = field.split('.');
  return section === 'resources' && name !== undefined
    ? formatQuantity(name, Number(value))
    : value;
}

/** Why work went where it went, and what the next best place would have cost. */
export function placedText(why: PlacedWhy, runnerUp: RunnerUp | null): string {
  const share = runnerUp?.shareMicroUsdPerHour ?? null;
  const price = share === null ? '' : ` at ${formatShare(share)}`;
  const other =
    runnerUp === null ? 'no other group would do now' : `next ${runnerUp.group}${price}`;
  switch (why.kind) {
    case 'room-there':
      return `nothing to pay; ${other}`;
    case 'first-by-rank':
      return `first by rank (priority ${why.priority}); ${other}`;
    case 'best-utilization':
      return `best utilization; ${other}`;
    case 'fills-up':
      return `fills up slices opened for other work; ${other}`;
    case 'whole-slices': {
      const cost = `${formatUsd(why.costMicroUsdPerHour)}/h`;
      return `cheapest in whole slices, ${cost} for all of it; ${other}`;
    }
    case 'least-cost':
      return `least cost, ${formatShare(why.shareMicroUsdPerHour)} each; ${other}`;
    default:
      return unreachable(why);
  }
}

export function constraintText({ key, op, values, soft }: Constraint): string {
  const words = `${key} ${opWords[op]}${values.length > 0 ? ` ${orList(values)}` : ''}`;
  return soft ? `${words} (soft)` : words;
}

const opWords: Readonly<Record<ConstraintOp, string>> = {
  eq: '=',
  ne: '!=',
  in: 'in',
  'not-in': 'not in',
  exists: 'must exist',
  'not-exists': 'must not exist',
  gt: '>',
  ge: '>=',
  lt: '<',
  le: '<=',
};

const shortageText = ({ resource, need, have }: Shortage): string =>
  `needs ${resource} ${formatQuantity(resource, need)}, has ${formatQuantity(resource, have)}`;

const capacityKind = (preemptible: boolean): string => (preemptible ? 'preemptible' : 'on-demand');

const slices = (count: number): string => `${count} ${count === 1 ? 'slice' : 'slices'}`;

/** Shares are small: three decimals tell $0.004 from nothing. */
const formatShare = (microUsd: number): string => `$${(microUsd / 1_000_000).toFixed(3)}/h`;

const orList = (names: readonly string[]): string => names.join(' or ');

/** Names that fit on a line. */
const NAMES_SHOWN = 4;

const someOf = (names: readonly string[]): string =>
  names.length <= NAMES_SHOWN
    ? names.join(', ')
    : `${names.slice(0, NAMES_SHOWN).join(', ')} and ${names.length - NAMES_SHOWN} more`;

function untilText(untilMs: EpochMs | null, atMs: EpochMs): string {
  return untilMs === null ? '' : ` for ${formatDuration(Math.max(0, untilMs - atMs))} more`;
}

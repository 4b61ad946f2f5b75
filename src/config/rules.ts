import { formatDuration } from '../api/format.ts';
import { nearestName } from '../support/nearest.ts';
import { builtInProviders } from './backend-schema.ts';
import { finding, unknownName } from './finding.ts';
import { findMinAboveBounds } from './min-rules.ts';
import { describeValue, type Finding } from './problem.ts';
import type { Placed, RuleInput } from './salvage.ts';

type Rule = (input: RuleInput) => readonly Finding[];

/** The rules of bellows.yaml that look at more than one field, in the order of reporting. */
export function findBrokenRules(input: RuleInput): readonly Finding[] {
  return rules.flatMap((rule) => rule(input));
}

const rules: readonly Rule[] = [
  findDuplicates,
  findEmptyHosts,
  findCrossedBounds,
  findUnknownProviders,
  findUnknownQuotaPools,
  findUnknownGroups,
  findMissingPrices,
  findIdleQuotas,
  findMinAboveBounds,
  findSlowEvaluation,
  findUnclearTargets,
  findEmptyCalendarEntries,
  findCalendarsAboveMax,
];

function findDuplicates(input: RuleInput): readonly Finding[] {
  const { groups, pools, services, calendars } = input;
  const lists: readonly (readonly Placed<{ readonly name: string }>[])[] = [
    groups,
    pools,
    services,
    calendars,
    ...services.map(({ path, item }) =>
      item.targets.map((target, index) => ({ path: [...path, 'targets', index], item: target })),
    ),
  ];
  return lists.flatMap((list) => {
    const seen = new Set<string>();
    return list.flatMap(({ path, item }) => {
      if (!seen.has(item.name)) {
        seen.add(item.name);
        return [];
      }
      const message = `the name ${describeValue(item.name)} is taken already`;
      return [finding([...path, 'name'], item.name, message, 'give each its own name')];
    });
  });
}

function findEmptyHosts({ groups, isFaulty }: RuleInput): readonly Finding[] {
  return groups
    .filter(({ path, item }) => {
      const isEmpty = Object.values(item.host).every((quantity) => quantity === 0);
      return isEmpty && !isFaulty([...path, 'host']);
    })
    .map(({ path, item }) => {
      const message = 'the host offers no resources, so nothing could run there';
      return finding([...path, 'host'], item.host, message, 'list them: { cpu: 8, memory: 32GiB }');
    });
}

function findCrossedBounds(input: RuleInput): readonly Finding[] {
  const bounded: readonly Placed<{ readonly min: number; readonly max: number }>[] = [
    ...input.groups,
    ...input.pools,
    ...input.services.flatMap(({ path, item }) =>
      item.targets.map((target, index) => ({ path: [...path, 'targets', index], item: target })),
    ),
  ];
  return bounded
    .filter(({ item }) => item.min > item.max)
    .map(({ path, item: { min, max } }) => {
      const message = `${max} is below min ${min}`;
      return finding([...path, 'max'], max, message, 'raise max or lower min');
    });
}

function findUnknownProviders({ groups, names }: RuleInput): readonly Finding[] {
  const known = [...new Set([...names.providers, ...builtInProviders])];
  return groups
    .filter(({ item }) => !known.includes(item.provider))
    .map(({ path, item }) => {
      return unknownName([...path, 'provider'], 'provider', item.provider, known, 'providers');
    });
}

function findUnknownQuotaPools({ groups, names }: RuleInput): readonly Finding[] {
  return groups.flatMap(({ path, item: { quotaPool } }) => {
    if (quotaPool === undefined || names.quotaPools.includes(quotaPool)) return [];
    const at = [...path, 'quotaPool'];
    return [unknownName(at, 'quota pool', quotaPool, names.quotaPools, 'quotaPools')];
  });
}

function findUnknownGroups(input: RuleInput): readonly Finding[] {
  const { pools, services, calendars, names } = input;
  const references: readonly Placed<string | undefined>[] = [
    ...pools.map(({ path, item }) => ({ path: [...path, 'group'], item: item.group })),
    ...services.flatMap(({ path, item }) =>
      item.targets.map((target, index) => {
        return { path: [...path, 'targets', index, 'group'], item: target.group };
      }),
    ),
    ...calendars.flatMap(({ path, item }) =>
      item.entries.map((entry, index) => {
        return { path: [...path, 'entries', index, 'group'], item: entry.group };
      }),
    ),
  ];
  return references.flatMap(({ path, item }) => {
    if (item === undefined || names.groups.includes(item)) return [];
    return [unknownName(path, 'group', item, names.groups, 'groups')];
  });
}

function findMissingPrices({ settings, groups, isFaulty }: RuleInput): readonly Finding[] {
  if (settings.strategy !== 'cost' || isFaulty(['strategy'])) return [];
  return groups
    .filter(({ path, item }) => {
      return item.pricePerHour === undefined && !isFaulty([...path, 'pricePerHour']);
    })
    .map(({ path, item }) => {
      const message = `group ${item.name} has no price, which strategy cost needs`;
      const remedy = 'add pricePerHour in dollars per slice; 0 for what is paid for anyway';
      return finding([...path, 'pricePerHour'], undefined, message, remedy);
    });
}

function findIdleQuotas({ settings, groups, hasAllGroups }: RuleInput): readonly Finding[] {
  if (!hasAllGroups) return [];
  return Object.entries(settings.quotaPools).flatMap(([pool, limits]) => {
    const members = groups.filter(({ item }) => item.quotaPool === pool);
    if (members.length === 0) return [];
    const offered = [...new Set(members.flatMap(({ item }) => Object.keys(item.host)))];
    return Object.keys(limits)
      .filter((resource) => !offered.includes(resource))
      .map((resource): Finding => {
        const near = nearestName(resource, offered);
        return {
          path: ['quotaPools', pool, resource],
          at: 'key',
          value: resource,
          message: `no group of this quota pool has the resource ${describeValue(resource)}`,
          remedy: near === null ? `they have ${offered.join(', ')}` : `did you mean ${near}?`,
        };
      });
  });
}

function findSlowEvaluation({ settings, isFaulty }: RuleInput): readonly Finding[] {
  const { evaluationInterval, reconcileInterval } = settings.loop;
  const isFine = evaluationInterval <= reconcileInterval;
  const path = ['loop', 'evaluationInterval'];
  if (isFine || isFaulty(path) || isFaulty(['loop', 'reconcileInterval'])) return [];
  const seen = formatDuration(evaluationInterval);
  const message = `${seen} is above reconcileInterval ${formatDuration(reconcileInterval)}`;
  return [finding(path, seen, message, 'lower it or raise reconcileInterval')];
}

function findUnclearTargets({ services }: RuleInput): readonly Finding[] {
  return services.flatMap(({ path, item }) =>
    item.targets.flatMap((target, index) => {
      if ((target.group === undefined) !== (target.deployment === undefined)) return [];
      const message = `target ${target.name} needs either a group or a deployment`;
      return [finding([...path, 'targets', index], target.name, message, 'give one of the two')];
    }),
  );
}

function findEmptyCalendarEntries({ calendars }: RuleInput): readonly Finding[] {
  return calendars.flatMap(({ path, item }) =>
    item.entries.flatMap((entry, index) => {
      if (entry.min !== undefined || entry.spare !== undefined) return [];
      const message = 'the entry changes nothing';
      return [finding([...path, 'entries', index], undefined, message, 'give min, spare or both')];
    }),
  );
}

/** A spare above max is fine, as it is for a group: it holds as far as max allows. */
function findCalendarsAboveMax({ groups, calendars }: RuleInput): readonly Finding[] {
  const maxOf = new Map(groups.map(({ item }) => [item.name, item.max]));
  return calendars.flatMap(({ path, item }) =>
    item.entries.flatMap(({ group, min }, index) => {
      const max = maxOf.get(group);
      if (min === undefined || max === undefined || min <= max) return [];
      const message = `${min} is above max ${max} of group ${group}`;
      const at = [...path, 'entries', index, 'min'];
      return [finding(at, min, message, 'lower it or raise max')];
    }),
  );
}

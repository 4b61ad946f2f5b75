import type { EpochMs } from '../model/ids.ts';
import type { Exclusion, GroupExclusion, Unmet } from '../model/reason.ts';
import { plural } from './format.ts';
import { exclusionText, hintText, invalidText } from './reason-text.ts';

/** In the order of checking: the later a rule, the closer a group came to taking the work. */
const closeness: Readonly<Record<Exclusion['kind'], number>> = {
  device: 0,
  variant: 1,
  preemptible: 2,
  constraint: 3,
  'gang-shape': 4,
  'host-too-small': 5,
  'at-max': 6,
  'quota-pool': 7,
  'spend-cap': 8,
  'fleet-max': 9,
  backoff: 10,
  stockout: 11,
  'quota-exceeded': 12,
  deferred: 13,
  paused: 14,
  'draining-group': 15,
};

/**
 * Why entries wait, in one sentence: what is wrong with the request, or the group that comes closest
 * and its rule, and how many others are excluded by which. The whole list is `unmet.groups`.
 */
export function unmetText(unmet: Unmet, atMs: EpochMs): string {
  if (unmet.invalid !== null) return invalidText(unmet.invalid);
  const closest = findClosest(unmet);
  if (closest === null) return 'there is no group';
  const rules = closest.rules.map((rule) => exclusionText(rule, atMs)).join('; and ');
  const words = [`closest is ${closest.group}: ${rules}`];
  const others = unmet.groups.filter(({ group }) => group !== closest.group);
  if (others.length > 0) words.push(countsText(others));
  return [...words, ...unmet.hints.map(hintText)].join('; ');
}

/** The group that the remedy is about, or the one with the fewest rules in the way, or the last rule. */
function findClosest({ change, nearest, groups }: Unmet): Unmet['nearest'] {
  if (nearest !== null) return nearest;
  const changed = change !== null && 'group' in change ? change.group : null;
  let best: GroupExclusion | null = null;
  for (const each of groups) {
    if (each.group === changed) return { group: changed, rules: [each.exclusion] };
    if (best === null || closeness[each.exclusion.kind] > closeness[best.exclusion.kind]) {
      best = each;
    }
  }
  return best === null ? null : { group: best.group, rules: [best.exclusion] };
}

/** `12 other groups: device 9, at-max 3`, in the order of checking. */
function countsText(others: readonly GroupExclusion[]): string {
  const counts = new Map<Exclusion['kind'], number>();
  for (const { exclusion } of others) {
    counts.set(exclusion.kind, (counts.get(exclusion.kind) ?? 0) + 1);
  }
  const kinds = [...counts].sort(([a], [b]) => closeness[a] - closeness[b]);
  const words = kinds.map(([kind, count]) => `${kind} ${count}`).join(', ');
  return `${plural(others.length, 'other group')}: ${words}`;
}

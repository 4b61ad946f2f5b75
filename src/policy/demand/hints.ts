import type { Constraint } from '../../model/constraint.ts';
import type { Ask } from '../../model/demand.ts';
import type { Group } from '../../model/group.ts';
import type { Hint } from '../../model/reason.ts';
import { nearestName } from '../../support/nearest.ts';
import { byText } from '../../support/order.ts';
import { hasAccelerator, needsDevice, sameText } from './eligibility.ts';

/** Names in a request that no group knows, each with what was probably meant. */
export function findHints(asks: readonly Ask[], groups: readonly Group[]): readonly Hint[] {
  const hints = asks.flatMap((ask) => [
    ...deviceHints(ask, groups),
    ...ask.constraints.flatMap((constraint) => constraintHints(constraint, groups)),
  ]);
  const seen = new Set<string>();
  return hints.filter((hint) => {
    const text = JSON.stringify(hint);
    return !seen.has(text) && seen.add(text) !== undefined;
  });
}

function deviceHints(ask: Ask, groups: readonly Group[]): readonly Hint[] {
  if (!needsDevice(ask) || ask.device === null) return [];
  const { type, variants } = ask.device;
  const types = distinct(groups.filter(hasAccelerator).map((group) => group.device.type));
  if (!types.some((known) => sameText(known, type))) {
    const known = nearestName(type, types);
    return known === null ? [] : [{ kind: 'did-you-mean', key: 'device.type', value: type, known }];
  }
  const knownVariants = distinct(
    groups.flatMap(({ device }) => (sameText(device.type, type) ? (device.variant ?? []) : [])),
  );
  return (variants ?? []).flatMap((value): Hint[] => {
    if (knownVariants.some((known) => sameText(known, value))) return [];
    const known = nearestName(value, knownVariants);
    if (known !== null) return [{ kind: 'did-you-mean', key: 'device.variant', value, known }];
    return [{ kind: 'known-variants', type, variants: knownVariants.slice(0, VARIANTS_SHOWN) }];
  });
}

/** Enough to choose from, short enough to read. */
const VARIANTS_SHOWN = 8;

function constraintHints(
  { key, op, values }: Constraint,
  groups: readonly Group[],
): readonly Hint[] {
  if (op !== 'eq' && op !== 'in') return [];
  const keys = distinct(groups.flatMap((group) => Object.keys(group.attributes)));
  if (!keys.includes(key)) {
    return [{ kind: 'unknown-key', key, known: nearestName(key, keys) }];
  }
  return values.flatMap((value): Hint[] => {
    const known = valuesOf(key, groups);
    if (known.some((name) => sameText(name, value))) return [];
    const knownKey = keys.find((other) =>
      valuesOf(other, groups).some((name) => sameText(name, value)),
    );
    if (knownKey !== undefined) return [{ kind: 'other-key', key, value, knownKey }];
    const nearest = nearestName(value, known);
    return nearest === null ? [] : [{ kind: 'did-you-mean', key, value, known: nearest }];
  });
}

const valuesOf = (key: string, groups: readonly Group[]): readonly string[] =>
  distinct(groups.flatMap((group) => group.attributes[key] ?? []));

const distinct = (names: readonly string[]): readonly string[] => [...new Set(names)].sort(byText);

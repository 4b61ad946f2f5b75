import type { Constraint } from '../../model/constraint.ts';
import type { Ask, EntryForm } from '../../model/demand.ts';
import type { Group } from '../../model/group.ts';
import type { Exclusion, Shortage } from '../../model/reason.ts';
import { addResources, firstShortage, type Resources } from '../../model/resources.ts';
import { must, unreachable } from '../../support/assert.ts';
import { byText } from '../../support/order.ts';
import { isNumeric } from './validity.ts';

/**
 * What one host must satisfy to take a part of an entry: every ask that shares the host, and their
 * resources together. A single task and a gang have one part; bundles have one each, but for
 * STRICT_PACK, which is one part with all asks.
 */
export interface Part {
  readonly asks: readonly Ask[];
  readonly need: Resources;
  /** Tasks of a gang, which must fill whole slices; null for everything else. */
  readonly gangTasks: number | null;
}

export function partsOf(form: EntryForm): readonly Part[] {
  switch (form.kind) {
    case 'single':
      return [{ asks: [form.ask], need: form.ask.resources, gangTasks: null }];
    case 'gang':
      return [{ asks: [form.ask], need: form.ask.resources, gangTasks: form.taskCount }];
    case 'bundles':
      if (form.strategy === 'STRICT_PACK') {
        const need = form.bundles.map((ask) => ask.resources).reduce(addResources, {});
        return [{ asks: form.bundles, need, gangTasks: null }];
      }
      return form.bundles.map((ask) => ({ asks: [ask], need: ask.resources, gangTasks: null }));
    default:
      return unreachable(form);
  }
}

/** A gang on slices of several hosts fills whole slices; null when it can. */
export function findShapeMismatch({ gangTasks: tasks }: Part, group: Group): Exclusion | null {
  const { hostsPerSlice } = group;
  const isWhole = tasks === null || hostsPerSlice === 1 || tasks % hostsPerSlice === 0;
  return isWhole ? null : { kind: 'gang-shape', tasks, hostsPerSlice };
}

/** An empty host holds the part; null when it does. */
export function findSizeMismatch({ need }: Part, group: Group): Exclusion | null {
  if (firstShortage(need, group.host) === null) return null;
  return { kind: 'host-too-small', shortages: findShortages(need, group.host) };
}

/** The rules of a part that hold whatever the state of the fleet, in the order of the closed list. */
export function findMismatches(part: Part, group: Group): readonly Exclusion[] {
  const ofAsks = part.asks.map((ask) => findAskMismatches(ask, group));
  return joinMismatches(ofAsks, [findShapeMismatch(part, group), findSizeMismatch(part, group)]);
}

/** Rules against asks and those against the whole part, in one list. */
export function joinMismatches(
  ofAsks: readonly (readonly Exclusion[])[],
  ofPart: readonly (Exclusion | null)[],
): readonly Exclusion[] {
  const [only] = ofAsks;
  const isOfAsks = ofPart.every((rule) => rule === null);
  if (isOfAsks && only !== undefined && ofAsks.length === 1) return only;
  return [...ofAsks.flat(), ...ofPart.filter((rule) => rule !== null)];
}

/** True when `findAskMismatches` would find none. */
export function isAskAdmitted(ask: Ask, group: Group): boolean {
  if (!isDeviceType(ask, group) || !isVariant(ask, group) || !isCapacityKind(ask, group))
    return false;
  for (const constraint of ask.constraints) {
    if (!constraint.soft && !satisfies(constraint, group)) return false;
  }
  return true;
}

/** Rules on device, variant, kind of capacity and attributes that an ask breaks in a group. */
export function findAskMismatches(ask: Ask, group: Group): readonly Exclusion[] {
  const rules: Exclusion[] = [];
  const { device, preemptible } = ask;
  if (device !== null && !isDeviceType(ask, group)) {
    rules.push({ kind: 'device', need: device.type, have: group.device.type });
  } else if (device !== null && !isVariant(ask, group)) {
    rules.push({ kind: 'variant', need: device.variants ?? [], have: group.device.variant });
  }
  if (preemptible !== null && !isCapacityKind(ask, group)) {
    rules.push({ kind: 'preemptible', need: preemptible, have: group.preemptible });
  }
  for (const constraint of ask.constraints) {
    if (constraint.soft || satisfies(constraint, group)) continue;
    rules.push({ kind: 'constraint', constraint, have: group.attributes[constraint.key] ?? null });
  }
  return rules;
}

const isDeviceType = (ask: Ask, group: Group): boolean =>
  !needsDevice(ask) || (ask.device !== null && sameText(ask.device.type, group.device.type));

function isVariant(ask: Ask, group: Group): boolean {
  if (!needsDevice(ask) || ask.device === null || ask.device.variants === null) return true;
  const { variant } = group.device;
  return variant !== null && ask.device.variants.some((name) => sameText(name, variant));
}

const isCapacityKind = (ask: Ask, group: Group): boolean =>
  ask.preemptible === null || ask.preemptible === group.preemptible;

/** Soft constraints of an ask that the group satisfies: more is better. */
export function countSatisfied(ask: Ask, group: Group): number {
  let count = 0;
  for (const constraint of ask.constraints) {
    if (constraint.soft && satisfies(constraint, group)) count++;
  }
  return count;
}

/** True when the ask names an accelerator; `cpu` is the lack of one. */
export const needsDevice = (ask: Ask): boolean =>
  ask.device !== null && !sameText(ask.device.type, 'cpu');

/** True when the group carries an accelerator that work without one would waste. */
export const hasAccelerator = (group: Group): boolean => !sameText(group.device.type, 'cpu');

/** A missing attribute satisfies not-exists and nothing else. */
export function satisfies({ key, op, values }: Constraint, group: Group): boolean {
  const have = group.attributes[key];
  if (have === undefined) return op === 'not-exists';
  switch (op) {
    case 'exists':
      return true;
    case 'not-exists':
      return false;
    case 'eq':
    case 'in':
      return values.some((value) => sameText(value, have));
    case 'ne':
    case 'not-in':
      return !values.some((value) => sameText(value, have));
    case 'gt':
    case 'ge':
    case 'lt':
    case 'le':
      return compareNumbers(op, have, must(values[0], 'ordered constraints carry one value'));
    default:
      return unreachable(op);
  }
}

function compareNumbers(op: 'gt' | 'ge' | 'lt' | 'le', have: string, want: string): boolean {
  if (!isNumeric(have) || !isNumeric(want)) return false;
  const difference = Number(have) - Number(want);
  switch (op) {
    case 'gt':
      return difference > 0;
    case 'ge':
      return difference >= 0;
    case 'lt':
      return difference < 0;
    case 'le':
      return difference <= 0;
    default:
      return unreachable(op);
  }
}

/** Names are compared as people mean them: H100 is h100. */
export const sameText = (a: string, b: string): boolean =>
  a === b || (a.length === b.length && a.toLowerCase() === b.toLowerCase());

function findShortages(need: Resources, have: Resources): readonly Shortage[] {
  return Object.keys(need)
    .filter((name) => (need[name] ?? 0) > (have[name] ?? 0))
    .sort(byText)
    .map((resource) => ({ resource, need: need[resource] ?? 0, have: have[resource] ?? 0 }));
}

import { byText } from '../../../support/order.ts';
import { unreachable } from '../../../support/assert.ts';
import type { LabelCondition, Labels, Selector } from './problem.ts';

/** Labels as one shared object per distinct set, so that equal sets are equal by identity. */
export interface LabelSet {
  readonly id: number;
  readonly labels: Labels;
  /** Answers of `preference`, by id of the alternatives. Filled as they are asked for. */
  readonly known: number[];
}

/** Alternatives of a request, shared likewise. At least one. */
export interface Alternatives {
  readonly id: number;
  readonly selectors: readonly Selector[];
}

/** Hands out the shared objects; lives as long as one planning pass. */
export interface LabelRegistry {
  readonly sets: Map<string, LabelSet>;
  readonly alternatives: Map<string, Alternatives>;
}

export const openLabelRegistry = (): LabelRegistry => ({
  sets: new Map(),
  alternatives: new Map(),
});

export function labelSet(registry: LabelRegistry, labels: Labels): LabelSet {
  const entries = Object.entries(labels).sort((a, b) => byText(a[0], b[0]));
  const key = JSON.stringify(entries);
  let set = registry.sets.get(key);
  if (set === undefined) {
    set = { id: registry.sets.size, labels, known: [] };
    registry.sets.set(key, set);
  }
  return set;
}

/** Null for a request that may go anywhere. */
export function alternativesOf(
  registry: LabelRegistry,
  selectors: readonly Selector[],
): Alternatives | null {
  if (selectors.length === 0) return null;
  const key = JSON.stringify(
    selectors.map((selector) => selector.map(({ key, op, values }) => [key, op, values])),
  );
  let alternatives = registry.alternatives.get(key);
  if (alternatives === undefined) {
    alternatives = { id: registry.alternatives.size, selectors };
    registry.alternatives.set(key, alternatives);
  }
  return alternatives;
}

/** n for the first of n alternatives, n - 1 for the second and so on; 0 when none holds. */
export function preference(alternatives: Alternatives, set: LabelSet): number {
  const known = set.known[alternatives.id];
  if (known !== undefined) return known;
  const { selectors } = alternatives;
  const first = selectors.findIndex((selector) => selector.every((one) => holds(one, set.labels)));
  const answer = first < 0 ? 0 : selectors.length - first;
  set.known[alternatives.id] = answer;
  return answer;
}

function holds(condition: LabelCondition, labels: Labels): boolean {
  const value = labels[condition.key];
  const isListed = value !== undefined && condition.values.includes(value);
  switch (condition.op) {
    case 'in':
      return isListed;
    case 'notIn':
      return !isListed;
    default:
      return unreachable(condition.op);
  }
}

/** The label that keeps a second bundle of a STRICT_SPREAD gang off a node. */
export const spreadMark = (gangId: string): string => `_PG_${gangId}`;

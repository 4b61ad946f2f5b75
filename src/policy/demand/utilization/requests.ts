import { type Compare, byFirst, byNumber, byText } from '../../../support/order.ts';
import type { CandidateRegistry } from './candidates.ts';
import { type Alternatives, alternativesOf } from './labels.ts';
import type { Request } from './problem.ts';

/** `count` equal requests next to each other in packing order, ready for arithmetic. */
export interface Line {
  /** By column. */
  readonly needs: Float64Array;
  /** Where `needs` is not zero. */
  readonly columns: readonly number[];
  /** GPU is among the resources named, be it with a zero: enough for the GPU guard. */
  readonly isGpuNamed: boolean;
  readonly alternatives: Alternatives | null;
  readonly count: number;
  /** What the line stands for, in the terms of the phase that asks. */
  readonly source: number;
}

interface Ordered<T> {
  readonly item: T;
  readonly conditionCount: number;
  readonly sum: number;
  readonly entries: readonly (readonly [string, number])[];
}

/**
 * Hardest first: descending by label conditions in the first selector, resource kinds named, sum of
 * quantities (across units, so bytes of memory drown the rest), then names and quantities. Equals
 * keep their order.
 */
export function inPackingOrder<T extends Request>(requests: readonly T[]): readonly T[] {
  const ordered = requests.map((item): Ordered<T> => {
    const entries = Object.entries(item.resources).sort((a, b) => byText(a[0], b[0]));
    const sum = entries.reduce((so, [, quantity]) => so + quantity, 0);
    return { item, conditionCount: item.selectors[0]?.length ?? 0, sum, entries };
  });
  const ascending = byFirst<Ordered<T>>(
    byNumber((one) => one.conditionCount),
    byNumber((one) => one.entries.length),
    byNumber((one) => one.sum),
    byEntries,
  );
  return ordered.sort((a, b) => ascending(b, a)).map((one) => one.item);
}

/** Both have equally many entries: the term before has told the others apart. */
const byEntries: Compare<Ordered<unknown>> = (a, b) => {
  for (const [i, [name, quantity]] of a.entries.entries()) {
    const [otherName, otherQuantity] = b.entries[i] ?? ['', 0];
    const order = byText(name, otherName) || quantity - otherQuantity;
    if (order !== 0) return order;
  }
  return 0;
};

export function makeLine(
  registry: CandidateRegistry,
  request: Request,
  { count, source }: { readonly count: number; readonly source: number },
): Line {
  const needs = new Float64Array(registry.columns.size);
  const columns: number[] = [];
  for (const [name, quantity] of Object.entries(request.resources)) {
    const column = registry.columns.get(name);
    if (column === undefined || quantity === 0) continue;
    needs[column] = quantity;
    columns.push(column);
  }
  return {
    needs,
    columns,
    isGpuNamed: Object.hasOwn(request.resources, 'GPU'),
    alternatives: alternativesOf(registry.labels, request.selectors),
    count,
    source,
  };
}

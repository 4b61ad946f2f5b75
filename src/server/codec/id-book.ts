import { describeValue } from '../../config/problem.ts';

const indexPattern = /^(?:0|[1-9]\d{0,7})$/;

/**
 * The ids of a push. With a count above 1 an id stands for `id/0`, `id/1` and so on, which must not be
 * ids of others.
 */
export class IdBook {
  readonly #counts = new Map<string, number>();
  /** Of ids that end in a number, by what stands before it: the least number. */
  readonly #leastIndexes = new Map<string, number>();

  /** Why the id cannot be had; null when it can. */
  clash(id: string, count: number): string | null {
    if (this.#counts.has(id)) return `the id ${describeValue(id)} is taken already`;
    const least = count > 1 ? this.#leastIndexes.get(id) : undefined;
    if (least !== undefined && least < count) return oneOf(`${id}/${least}`, id, count);
    const item = splitItem(id);
    const batchCount = item === null ? 1 : (this.#counts.get(item.batch) ?? 1);
    if (item !== null && batchCount > 1 && item.index < batchCount) {
      return oneOf(id, item.batch, batchCount);
    }
    return null;
  }

  add(id: string, count: number): void {
    this.#counts.set(id, count);
    const item = splitItem(id);
    if (item === null) return;
    const least = this.#leastIndexes.get(item.batch) ?? Infinity;
    this.#leastIndexes.set(item.batch, Math.min(least, item.index));
  }
}

const oneOf = (id: string, batch: string, count: number): string =>
  `the id ${describeValue(id)} is one of the ${count} called ${describeValue(batch)}`;

function splitItem(id: string): { readonly batch: string; readonly index: number } | null {
  const slash = id.lastIndexOf('/');
  if (slash < 0) return null;
  const index = id.slice(slash + 1);
  return indexPattern.test(index) ? { batch: id.slice(0, slash), index: Number(index) } : null;
}

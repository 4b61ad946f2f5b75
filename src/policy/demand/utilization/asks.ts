import type { Line } from './requests.ts';

// Indices: `lines` and `left` are indexed by line; `mins` by tree node times width plus column,
// with tree nodes numbered 1 to 2 · size - 1 as in a binary heap (leaf of line i: size + i).

/**
 * What one packing step has to place, and what of it is left. The lines stand in a tree that knows,
 * for each stretch of lines, the least any of them needs of each resource. A stretch that needs
 * more than is free is passed over at once: this is what makes filling a node quick when nearly
 * none of a thousand shapes fits any more.
 */
export interface Asks {
  readonly lines: readonly Line[];
  /** Requests not placed yet, by line; zero past the last line. */
  readonly left: Float64Array;
  /** The sum of `left`. */
  leftCount: number;
  readonly size: number;
  readonly width: number;
  readonly mins: Float64Array;
  /** Set for a STRICT_SPREAD gang: one request per node, and none where the label is. */
  readonly mark: string | null;
}

/** `lines` are in packing order; `width` is the number of columns. */
export function makeAsks(lines: readonly Line[], width: number, mark: string | null): Asks {
  let size = 1;
  while (size < lines.length) size *= 2;
  const left = new Float64Array(size);
  let leftCount = 0;
  const mins = new Float64Array(2 * size * width).fill(Number.POSITIVE_INFINITY);
  for (const [i, line] of lines.entries()) {
    left[i] = line.count;
    leftCount += line.count;
    if (line.count > 0) mins.set(line.needs, (size + i) * width);
  }
  const asks = { lines, left, leftCount, size, width, mins, mark };
  for (let node = size - 1; node >= 1; node--) updateMins(asks, node);
  return asks;
}

/** Takes `count` requests of a line away. */
export function take(asks: Asks, line: number, count: number): void {
  const { left, size, width, mins } = asks;
  left[line]! -= count;
  asks.leftCount -= count;
  if (left[line]! > 0) return;
  const leaf = size + line;
  mins.fill(Number.POSITIVE_INFINITY, leaf * width, (leaf + 1) * width);
  for (let node = leaf >> 1; node >= 1; node >>= 1) updateMins(asks, node);
}

function updateMins({ mins, width }: Asks, node: number): void {
  for (let column = 0; column < width; column++) {
    const a = mins[2 * node * width + column]!;
    const b = mins[(2 * node + 1) * width + column]!;
    mins[node * width + column] = a < b ? a : b;
  }
}

/** The first line from `from` on that has requests left and fits into `free`; -1 if none does. */
export function firstFitting(asks: Asks, free: Float64Array, from: number): number {
  const { left, size, width, mins } = asks;
  if (from >= size) return -1;
  let node = size + from;
  // A left child and its parent begin at the same line, and the parent covers more.
  while (node % 2 === 0) node >>= 1;
  for (;;) {
    if (fits(mins, node * width, free, width)) {
      if (node < size) {
        node *= 2;
        continue;
      }
      // Without columns the tree tells nothing apart, so the count has the last word.
      if (left[node - size]! > 0) return node - size;
    }
    // On to the stretch that begins where this one ends.
    while (node % 2 === 1) node >>= 1;
    if (node === 0) return -1;
    node++;
  }
}

function fits(mins: Float64Array, at: number, free: Float64Array, width: number): boolean {
  for (let column = 0; column < width; column++) {
    if (mins[at + column]! > free[column]!) return false;
  }
  return true;
}

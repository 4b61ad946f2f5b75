import type { Asks } from './asks.ts';
import type { Candidate } from './candidates.ts';
import { preference } from './labels.ts';

// Indices: columns are below the common width of all vectors, and `lines` are indices into the
// lines of the asks.

/** How well a node is used. Compared term by term in this order; larger wins. */
export interface Score {
  /** n - i when the first request with alternatives that hold meets the i-th of n; else 0. */
  readonly preference: number;
  /** 0 for a GPU node whose requests do not name GPU, else 1. */
  readonly gpuOk: number;
  /** Kinds of resources asked for that the node has. */
  readonly kinds: number;
  /** Least and mean `usedWorth` over the scored resources of the node; 0 if there are none. */
  readonly min: number;
  readonly mean: number;
  readonly rank: number;
}

export const noScore: Score = { preference: 0, gpuOk: 0, kinds: 0, min: 0, mean: 0, rank: 0 };

/**
 * What a used quantity is worth: total · ratio³. Not a ratio, although the original calls it one:
 * 33 of 64 used (8.8) is worth more than 2 of 2.
 */
export function usedWorth(total: number, free: number): number {
  return total * ((total - free) / total) ** 3;
}

/** Scores a node for these lines and all it was given before; `free` is what is free after. */
export function scoreOf(
  candidate: Candidate,
  asks: Asks,
  lines: readonly number[],
  free: Float64Array,
): Score {
  const { total, scored, given } = candidate;
  const asked = given.asked.slice();
  let { isGpuNamed } = given;
  let preferred = 0;
  for (const alternatives of given.alternatives) {
    preferred ||= preference(alternatives, candidate.labels);
  }
  for (const at of lines) {
    const line = asks.lines[at]!;
    for (const column of line.columns) asked[column] = 1;
    isGpuNamed ||= line.isGpuNamed;
    if (line.alternatives !== null) preferred ||= preference(line.alternatives, candidate.labels);
  }

  let kinds = 0;
  let count = candidate.otherCount;
  let min = candidate.otherMin;
  let sum = candidate.otherSum;
  for (let column = 0; column < total.length; column++) {
    if (total[column]! > 0) kinds += asked[column]!;
    const has = scored[column]!;
    if (has === 0) continue;
    const worth = usedWorth(has, free[column]!);
    count++;
    sum += worth;
    if (worth < min) min = worth;
  }
  return {
    preference: preferred,
    gpuOk: candidate.isGpu && !isGpuNamed ? 0 : 1,
    kinds,
    min: count === 0 ? 0 : min,
    mean: count === 0 ? 0 : sum / count,
    rank: candidate.rank,
  };
}

/** Positive when `a` is the better score; zero for a tie. */
export function compareScores(a: Score, b: Score): number {
  return (
    a.preference - b.preference ||
    a.gpuOk - b.gpuOk ||
    a.kinds - b.kinds ||
    a.min - b.min ||
    a.mean - b.mean ||
    a.rank - b.rank
  );
}

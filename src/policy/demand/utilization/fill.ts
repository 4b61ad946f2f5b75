import { type Asks, firstFitting } from './asks.ts';
import type { Candidate } from './candidates.ts';
import { preference } from './labels.ts';
import type { Line } from './requests.ts';
import { type Score, noScore, scoreOf } from './score.ts';

// Indices: columns are below the common width of all vectors; lines come from `firstFitting`, and
// `lines` and `counts` of a trial grow together.

/** What one node takes of the requests, in packing order. */
export type Fill = readonly { readonly line: Line; readonly count: number }[];

/** What a candidate would take of all that is left, and how that scores. */
export interface Trial {
  readonly candidate: Candidate;
  /** Indices of the lines taken from, in order, and how many of each. */
  readonly lines: number[];
  readonly counts: number[];
  score: Score;
}

export function openTrial(candidate: Candidate, asks: Asks): Trial {
  const trial: Trial = { candidate, lines: [], counts: [], score: noScore };
  tryFill(trial, asks);
  return trial;
}

/**
 * Whether the trial would come out the same now that less is left. It would if all that it took is
 * still there: what did not fit then does not fit now either.
 */
export function isCurrent({ lines, counts }: Trial, asks: Asks): boolean {
  for (let i = 0; i < lines.length; i++) {
    if (asks.left[lines[i]!]! < counts[i]!) return false;
  }
  return true;
}

/** Walks the requests in order, takes each that fits, never goes back, and scores the result. */
export function tryFill(trial: Trial, asks: Asks): void {
  const { candidate, lines, counts } = trial;
  lines.length = 0;
  counts.length = 0;
  const isBarred = asks.mark !== null && Object.hasOwn(candidate.labels.labels, asks.mark);
  const free = candidate.free.slice();
  let at = isBarred ? -1 : firstFitting(asks, free, 0);
  while (at >= 0) {
    const line = asks.lines[at]!;
    if (line.alternatives === null || preference(line.alternatives, candidate.labels) > 0) {
      const count = asks.mark === null ? countFitting(line, free, asks.left[at]!) : 1;
      for (const column of line.columns) free[column]! -= line.needs[column]! * count;
      lines.push(at);
      counts.push(count);
      if (asks.mark !== null) break;
    }
    at = firstFitting(asks, free, at + 1);
  }
  trial.score = scoreOf(candidate, asks, lines, free);
}

/** How many requests of a line fit, given that one does; at most `most`. */
function countFitting(line: Line, free: Float64Array, most: number): number {
  let count = most;
  for (const column of line.columns) {
    const need = line.needs[column]!;
    const has = free[column]!;
    if (need * count <= has) continue;
    count = Math.floor(has / need);
    // The quotient may have been rounded up to a whole number.
    if (need * count > has) count--;
  }
  return count;
}

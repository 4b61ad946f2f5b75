import type { EpochMs } from '../../model/ids.ts';
import {
  bucketOf,
  edgesMs,
  type SurvivalCurve,
  survivalAt,
  type SurvivalCurves,
} from './survival.ts';

// Arrays have one entry per edge, hence the `!`.

/** A piece of work on a host. */
export interface RunningWork {
  readonly shape: number;
  /** Not before now for work that waits for the host to boot. */
  readonly startedAtMs: EpochMs;
}

/** What may be expected of work and hosts at one instant. */
export interface Outlook {
  /** How long a piece of new work runs, on average. */
  readonly expectedRunMs: (shape: number) => number;
  /**
   * By how much new work of the shape is expected to lengthen the life of a host with `work`:
   *
   *     integral over x of  P(new work runs longer than x) * P(all on the host has ended by x)
   *
   * Never negative, and never more than the expected run time, which it is on an empty host.
   * `work` must not be changed afterwards: what was computed for it is kept by identity.
   */
  readonly expectedExtensionMs: (shape: number, work: readonly RunningWork[]) => number;
}

/** Looks ahead from `nowMs`. Cheap to make; keeps what it computed while it lives: one tick. */
export function createOutlook(curves: SurvivalCurves, nowMs: EpochMs): Outlook {
  const ends = new Map<readonly RunningWork[], Float64Array>();
  const runs = new Map<number, number>();
  const curveOf = (shape: number): SurvivalCurve => curves.byShape[shape] ?? curves.pooled;
  const endedBy = (work: readonly RunningWork[]): Float64Array => {
    const known = ends.get(work);
    if (known !== undefined) return known;
    const product = new Float64Array(edgesMs.length).fill(1);
    for (const { shape, startedAtMs } of work) {
      multiplyEnded(product, curveOf(shape), Math.max(0, nowMs - startedAtMs));
    }
    ends.set(work, product);
    return product;
  };
  return {
    expectedRunMs: (shape) => {
      const known = runs.get(shape) ?? integrate(curveOf(shape), allEnded);
      runs.set(shape, known);
      return known;
    },
    expectedExtensionMs: (shape, work) => {
      return integrate(curveOf(shape), work.length === 0 ? allEnded : endedBy(work));
    },
  };
}

const allEnded = new Float64Array(edgesMs.length).fill(1);

/** By the trapezoid rule over the edges. */
function integrate(runs: SurvivalCurve, ended: Float64Array): number {
  let sum = 0;
  let before = runs[0]! * ended[0]!;
  for (let i = 1; i < edgesMs.length; i++) {
    const after = runs[i]! * ended[i]!;
    sum += (before + after) * (edgesMs[i]! - edgesMs[i - 1]!);
    before = after;
  }
  return sum / 2;
}

/** `product[i] *= P(ended by edge i from now | ran for elapsedMs)`. */
function multiplyEnded(product: Float64Array, curve: SurvivalCurve, elapsedMs: number): void {
  const last = edgesMs.length - 1;
  const sofar = survivalAt(curve, elapsedMs);
  // It outlived all that the curve knows of: it may end at any moment, so it keeps nothing alive.
  if (sofar <= 0) return;
  let bucket = bucketOf(elapsedMs);
  product[0] = 0;
  for (let i = 1; i <= last; i++) {
    const at = elapsedMs + edgesMs[i]!;
    while (bucket < last && edgesMs[bucket + 1]! <= at) bucket++;
    if (bucket >= last) return; // from here on it has ended for certain
    const from = edgesMs[bucket]!;
    const part = (at - from) / (edgesMs[bucket + 1]! - from);
    const survives = curve[bucket]! + (curve[bucket + 1]! - curve[bucket]!) * part;
    product[i]! *= Math.max(0, 1 - survives / sofar); // rounding could go below
  }
}

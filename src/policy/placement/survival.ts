import { assert } from '../../support/assert.ts';

// Arrays have one entry per edge or per bucket, and indices stay within them, hence the `!`.

/** How long one piece of work ran, or has run so far. */
export interface RunTime {
  readonly shape: number;
  readonly ranMs: number;
}

export interface RunTimes {
  /** As much of the past as should count; every learning goes through all of it. */
  readonly finished: readonly RunTime[];
  /** Counted as censored: they say "at least so long" and never pull a curve down. */
  readonly running: readonly RunTime[];
}

export interface SurvivalConfig {
  /** Pieces of work that the pooled curve weighs in each bucket of a shape's own. */
  readonly pooledWeight: number;
  /** Share taken to end in a bucket of which nothing is known; weighs like one piece of work. */
  readonly hazardDefault: number;
}

export const survivalDefaults: SurvivalConfig = { pooledWeight: 5, hazardDefault: 0.25 };

/** A curve: the probability to run longer than `edgesMs[i]`. Begins with 1 and never rises. */
export type SurvivalCurve = Float64Array;

export interface SurvivalCurves {
  readonly pooled: SurvivalCurve;
  /** By shape. A shape that was never seen has the pooled curve. */
  readonly byShape: readonly SurvivalCurve[];
}

/** Buckets are this much wider from one to the next: two to a doubling. */
export const BUCKET_RATIO = Math.SQRT2;
const EDGE_FIRST_MS = 1_000;
/** The last edge is 2^21 s, 24 days: what runs longer is taken to end there. */
const BUCKET_COUNT = 43;

/** 0, then from 1 s to 24 days, each `BUCKET_RATIO` times the one before. */
export const edgesMs: Float64Array = Float64Array.from({ length: BUCKET_COUNT + 1 }, (_, i) => {
  return i === 0 ? 0 : EDGE_FIRST_MS * BUCKET_RATIO ** (i - 1);
});

/** The bucket that holds a run time; the last one holds all that is longer. */
export function bucketOf(ranMs: number): number {
  if (ranMs < EDGE_FIRST_MS) return 0;
  let bucket = Math.floor(2 * Math.log2(ranMs / EDGE_FIRST_MS)) + 1;
  // Logarithms round: step to the bucket whose edges truly enclose it.
  if (bucket < BUCKET_COUNT && edgesMs[bucket + 1]! <= ranMs) bucket++;
  if (edgesMs[Math.min(bucket, BUCKET_COUNT)]! > ranMs) bucket--;
  return Math.min(bucket, BUCKET_COUNT - 1);
}

/**
 * Curves by shape. In each bucket the share that ended, of the work that got so far, is shrunk to
 * the pooled share: `(ended + weight * pooled) / (seen + weight)`. Running work counts as seen only
 * in the buckets that it has left behind.
 */
export function learnSurvival(
  times: RunTimes,
  shapeCount: number,
  config: SurvivalConfig = survivalDefaults,
): SurvivalCurves {
  const all = createTally();
  const own: (Tally | undefined)[] = Array.from({ length: shapeCount });
  const tallyOf = (shape: number): Tally => (own[shape] ??= createTally());
  for (const { shape, ranMs } of times.finished) {
    assert(shape < shapeCount, 'run times are of known shapes');
    const bucket = bucketOf(ranMs);
    all.ended[bucket]!++;
    tallyOf(shape).ended[bucket]!++;
  }
  for (const { shape, ranMs } of times.running) {
    assert(shape < shapeCount, 'run times are of known shapes');
    const bucket = bucketOf(ranMs);
    all.censored[bucket]!++;
    tallyOf(shape).censored[bucket]!++;
  }
  const unknown = new Float64Array(BUCKET_COUNT).fill(config.hazardDefault);
  const pooledHazards = hazardsOf(all, unknown, 1);
  const pooled = toCurve(pooledHazards);
  const byShape = own.map((tally) => {
    return tally ? toCurve(hazardsOf(tally, pooledHazards, config.pooledWeight)) : pooled;
  });
  return { pooled, byShape };
}

interface Tally {
  readonly ended: Float64Array;
  readonly censored: Float64Array;
}

const createTally = (): Tally => {
  return { ended: new Float64Array(BUCKET_COUNT), censored: new Float64Array(BUCKET_COUNT) };
};

function hazardsOf(tally: Tally, prior: Float64Array, weight: number): Float64Array {
  const hazards = new Float64Array(BUCKET_COUNT);
  let beyond = 0; // work that left the bucket behind
  for (let b = BUCKET_COUNT - 1; b >= 0; b--) {
    const ended = tally.ended[b]!;
    hazards[b] = (ended + weight * prior[b]!) / (ended + beyond + weight);
    beyond += ended + tally.censored[b]!;
  }
  return hazards;
}

function toCurve(hazards: Float64Array): SurvivalCurve {
  const curve = new Float64Array(BUCKET_COUNT + 1);
  curve[0] = 1;
  for (let b = 0; b < BUCKET_COUNT; b++) curve[b + 1] = curve[b]! * (1 - hazards[b]!);
  curve[BUCKET_COUNT] = 0;
  return curve;
}

/** The probability to run longer than `ranMs`, straight between edges. */
export function survivalAt(curve: SurvivalCurve, ranMs: number): number {
  if (ranMs >= edgesMs[BUCKET_COUNT]!) return 0;
  const bucket = bucketOf(ranMs);
  const from = edgesMs[bucket]!;
  const part = (ranMs - from) / (edgesMs[bucket + 1]! - from);
  return curve[bucket]! + (curve[bucket + 1]! - curve[bucket]!) * part;
}

import type { Sample } from '../wiring.ts';

/** Samples of an hour: one a minute. */
export const SAMPLES_PER_HOUR = 60;

/** Means over steps of equal length; the last may be shorter. */
export function toTimeline(samples: readonly Sample[], perStep: number): readonly Sample[] {
  const steps: Sample[] = [];
  for (let from = 0; from < samples.length; from += perStep) {
    const some = samples.slice(from, from + perStep);
    const mean = (read: (sample: Sample) => number): number =>
      some.reduce((sum, sample) => sum + read(sample), 0) / some.length;
    const [first] = some;
    if (first === undefined) break;
    steps.push({
      atMs: first.atMs,
      pending: mean(({ pending }) => pending),
      running: mean(({ running }) => running),
      ready: mean(({ ready }) => ready),
      slices: mean(({ slices }) => slices),
      microUsdPerHour: mean(({ microUsdPerHour }) => microUsdPerHour),
    });
  }
  return steps;
}

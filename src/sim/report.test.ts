import { expect, test } from 'vitest';
import { summarizeWaits } from './report.ts';

test('percentiles are waits that somebody had', () => {
  const waits = Array.from({ length: 100 }, (_, index) => (100 - index) * 1_000);
  expect(summarizeWaits(waits)).toEqual({
    count: 100,
    meanMs: 50_500,
    p50Ms: 50_000,
    p95Ms: 95_000,
    p99Ms: 99_000,
    maxMs: 100_000,
  });
  expect(summarizeWaits([7])).toMatchObject({ p50Ms: 7, p99Ms: 7, maxMs: 7 });
});

test('no work has no waits', () => expect(summarizeWaits([])).toBeNull());

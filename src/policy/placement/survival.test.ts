import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bucketOf, edgesMs, learnSurvival, type RunTime, survivalAt } from './survival.ts';

const SHAPES = 3;
const ran = fc.record({
  shape: fc.nat(SHAPES - 1),
  ranMs: fc.oneof(fc.nat(5_000), fc.nat(100_000_000)),
});
const some = fc.array(ran, { maxLength: 30 });
const times = (count: number, ranMs: number, shape = 0): RunTime[] =>
  Array.from({ length: count }, () => ({ shape, ranMs }));

test('a bucket encloses its run times', () => {
  fc.assert(
    fc.property(fc.nat(2_000_000_000), (ranMs) => {
      const bucket = bucketOf(ranMs);
      expect(edgesMs[bucket]).toBeLessThanOrEqual(ranMs);
      expect(edgesMs[bucket + 1]).toBeGreaterThan(ranMs);
    }),
  );
  expect(edgesMs.slice(0, 4)).toEqual(Float64Array.of(0, 1_000, 1_000 * Math.SQRT2, 2_000 + 4e-13));
  for (const [index, edge] of edgesMs.slice(0, -1).entries()) expect(bucketOf(edge)).toBe(index);
});

test('a curve begins with 1, never rises, and ends with 0', () => {
  fc.assert(
    fc.property(some, some, (finished, running) => {
      const { pooled, byShape } = learnSurvival({ finished, running }, SHAPES);
      for (const curve of [pooled, ...byShape]) {
        expect([curve[0], curve.at(-1)]).toEqual([1, 0]);
        for (let i = 1; i < curve.length; i++) expect(curve[i]).toBeLessThanOrEqual(curve[i - 1]!);
      }
    }),
  );
});

test('running work only lengthens a curve', () => {
  fc.assert(
    fc.property(some, some, ran, (finished, running, one) => {
      const without = learnSurvival({ finished, running }, SHAPES);
      const withOne = learnSurvival({ finished, running: [...running, one] }, SHAPES);
      const pairs = [
        [withOne.pooled, without.pooled],
        [withOne.byShape[one.shape]!, without.byShape[one.shape]!],
      ] as const;
      for (const [longer, shorter] of pairs) {
        for (const [i, p] of shorter.entries()) expect(longer[i]).toBeGreaterThan(p - 1e-12);
      }
    }),
  );
});

test('much own work outweighs the pool, little does not', () => {
  const others = times(1_000, 10_000_000, 1);
  const after = (count: number): number => {
    const curves = learnSurvival(
      { finished: [...others, ...times(count, 60_000)], running: [] },
      2,
    );
    return survivalAt(curves.byShape[0]!, 100_000);
  };
  expect(after(1)).toBeGreaterThan(0.8);
  expect(after(100)).toBeLessThan(0.1);
});

test('a shape never seen has the pooled curve', () => {
  const { pooled, byShape } = learnSurvival({ finished: times(9, 60_000), running: [] }, 2);
  expect(byShape[1]).toBe(pooled);
});

test('the same work in another order gives the same curves', () => {
  fc.assert(
    fc.property(some, some, (finished, running) => {
      const turned = { finished: finished.toReversed(), running: running.toReversed() };
      expect(learnSurvival(turned, SHAPES)).toEqual(learnSurvival({ finished, running }, SHAPES));
    }),
  );
});

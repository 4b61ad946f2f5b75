import fc from 'fast-check';
import { expect, test } from 'vitest';
import { epochMs } from '../../model/ids.ts';
import { createOutlook, type RunningWork } from './extension.ts';
import { bucketOf, edgesMs, learnSurvival, type SurvivalCurves } from './survival.ts';

const now = epochMs(100_000_000);
const since = (shape: number, ranMs: number): RunningWork => {
  return { shape, startedAtMs: epochMs(now - ranMs) };
};

/** Each shape runs for certain as long as given, as far as buckets can tell. */
const certain = (...runsMs: readonly number[]): SurvivalCurves => {
  const curves = runsMs.map((runMs) => edgesMs.map((_, i) => (i <= bucketOf(runMs) ? 1 : 0)));
  return { pooled: curves[0]!, byShape: curves };
};

const ran = fc.record({ shape: fc.nat(2), ranMs: fc.nat(50_000_000) });
const learned = fc
  .record({ finished: fc.array(ran, { maxLength: 20 }), running: fc.array(ran, { maxLength: 9 }) })
  .map((times) => learnSurvival(times, 3));
const onHost = fc.array(
  ran.map(({ shape, ranMs }) => since(shape, ranMs)),
  { maxLength: 6 },
);

test('an extension is never negative, nor more than the work runs', () => {
  fc.assert(
    fc.property(learned, fc.nat(2), onHost, (curves, shape, work) => {
      const outlook = createOutlook(curves, now);
      const extensionMs = outlook.expectedExtensionMs(shape, work);
      expect(extensionMs).toBeGreaterThanOrEqual(0);
      expect(extensionMs).toBeLessThanOrEqual(outlook.expectedRunMs(shape) * (1 + 1e-12));
    }),
  );
});

test('more on a host never makes the extension longer', () => {
  fc.assert(
    fc.property(learned, fc.nat(2), onHost, ran, (curves, shape, work, { shape: other, ranMs }) => {
      const outlook = createOutlook(curves, now);
      const more = outlook.expectedExtensionMs(shape, [...work, since(other, ranMs)]);
      expect(more).toBeLessThanOrEqual(outlook.expectedExtensionMs(shape, work) + 1e-6);
    }),
  );
});

test('an empty host is extended by all of the run time', () => {
  const outlook = createOutlook(certain(1_000_000), now);
  expect(outlook.expectedExtensionMs(0, [])).toBe(outlook.expectedRunMs(0));
});

test('a host that certainly outlives the work is not extended', () => {
  const outlook = createOutlook(certain(60_000, 10_000_000), now);
  expect(outlook.expectedExtensionMs(0, [since(1, 0)])).toBe(0);
  expect(outlook.expectedExtensionMs(0, [since(1, 1_000_000)])).toBe(0);
  expect(outlook.expectedExtensionMs(0, [since(0, 0), since(1, 0)])).toBe(0);
});

test('work that is about to end keeps little', () => {
  const outlook = createOutlook(certain(600_000), now);
  const fresh = outlook.expectedExtensionMs(0, [since(0, 0)]);
  const old = outlook.expectedExtensionMs(0, [since(0, 500_000)]);
  expect(fresh).toBeLessThan(old);
  expect(old).toBeLessThan(outlook.expectedRunMs(0));
});

test('work that outlived its curve keeps nothing alive', () => {
  const outlook = createOutlook(certain(60_000), now);
  expect(outlook.expectedExtensionMs(0, [since(0, 90_000)])).toBe(outlook.expectedRunMs(0));
});

test('work that waits for its host counts as just begun', () => {
  const outlook = createOutlook(certain(600_000, 6_000_000), now);
  expect(outlook.expectedExtensionMs(0, [since(1, -200_000)])).toBe(0);
});

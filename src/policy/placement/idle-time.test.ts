import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupName } from '../../model/ids.ts';
import type { HostType } from './catalogue.ts';
import { idleTimeDefaults, idleTimes } from './idle-time.ts';

const priced = (usd: number): HostType => {
  return {
    name: groupName(`at-${usd}`),
    capacity: Float64Array.of(1),
    priceMicroUsdPerHour: Math.round(usd * 1_000_000),
  };
};
const idleS = (...prices: readonly number[]): readonly number[] =>
  idleTimes(prices.map(priced)).map((ms) => ms / 1_000);

test.each([
  ['a median host gets 1.4 times the reference', [5, 5, 5], [350, 350, 350]],
  ['twice the price, half the time', [5, 5, 10], [350, 350, 175]],
  ['never longer than the limit, nor for free', [0, 1, 5, 5, 5], [900, 900, 350, 350, 350]],
  ['never shorter than the least', [5, 5, 500], [350, 350, 20]],
] as const)('%s', (_name, prices, seconds) => {
  expect(idleS(...prices)).toEqual(seconds);
});

test('prices in another currency change nothing', () => {
  const prices = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(prices, fc.integer({ min: 2, max: 20 }), (list, rate) => {
      const there = idleS(...list.map((price) => price * rate));
      // Half a millisecond may be rounded either way.
      idleS(...list).forEach((here, index) => expect(there[index]).toBeCloseTo(here, 2));
    }),
  );
});

test('the dearer host is never kept longer, and all within limits', () => {
  const prices = fc.array(fc.double({ min: 0, max: 500, noNaN: true }), {
    minLength: 2,
    maxLength: 9,
  });
  fc.assert(
    fc.property(prices, (list) => {
      const times = idleTimes(list.sort((a, b) => a - b).map(priced));
      expect(times).toEqual(times.toSorted((a, b) => b - a));
      for (const ms of times) {
        expect(ms).toBeGreaterThanOrEqual(idleTimeDefaults.minMs);
        expect(ms).toBeLessThanOrEqual(idleTimeDefaults.maxMs);
      }
    }),
  );
});

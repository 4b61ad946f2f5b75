import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupName } from '../../model/ids.ts';
import { createCatalogue, dominantShare, fits, type HostType, medianPrice } from './catalogue.ts';

const aType = (name: string, capacity: readonly number[], usd: number): HostType => {
  const priceMicroUsdPerHour = usd * 1_000_000;
  return { name: groupName(name), capacity: Float64Array.from(capacity), priceMicroUsdPerHour };
};
const types = [aType('small', [8, 1], 2), aType('big', [96, 8], 12), aType('cpu', [64, 0], 3)];
const anywhere = { mayOpen: Uint8Array.of(1, 1, 1), mayVisit: new Uint8Array(3) };

test.each([
  ['goes where it blocks least money', [4, 1], 1, 1.5],
  ['goes to CPUs without accelerators', [32, 0], 2, 1.5],
  ['counts the resource that it takes most of', [96, 1], 1, 12],
  ['has no best type when it fits none', [4, 9], -1, 0],
] as const)('work %s', (_name, need, bestType, usd) => {
  const shape = { ...anywhere, need: Float64Array.from(need) };
  const catalogue = createCatalogue({ types, shapes: [shape], deviceResource: 1 });
  expect(catalogue.bestType[0]).toBe(bestType);
  expect(catalogue.worth[0]).toBeCloseTo(usd * 1_000_000);
});

test('a type that may only be visited is never the best one', () => {
  const shape = {
    need: Float64Array.of(4, 1),
    mayOpen: Uint8Array.of(1, 0, 0),
    mayVisit: Uint8Array.of(0, 1, 1),
  };
  const catalogue = createCatalogue({ types, shapes: [shape], deviceResource: 1 });
  expect([...catalogue.opens]).toEqual([1, 0, 0]);
  expect([...catalogue.visits]).toEqual([0, 1, 0]); // the third has no accelerator
  expect(catalogue.bestType[0]).toBe(0);
});

test('the median is the lower one of two, and never 0', () => {
  expect(medianPrice(types)).toBe(3_000_000);
  expect(medianPrice(types.slice(0, 2))).toBe(2_000_000);
  expect(medianPrice([aType('paid-for', [1], 0)])).toBe(1);
});

test('what fits takes at most all of any resource', () => {
  const vector = fc.array(fc.nat(100), { minLength: 3, maxLength: 3 });
  fc.assert(
    fc.property(vector, vector, (a, b) => {
      const need = Float64Array.from(a);
      const free = Float64Array.from(b);
      expect(fits(need, free)).toBe(dominantShare(need, free) <= 1);
    }),
  );
});

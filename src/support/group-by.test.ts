import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupBy } from './group-by.ts';

test('keys and items keep the order in which they came', () => {
  expect([...groupBy(['bb', 'a', 'cc', 'd', 'ee'], ({ length }) => length)]).toEqual([
    [2, ['bb', 'cc', 'ee']],
    [1, ['a', 'd']],
  ]);
});

test('keys are told apart by identity', () => {
  const [one, other] = [{}, {}];
  expect(groupBy([1, 2, 3], (item) => (item === 2 ? other : one)).get(one)).toEqual([1, 3]);
});

test('no item is lost, doubled or put under another key', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50)), (items) => {
      const groups = groupBy(items, (item) => item % 7);
      for (const [key, same] of groups) {
        expect(same).toEqual(items.filter((item) => item % 7 === key));
      }
      expect([...groups.values()].flat()).toHaveLength(items.length);
    }),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byFirst, byNumber, byText } from './order.ts';

test('text is ordered by code unit, whatever the locale', () => {
  expect(['b', 'a', 'Z', 'ä', 'a1', 'a10', 'a2'].sort(byText)).toEqual([
    'Z',
    'a',
    'a1',
    'a10',
    'a2',
    'b',
    'ä',
  ]);
});

test('the first comparison that tells two apart decides', () => {
  const people = [
    { name: 'b', age: 2 },
    { name: 'a', age: 2 },
    { name: 'c', age: 1 },
  ];
  const order = byFirst<(typeof people)[number]>(
    byNumber(({ age }) => age),
    (a, b) => byText(a.name, b.name),
  );
  expect(people.sort(order).map(({ name }) => name)).toEqual(['c', 'a', 'b']);
});

test('what no comparison tells apart keeps its order', () => {
  expect([3, 1, 2].sort(byFirst<number>())).toEqual([3, 1, 2]);
});

test('orders are antisymmetric', () => {
  const order = byFirst<readonly [number, string]>(
    byNumber(([number]) => number),
    ([, a], [, b]) => byText(a, b),
  );
  const pair = fc.tuple(fc.nat(2), fc.string({ maxLength: 2 }));
  fc.assert(
    fc.property(pair, pair, (a, b) => {
      expect(Math.sign(order(a, b)) + Math.sign(order(b, a))).toBe(0);
    }),
  );
});

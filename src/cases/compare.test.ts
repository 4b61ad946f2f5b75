import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findDifferences } from './compare.ts';

const places = (expected: unknown, actual: unknown): readonly string[] =>
  findDifferences(expected, actual).map(({ path }) => path || 'result');

// prettier-ignore: a table is read by column
test.each([
  ['equal values', { a: 1, b: ['x', null, true] }, { a: 1, b: ['x', null, true] }, []],
  ['keys not expected are ignored', { a: 1 }, { a: 1, b: 2 }, []],
  ['nothing expected of a mapping', {}, { a: 1 }, []],
  ['numbers within 1e-9', { a: 0.1 + 0.2 }, { a: 0.3 }, []],
  ['numbers further apart', { a: 1 }, { a: 1.00000001 }, ['a']],
  ['infinity equals itself', Infinity, Infinity, []],
  ['a missing key', { a: { b: 1 } }, { a: {} }, ['a.b']],
  ['null is not a mapping', { a: { b: 1 } }, { a: null }, ['a']],
  ['lists of another length differ as a whole', [1, 2], [1, 2, 3], ['result']],
  ['lists are compared element by element', { a: [1, 2, 3] }, { a: [1, 9, 8] }, ['a[1]', 'a[2]']],
  ['elements may say less', [{ id: 't' }], [{ id: 't', code: 'x' }], []],
  ['a list is not a mapping', {}, [], ['result']],
  ['a mapping is not a list', [], {}, ['result']],
  ['a number is not its text', { a: 1 }, { a: '1' }, ['a']],
  ['null is not nothing', { a: null }, {}, ['a']],
])('%s', (_name, expected, actual, paths) => {
  expect(places(expected, actual)).toEqual(paths);
});

describe('for any JSON', () => {
  test('a value holds against itself', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(findDifferences(value, structuredClone(value))).toEqual([]);
      }),
    );
  });

  test('a difference carries both values', () => {
    expect(findDifferences({ a: [1] }, { a: [2] })).toEqual([
      { path: 'a[0]', expected: 1, actual: 2 },
    ]);
  });
});

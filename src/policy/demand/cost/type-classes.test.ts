import { expect, test } from 'vitest';
import { bitKey, classifyTypes, columnKeys, type TypeTable, unitsWithin } from './type-classes.ts';

const table: TypeTable = {
  resourceCount: 1,
  typeCount: 4,
  capacity: Float64Array.of(4, 4, 4, 8),
  hostsPerUnit: Int32Array.of(1, 1, 1, 1),
  unitPrice: Float64Array.of(3, 3, 3, 3),
  budgets: [],
};
const alike = (): string => '';
const bit = (index: number): number => (index % 3 === 0 ? 1 : 0);

test('types alike are one class', () => {
  const { members, classOf } = classifyTypes(table, alike);
  expect(members).toEqual([[0, 1, 2], [3]]);
  expect([...classOf]).toEqual([0, 0, 0, 1]);
});

test('marks and uses of shared budgets tell types apart, own maxima do not', () => {
  const budgets = [
    { left: 7, use: Float64Array.of(2, 0, 0, 0) },
    { left: 5, use: Float64Array.of(1, 2, 1, 0) },
  ];
  const classes = classifyTypes({ ...table, budgets }, (type) => (type === 2 ? 'odd' : ''));
  expect(classes.members).toEqual([[0], [1], [2], [3]]);
  expect([...classes.unitsMax]).toEqual([3, Infinity, Infinity, Infinity]);
  expect(classes.shared).toEqual([{ left: 5, use: Float64Array.of(1, 2, 1, 0) }]);

  const own = classifyTypes({ ...table, budgets: budgets.slice(0, 1) }, alike);
  expect(own.members).toEqual([[0, 1, 2], [3]]);
  expect(own.shared).toEqual([]);
});

// prettier-ignore: a table is read by column
test.each([
  [10, 3, 3],
  [9, 3, 3],
  [-1, 3, 0],
  [0, 3, 0],
  [Infinity, 3, Infinity],
  [0.3, 0.1, 2], // three times 0.1 is a hair more than 0.3 in binary
  [Number.MAX_SAFE_INTEGER, 1, Number.MAX_SAFE_INTEGER],
] as const)('of %d, at %d each, %d units', (left, use, units) => {
  expect(unitsWithin(left, use)).toBe(units);
});

test('a budget that is no whole number is not broken by rounding', () => {
  const budgets = [{ left: 0.3, use: Float64Array.of(0.1, 0.1, 0.1, 0.1) }];
  const { shared } = classifyTypes({ ...table, budgets }, alike);
  expect(shared[0]?.left).toBeLessThan(0.1 + 0.1 + 0.1);
});

test('rows of bits have equal keys only if they are equal', () => {
  const key = bitKey(40, bit);
  expect(bitKey(40, (index) => bit(index))).toBe(key);
  for (let flipped = 0; flipped < 40; flipped++) {
    const other = bitKey(40, (index) => (index === flipped ? 1 - bit(index) : bit(index)));
    expect(other).not.toBe(key);
  }
});

test('the keys of all columns are those of each', () => {
  const [rows, columns] = [37, 5];
  const matrix = Uint8Array.from({ length: rows * columns }, (_, at) =>
    (at * 7) % 11 < 4 ? 1 : 0,
  );
  const keys = Array.from({ length: columns }, (_, column) =>
    bitKey(rows, (row) => matrix[row * columns + column] ?? 0),
  );
  expect(columnKeys(matrix, columns)).toEqual(keys);
  expect(columnKeys(new Uint8Array(0), 2)).toEqual(['', '']);
});

import { expect, test } from 'vitest';
import { openDraft } from './fill-draft.ts';
import { toHostTable } from './fill-table.ts';
import { fillHost } from './fill.ts';
import { valueShapes } from './guidance.ts';
import { toPackModel } from './pack-model.ts';

interface Filled {
  readonly capacity: readonly number[];
  readonly needs: readonly (readonly number[])[];
  readonly counts: readonly number[];
  readonly worth: readonly number[];
  readonly seed?: number;
  readonly swapsMax?: number;
}

/** Fills one host that is worth 10, and returns the copies taken of each shape. */
function fill({ capacity, needs, counts, worth, seed = -1, swapsMax = 5 }: Filled): number[] {
  const shapeCount = needs.length;
  const model = toPackModel({
    resourceCount: capacity.length,
    shapeCount,
    typeCount: 1,
    need: Float64Array.from(needs.flat()),
    count: Int32Array.from(counts),
    capacity: Float64Array.from(capacity),
    hostsPerUnit: Int32Array.of(1),
    unitPrice: Float64Array.of(10),
    allowed: new Uint8Array(shapeCount).fill(1),
    allowedInRoom: new Uint8Array(shapeCount).fill(1),
    budgets: [],
    rooms: [],
  });
  const table = toHostTable(model, 0, model.count);
  valueShapes(table, 10, Float64Array.from(worth), { dominantWeight: 0, sizeBonus: 0 });
  const draft = openDraft(shapeCount, capacity.length);
  const free = Float64Array.from(capacity);
  const filling = fillHost({ table, left: model.count, free, seed, swapsMax }, draft);
  return needs.map((_, shape) => filling.copies[filling.shapes.indexOf(shape)] ?? 0);
}

// prettier-ignore: a table is read by column
test.each([
  [
    'takes most value for its size',
    { capacity: [10], needs: [[5], [5]], counts: [9, 9], worth: [4, 5] },
    [0, 2],
  ],
  [
    'takes no more copies than there are',
    { capacity: [10], needs: [[2], [1]], counts: [2, 3], worth: [3, 1] },
    [2, 3],
  ],
  [
    'keeps resources in balance',
    {
      capacity: [10, 10],
      needs: [
        [4, 1],
        [1, 4],
      ],
      counts: [9, 9],
      worth: [5, 5],
    },
    [2, 2],
  ],
  [
    'holds the seed, though it is worth less',
    { capacity: [10], needs: [[6], [5]], counts: [1, 2], worth: [1, 5], seed: 0 },
    [1, 0],
  ],
  [
    'greed alone wastes room',
    { capacity: [10], needs: [[6], [5]], counts: [1, 2], worth: [6.1, 5], swapsMax: 0 },
    [1, 0],
  ],
  [
    'a swap uses it',
    { capacity: [10], needs: [[6], [5]], counts: [1, 2], worth: [6.1, 5] },
    [0, 2],
  ],
  [
    'takes what needs nothing, all of it',
    { capacity: [10], needs: [[0], [10]], counts: [5000, 1], worth: [0, 1] },
    [5000, 1],
  ],
  [
    'fills with thousands of small copies',
    { capacity: [9000], needs: [[1]], counts: [20_000], worth: [1] },
    [9000],
  ],
  [
    'leaves a resource of 0 alone',
    { capacity: [4, 0], needs: [[1, 0]], counts: [9], worth: [1] },
    [4],
  ],
] as const)('%s', (_name, table, copies) => {
  expect(fill(table)).toEqual(copies);
});

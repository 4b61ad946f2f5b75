import { expect, test } from 'vitest';
import { toLinearProgram } from '../model/linear-program.ts';
import { createHighsSolver } from './highs.ts';

const solver = createHighsSolver();
const free = { min: 0, max: Infinity };

test('finds the least cost, its values and what each row is worth', async () => {
  const program = toLinearProgram(
    [
      { cost: 3, ...free },
      { cost: 2, min: 0, max: 4 },
    ],
    [
      {
        min: 10,
        max: Infinity,
        entries: [
          [0, 1],
          [1, 1],
        ],
      },
    ],
  );
  const outcome = await solver.minimize(program);
  expect(outcome).toEqual({
    kind: 'optimal',
    objective: 26,
    values: Float64Array.of(6, 4),
    rowDuals: Float64Array.of(3),
  });
});

// prettier-ignore: a table is read by column
test.each([
  ['no variable and rows that hold', [], [{ min: -1, max: 1, entries: [] }], 'optimal'],
  ['no variable and a broken row', [], [{ min: 1, max: 1, entries: [] }], 'infeasible'],
  ['no rows', [{ cost: 1, ...free }], [], 'optimal'],
  [
    'rows against each other',
    [{ cost: 1, ...free }],
    [
      { min: 2, max: 2, entries: [[0, 1]] },
      { min: 3, max: 3, entries: [[0, 1]] },
    ],
    'infeasible',
  ],
  [
    'a bound below another',
    [{ cost: 1, min: 0, max: 1 }],
    [{ min: 2, max: 9, entries: [[0, 1]] }],
    'infeasible',
  ],
  [
    'a saving without end',
    [{ cost: -1, ...free }],
    [{ min: 0, max: Infinity, entries: [[0, 1]] }],
    'unbounded',
  ],
  ['an invalid number', [{ cost: Number.NaN, ...free }], [], 'failed'],
] as const)('%s', async (_name, variables, rows, kind) => {
  const outcome = await solver.minimize(toLinearProgram(variables, rows));
  expect(outcome.kind).toBe(kind);
});

test('a failure does not spoil the next program', async () => {
  await solver.minimize(toLinearProgram([{ cost: Number.NaN, ...free }], []));
  const outcome = await solver.minimize(toLinearProgram([{ cost: 1, min: 2, max: 3 }], []));
  expect(outcome).toMatchObject({ kind: 'optimal', objective: 2 });
});

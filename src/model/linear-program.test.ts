import { expect, test } from 'vitest';
import { toLinearProgram } from './linear-program.ts';

test('packs variables and rows in the order given', () => {
  const program = toLinearProgram(
    [
      { cost: 1, min: 0, max: 5 },
      { cost: 2, min: -1, max: Infinity },
    ],
    [
      { min: 0, max: 3, entries: [[1, 4]] },
      { min: 1, max: 1, entries: [] },
      {
        min: -Infinity,
        max: 9,
        entries: [
          [0, 7],
          [1, 8],
        ],
      },
    ],
  );
  expect(program).toEqual({
    cost: Float64Array.of(1, 2),
    variableMin: Float64Array.of(0, -1),
    variableMax: Float64Array.of(5, Infinity),
    rowMin: Float64Array.of(0, 1, -Infinity),
    rowMax: Float64Array.of(3, 1, 9),
    matrix: {
      starts: Int32Array.of(0, 1, 1, 3),
      variables: Int32Array.of(1, 0, 1),
      coefficients: Float64Array.of(4, 7, 8),
    },
  });
});

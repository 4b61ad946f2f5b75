import { expect, test } from 'vitest';
import { createHighsSolver } from '../../solver/highs.ts';
import { type FluidProblem, fluidProgram, type FluidShape } from './fluid-bound.ts';

const solver = createHighsSolver();

interface Type {
  readonly capacity: readonly number[];
  readonly price: number;
  readonly hostsPerUnit?: number;
  readonly unitsMin?: number;
  readonly room?: readonly number[];
}
interface Shape {
  readonly need: readonly number[];
  readonly count: number;
  readonly tasks?: number;
  readonly wholeHosts?: boolean;
  readonly on?: readonly number[];
}
interface Budget {
  readonly left: number;
  readonly use: readonly number[];
}

function aFluidProblem(
  types: readonly Type[],
  shapes: readonly Shape[],
  budgets: readonly Budget[] = [],
): FluidProblem {
  const resourceCount = types[0]?.capacity.length ?? 0;
  const nothing = Array.from({ length: resourceCount }, () => 0);
  return {
    resourceCount,
    typeCount: types.length,
    capacity: Float64Array.from(types.flatMap(({ capacity }) => capacity)),
    hostsPerUnit: Int32Array.from(types, ({ hostsPerUnit }) => hostsPerUnit ?? 1),
    unitPrice: Float64Array.from(types, ({ price }) => price),
    unitsMin: Int32Array.from(types, ({ unitsMin }) => unitsMin ?? 0),
    budgets: budgets.map(({ left, use }) => ({ left, use: Float64Array.from(use) })),
    pooledRoom: Float64Array.from(types.flatMap(({ room }) => room ?? nothing)),
    shapes: shapes.map(({ need, count, tasks, wholeHosts, on }): FluidShape => ({
      count,
      tasks: tasks ?? 1,
      need: Float64Array.from(need),
      wholeHosts: wholeHosts ?? false,
      allowed: Uint8Array.from(types, (_, type) => ((on?.includes(type) ?? true) ? 1 : 0)),
    })),
  };
}

const node: Type = { capacity: [4, 8], price: 10 };
const slice: Type = { capacity: [4, 8], price: 40, hostsPerUnit: 4 };

// prettier-ignore: a table is read by column
test.each([
  ['nothing placed costs nothing', [node], [], [], 0],
  ['no types, nothing placed', [], [], [], 0],
  ['hosts may be split', [node], [{ need: [1, 1], count: 6 }], [], 15],
  ['the scarcer resource counts', [node], [{ need: [1, 4], count: 6 }], [], 30],
  ['large tasks have a host each', [node], [{ need: [3, 1], count: 2 }], [], 20],
  [
    'large tasks of several shapes, too',
    [node],
    [
      { need: [3, 1], count: 1 },
      { need: [2.5, 1], count: 1 },
    ],
    [],
    20,
  ],
  [
    'copies take the cheapest type they may',
    [node, { ...node, price: 6 }],
    [
      { need: [4, 8], count: 2 },
      { need: [4, 8], count: 1, on: [0] },
    ],
    [],
    22,
  ],
  ['existing room is free', [{ ...node, room: [3, 3] }], [{ need: [1, 1], count: 5 }], [], 5],
  [
    'existing room holds large tasks',
    [{ ...node, room: [3, 3] }],
    [{ need: [3, 1], count: 2 }],
    [],
    10,
  ],
  [
    'room on a type too small for the task',
    [{ capacity: [1, 1], price: 1, room: [9, 9] }, node],
    [{ need: [3, 3], count: 4 }],
    [],
    10,
  ],
  [
    'the minimum is paid and used',
    [{ ...node, unitsMin: 3 }],
    [{ need: [4, 8], count: 2 }],
    [],
    30,
  ],
  [
    'a budget sends copies to a dearer type',
    [node, { ...node, price: 15 }],
    [{ need: [4, 8], count: 3 }],
    [{ left: 2, use: [1, 0] }],
    35,
  ],
  [
    'a shared budget favours the larger type',
    [
      { capacity: [1, 1], price: 1 },
      { capacity: [4, 4], price: 8 },
    ],
    [{ need: [1, 1], count: 8 }],
    [{ left: 5, use: [1, 1] }],
    12,
  ],
  ['a gang is so many tasks', [node], [{ need: [2, 2], count: 1, tasks: 4 }], [], 20],
  [
    'a gang on whole hosts takes whole units',
    [slice],
    [{ need: [1, 1], count: 2, tasks: 5, wholeHosts: true }],
    [],
    160,
  ],
  [
    'others do not share the units of a gang',
    [slice],
    [
      { need: [1, 1], count: 1, tasks: 4, wholeHosts: true },
      { need: [4, 8], count: 2 },
    ],
    [],
    60,
  ],
  [
    'a gang takes units that the minimum launches',
    [{ ...slice, unitsMin: 1 }],
    [{ need: [1, 1], count: 1, tasks: 4, wholeHosts: true }],
    [],
    40,
  ],
  [
    'a gang in existing room is free',
    [{ ...slice, room: [16, 32] }],
    [{ need: [4, 8], count: 1, tasks: 4, wholeHosts: true }],
    [],
    0,
  ],
  [
    'a gang on types of one host shares them',
    [node],
    [{ need: [1, 1], count: 1, tasks: 4, wholeHosts: true }],
    [],
    10,
  ],
  ['tasks that need nothing cost nothing', [node], [{ need: [0, 0], count: 9 }], [], 0],
] as const)('%s', async (_name, types, shapes, budgets, cost) => {
  const outcome = await solver.minimize(fluidProgram(aFluidProblem(types, shapes, budgets)));
  expect(outcome.kind).toBe('optimal');
  if (outcome.kind === 'optimal') expect(outcome.objective).toBeCloseTo(cost, 5);
});

test('copies that nothing can hold make the program infeasible', async () => {
  const problem = aFluidProblem([node], [{ need: [5, 1], count: 1 }]);
  expect(await solver.minimize(fluidProgram(problem))).toEqual({ kind: 'infeasible' });
});

test('equal types and equal shapes are one', () => {
  const once = fluidProgram(aFluidProblem([node], [{ need: [1, 1], count: 6 }]));
  const thrice = fluidProgram(
    aFluidProblem(
      [node, node, node],
      [
        { need: [1, 1], count: 2 },
        { need: [1, 1], count: 4 },
      ],
    ),
  );
  expect(thrice).toEqual(once);
});

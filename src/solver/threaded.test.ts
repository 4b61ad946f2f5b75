import { expect, onTestFinished, test } from 'vitest';
import { toLinearProgram } from '../model/linear-program.ts';
import { createThreadedSolver } from './threaded.ts';

const program = (need: number) =>
  toLinearProgram(
    [{ cost: 3, min: 0, max: Infinity }],
    [{ min: need, max: Infinity, entries: [[0, 1]] }],
  );

test('answers programs one after the other, from a thread of its own', async () => {
  const solver = createThreadedSolver();
  onTestFinished(() => solver.close());
  const outcomes = await Promise.all([1, 2, 3].map((need) => solver.minimize(program(need))));
  expect(outcomes.map((one) => (one.kind === 'optimal' ? one.objective : one))).toEqual([3, 6, 9]);
});

test('starts anew after it was closed', async () => {
  const solver = createThreadedSolver();
  await solver.close();
  expect(await solver.minimize(program(4))).toMatchObject({ kind: 'optimal', objective: 12 });
  await solver.close();
});

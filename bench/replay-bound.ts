import type { Solver } from '../src/ports/solver.ts';
import { fluidProgram } from '../src/policy/demand/fluid-bound.ts';
import { fits } from '../src/policy/placement/catalogue.ts';
import type { ReplayProblem } from './replay-problems.ts';

// Shapes and types are indices below the problem's counts, hence the `!`.

const HOUR_MS = 3_600_000;

/**
 * The work bound, in micro-dollars: the fluid relaxation with hours of work instead of tasks and
 * hours of hosts instead of hosts. No policy costs less, however long it lets work wait. Work that
 * no type admits is left out.
 */
export async function workBound(solver: Solver, problem: ReplayProblem): Promise<number> {
  const { types, shapes } = problem.input;
  const hours = new Float64Array(shapes.length);
  for (const { shape, runMs } of problem.demands) hours[shape]! += runMs / HOUR_MS;
  const fluid = shapes.map(({ need, mayOpen, mayVisit }, index) => {
    const allowed = Uint8Array.from(types, ({ capacity }, t) => {
      return mayOpen[t]! + mayVisit[t]! > 0 && fits(need, capacity) ? 1 : 0;
    });
    return { count: hours[index]!, tasks: 1, need, wholeHosts: false, allowed };
  });
  const resourceCount = types[0]?.capacity.length ?? 0;
  const program = fluidProgram({
    resourceCount,
    typeCount: types.length,
    capacity: Float64Array.from(types.flatMap(({ capacity }) => [...capacity])),
    hostsPerUnit: new Int32Array(types.length).fill(1),
    unitPrice: Float64Array.from(types, ({ priceMicroUsdPerHour }) => priceMicroUsdPerHour),
    unitsMin: new Int32Array(types.length),
    budgets: [],
    pooledRoom: new Float64Array(types.length * resourceCount),
    shapes: fluid.filter(({ allowed }) => allowed.includes(1)),
  });
  const outcome = await solver.minimize(program);
  if (outcome.kind !== 'optimal') throw new Error(`${problem.name}: no bound, ${outcome.kind}`);
  return outcome.objective;
}

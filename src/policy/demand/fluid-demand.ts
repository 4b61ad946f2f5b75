import type { DemandDecision } from '../../model/decision.ts';
import { onItsWay } from '../../model/slice.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { must } from '../../support/assert.ts';
import type { FluidProblem, FluidShape } from './fluid-bound.ts';
import { type DemandProblem, type JudgedPart, createProblem, openLedger } from './problem.ts';

/**
 * What a decision placed, as a problem without whole hosts: no plan that places the same work and
 * keeps the same minimum can cost less than its optimum. Spare and floors are left out, so a plan
 * that launches for them is further from the bound than it need be.
 */
export function toFluidProblem(snapshot: Snapshot, decision: DemandDecision): FluidProblem {
  const problem = createProblem(snapshot);
  const { groups, capacity, resources } = problem;
  const { rooms, budgets } = openLedger(problem);
  const pooledRoom = new Float64Array(groups.length * resources.length);
  groups.forEach((_, group) => {
    for (const { free, count } of rooms.view(group)) {
      free.forEach((room, k) => {
        const at = group * resources.length + k;
        pooledRoom[at] = (pooledRoom[at] ?? 0) + room * count;
      });
    }
  });
  addReserved(problem, pooledRoom);
  const flat = new Float64Array(groups.length * resources.length);
  capacity.forEach((vector, group) => flat.set(vector, group * resources.length));
  const own = groups.map((_, group) => {
    const use = new Float64Array(groups.length);
    use[group] = 1;
    return { left: budgets.headroom(group), use };
  });
  return {
    resourceCount: resources.length,
    typeCount: groups.length,
    capacity: flat,
    hostsPerUnit: Int32Array.from(groups, (group) => group.hostsPerSlice),
    unitPrice: Float64Array.from(groups, (group) => group.priceMicroUsdPerHour ?? 0),
    unitsMin: Int32Array.from(budgets.reserved),
    budgets: [...own, ...sharedBudgets(problem)],
    pooledRoom,
    shapes: problem.wants.flatMap(({ index, parts }) => {
      const { placed } = must(decision.classes[index], 'one verdict per class');
      const count = placed.reduce((sum, placement) => sum + placement.count, 0);
      return count === 0 ? [] : parts.map((part) => toShape(problem, part, count));
    }),
  };
}

/** Slices reserved for gangs are room too, though for these gangs alone. */
function addReserved(
  { groups, capacity, reservations, resources }: DemandProblem,
  pooledRoom: Float64Array,
): void {
  for (const slice of [...reservations.values()].flat()) {
    if (slice.status !== 'ready' && !onItsWay.has(slice.status)) continue;
    const group = groups.findIndex(({ name }) => name === slice.group);
    const host = capacity[group];
    const hosts = groups[group]?.hostsPerSlice ?? 0;
    host?.forEach((room, k) => {
      const at = group * resources.length + k;
      pooledRoom[at] = (pooledRoom[at] ?? 0) + room * hosts;
    });
  }
}

/** Shared bounds as they stand before anything is set aside for the minimum, which the LP launches too. */
function sharedBudgets(problem: DemandProblem): FluidProblem['budgets'] {
  const { budgets } = openLedger(problem);
  return budgets.shared.map(({ left, use }) => ({
    left: left + use.reduce((sum, each, group) => sum + each * (budgets.reserved[group] ?? 0), 0),
    use,
  }));
}

function toShape(problem: DemandProblem, part: JudgedPart, count: number): FluidShape {
  return {
    count,
    tasks: part.gangTasks ?? 1,
    need: must(problem.needs[part.index], 'a part index'),
    wholeHosts: part.gangTasks !== null,
    allowed: part.admitted,
  };
}

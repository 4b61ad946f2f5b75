import type { EntryForm } from '../model/demand.ts';
import type { Group } from '../model/group.ts';
import { findMismatches, partsOf } from '../policy/demand/eligibility.ts';
import { type FluidProblem, type FluidShape, fluidProgram } from '../policy/demand/fluid-bound.ts';
import type { Solver } from '../ports/solver.ts';
import { byText } from '../support/order.ts';

/** What the work that was done could have cost at least. */
export type WorkBound =
  | {
      readonly kind: 'known';
      readonly boundMicroUsd: number;
      /** Cost over bound; null when the bound is 0. */
      readonly ratio: number | null;
    }
  | { readonly kind: 'unknown'; readonly detail: string };

const HOUR_MS = 3_600_000;
/** A solver is exact to about a millionth; what is more is a mistake and is said. */
const SOLVER_TOLERANCE = 1e-5;
/** More would keep the solver busy for longer than the simulation. */
const SHAPES_MAX = 20_000;

/**
 * The fluid program over the whole run: hours of work on hours of slices, which may be split at will.
 * No fleet, however clever and however ready its clouds, can have done the same work for less.
 */
export async function measureWorkBound(
  solver: Solver,
  {
    groups,
    work,
    hours,
    costMicroUsd,
  }: {
    readonly groups: readonly Group[];
    /** Milliseconds run to some purpose, by what was asked for. */
    readonly work: ReadonlyMap<EntryForm, number>;
    readonly hours: number;
    readonly costMicroUsd: number;
  },
): Promise<WorkBound> {
  const unpriced = groups.find(({ priceMicroUsdPerHour }) => priceMicroUsdPerHour === null);
  if (unpriced !== undefined) {
    return { kind: 'unknown', detail: `${unpriced.name} has no pricePerHour` };
  }
  if (work.size > SHAPES_MAX) return { kind: 'unknown', detail: `${work.size} shapes of work` };
  const outcome = await solver.minimize(fluidProgram(toFluidProblem(groups, work, hours)));
  if (outcome.kind !== 'optimal') {
    return { kind: 'unknown', detail: outcome.kind === 'failed' ? outcome.detail : outcome.kind };
  }
  const bound = Math.max(0, outcome.objective);
  if (bound > costMicroUsd * (1 + SOLVER_TOLERANCE) + 1) {
    const detail = `the bound came out above the cost: ${bound} > ${costMicroUsd}`;
    return { kind: 'unknown', detail };
  }
  const boundMicroUsd = Math.min(bound, costMicroUsd);
  return { kind: 'known', boundMicroUsd, ratio: bound < 1 ? null : costMicroUsd / boundMicroUsd };
}

function toFluidProblem(
  groups: readonly Group[],
  work: ReadonlyMap<EntryForm, number>,
  hours: number,
): FluidProblem {
  const names = new Set(groups.flatMap(({ host }) => Object.keys(host)));
  for (const form of work.keys()) {
    for (const { need } of partsOf(form)) for (const name in need) names.add(name);
  }
  const resources = [...names].sort(byText);
  const capacity = groups.flatMap(({ host }) => resources.map((name) => host[name] ?? 0));
  return {
    resourceCount: resources.length,
    typeCount: groups.length,
    capacity: Float64Array.from(capacity),
    hostsPerUnit: Int32Array.from(groups, ({ hostsPerSlice }) => hostsPerSlice),
    unitPrice: Float64Array.from(groups, ({ priceMicroUsdPerHour }) => priceMicroUsdPerHour ?? 0),
    // Slices that a minimum keeps are no work: what they cost beyond it is told as such.
    unitsMin: new Int32Array(groups.length),
    budgets: groups.map(({ max }, index) => {
      const use = new Float64Array(groups.length);
      use[index] = 1;
      return { left: Math.ceil(max * hours) + 1, use };
    }),
    pooledRoom: new Float64Array(capacity.length),
    shapes: [...work].flatMap(([form, ms]) => toShapes(form, ms / HOUR_MS, { groups, resources })),
  };
}

function toShapes(
  form: EntryForm,
  hours: number,
  {
    groups,
    resources,
  }: { readonly groups: readonly Group[]; readonly resources: readonly string[] },
): readonly FluidShape[] {
  return partsOf(form).map((part): FluidShape => {
    return {
      count: hours,
      tasks: part.gangTasks ?? 1,
      need: Float64Array.from(resources, (name) => part.need[name] ?? 0),
      wholeHosts: part.gangTasks !== null,
      allowed: Uint8Array.from(groups, (group) => Number(findMismatches(part, group).length === 0)),
    };
  });
}

import type { DemandDecision } from '../model/decision.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { fluidProgram } from '../policy/demand/fluid-bound.ts';
import { toFluidProblem } from '../policy/demand/fluid-demand.ts';
import type { Solver } from '../ports/solver.ts';

/** How far a plan is from what no plan can beat. */
export type BoundOutcome =
  | {
      readonly kind: 'known';
      readonly boundMicroUsdPerHour: number;
      /** Cost over bound; 1 when both are 0. */
      readonly ratio: number;
    }
  | {
      readonly kind: 'unknown';
      readonly why: 'no-price' | 'solver-failed';
      readonly detail: string;
    };

/** A solver is exact to about a millionth; what is more is a mistake and is said. */
const SOLVER_TOLERANCE = 1e-5;

/** Computes the lower bound on the cost of a decision. Beside the tick: no decision waits for it. */
export async function measureBound(
  solver: Solver,
  snapshot: Snapshot,
  decision: DemandDecision,
): Promise<BoundOutcome> {
  const unpriced = snapshot.fleet.groups.find((group) => group.priceMicroUsdPerHour === null);
  if (unpriced !== undefined) {
    return { kind: 'unknown', why: 'no-price', detail: `${unpriced.name} has no pricePerHour` };
  }
  const outcome = await solver.minimize(fluidProgram(toFluidProblem(snapshot, decision)));
  if (outcome.kind !== 'optimal') {
    const detail = outcome.kind === 'failed' ? outcome.detail : outcome.kind;
    return { kind: 'unknown', why: 'solver-failed', detail };
  }
  const cost = decision.costMicroUsdPerHour;
  const bound = Math.max(0, outcome.objective);
  if (bound > cost * (1 + SOLVER_TOLERANCE) + 1) {
    const detail = `the bound came out above the cost: ${bound} > ${cost}`;
    return { kind: 'unknown', why: 'solver-failed', detail };
  }
  const boundMicroUsdPerHour = Math.min(bound, cost);
  const ratio = boundMicroUsdPerHour < 1 ? (cost < 1 ? 1 : Infinity) : cost / boundMicroUsdPerHour;
  return { kind: 'known', boundMicroUsdPerHour, ratio };
}

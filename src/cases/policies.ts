import type { z } from 'zod';
import type { Strategy } from '../model/fleet.ts';
import { decideDemand } from '../policy/demand/decide.ts';
import { planUtilization } from '../policy/demand/utilization/plan.ts';
import { demandGiven, toSnapshot } from './demand-given.ts';
import { toDemandResult } from './demand-result.ts';
import { utilizationGiven } from './utilization-given.ts';

/** What became of handing a policy its `given`. */
export type PolicyOutcome =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'bad'; readonly issues: readonly string[] };

export type PolicyRun = (given: unknown) => PolicyOutcome;

/** Problems of one case that are worth reading at once. */
const ISSUES_SHOWN = 5;

function policy<Given>(schema: z.ZodType<Given>, run: (given: Given) => unknown): PolicyRun {
  return (given) => {
    const parsed = schema.safeParse(given);
    if (parsed.success) return { kind: 'result', result: run(parsed.data) };
    const issues = parsed.error.issues
      .slice(0, ISSUES_SHOWN)
      .map(({ path, message }) => `${['given', ...path].join('.')}: ${message}`);
    return { kind: 'bad', issues };
  };
}

const demandPolicy = (strategy: Strategy): PolicyRun =>
  policy(demandGiven(strategy), (given) => {
    const snapshot = toSnapshot(given, strategy);
    return toDemandResult(snapshot, decideDemand(snapshot));
  });

/** The policies that `bellows test` can run, by the name a case gives. */
export const policies: Readonly<Record<string, PolicyRun>> = {
  priority: demandPolicy('priority'),
  cost: demandPolicy('cost'),
  utilization: policy(utilizationGiven, planUtilization),
};

/** Names the case format reserves for policies that this version does not have. */
export const laterPolicies: readonly string[] = [
  'pressure',
  'replicas-recommend',
  'replicas-run',
  'replicas-ratio',
  'histogram-quantile',
  'cost-mix',
];

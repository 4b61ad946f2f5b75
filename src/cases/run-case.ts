import { nearestName } from '../support/nearest.ts';
import { type Difference, findDifferences } from './compare.ts';
import { laterPolicies, policies } from './policies.ts';

export interface Case {
  readonly id: string;
  readonly policy: string;
  readonly given: unknown;
  /** Absent when the case only shows its result. */
  readonly expect?: unknown;
}

/** What became of one case. Without an expectation it holds. */
export type CaseOutcome =
  | { readonly kind: 'held'; readonly result: unknown }
  | { readonly kind: 'shown'; readonly result: unknown }
  | {
      readonly kind: 'failed';
      readonly result: unknown;
      readonly differences: readonly Difference[];
    }
  | { readonly kind: 'bad'; readonly message: string };

export function runCase(one: Case): CaseOutcome {
  const run = Object.hasOwn(policies, one.policy) ? policies[one.policy] : undefined;
  if (run === undefined) return { kind: 'bad', message: explainUnknown(one.policy) };
  const outcome = run(one.given);
  if (outcome.kind === 'bad') return { kind: 'bad', message: outcome.issues.join('; ') };
  const { result } = outcome;
  if (!Object.hasOwn(one, 'expect')) return { kind: 'shown', result };
  const differences = findDifferences(one.expect, result);
  return differences.length === 0
    ? { kind: 'held', result }
    : { kind: 'failed', result, differences };
}

function explainUnknown(policy: string): string {
  const known = Object.keys(policies);
  if (laterPolicies.includes(policy)) {
    return `policy "${policy}" is not in this version; it has ${known.join(', ')}`;
  }
  const nearest = nearestName(policy, known);
  const hint = nearest === null ? '' : ` (did you mean "${nearest}"?)`;
  return `unknown policy "${policy}"${hint}; known: ${known.join(', ')}`;
}

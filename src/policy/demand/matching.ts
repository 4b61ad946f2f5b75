import type { Ask } from '../../model/demand.ts';
import type { Group } from '../../model/group.ts';
import type { Exclusion } from '../../model/reason.ts';
import { must } from '../../support/assert.ts';
import { countSatisfied, findAskMismatches, isAskAdmitted } from './eligibility.ts';

/** One ask against every group: the rules on device, capacity and attributes, sizes left aside. */
export interface Matching {
  /** 1 where no rule of the group is against the ask. */
  readonly admitted: Uint8Array;
  /** Soft constraints satisfied, by group. */
  readonly soft: Uint8Array;
  /** The rules against the ask in one group. */
  mismatches(group: number): readonly Exclusion[];
}

/**
 * Matches asks with groups, once for each distinct set of wishes: five hundred shapes of work are
 * told apart by size more than by where they may run.
 */
export function createMatcher(groups: readonly Group[]): (ask: Ask) => Matching {
  const known = new Map<string, Matching>();
  return (ask) => {
    const wishes = JSON.stringify([ask.device, ask.preemptible, ask.constraints]);
    let matching = known.get(wishes);
    if (matching === undefined) known.set(wishes, (matching = matchAll(ask, groups)));
    return matching;
  };
}

const none: readonly Exclusion[] = [];

function matchAll(ask: Ask, groups: readonly Group[]): Matching {
  const rules: (readonly Exclusion[] | undefined)[] = [];
  const admitted = new Uint8Array(groups.length);
  const soft = new Uint8Array(groups.length);
  groups.forEach((group, index) => {
    admitted[index] = isAskAdmitted(ask, group) ? 1 : 0;
    soft[index] = countSatisfied(ask, group);
  });
  return {
    admitted,
    soft,
    mismatches: (group) =>
      admitted[group] === 1
        ? none
        : (rules[group] ??= findAskMismatches(ask, must(groups[group], 'a group index'))),
  };
}

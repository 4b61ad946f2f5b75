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

type Matcher = (ask: Ask) => Matching;

/** Groups and asks stay the same objects from tick to tick, and so does what they make of each other. */
const matchers = new WeakMap<readonly Group[], Matcher>();
/** Distinct wishes remembered at a time; those of work that is pending are, in any case. */
const WISHES_MAX = 1_000;

/**
 * Matches asks with groups, once for each distinct set of wishes: five hundred shapes of work are
 * told apart by size more than by where they may run.
 */
export function createMatcher(groups: readonly Group[]): Matcher {
  let matcher = matchers.get(groups);
  if (matcher === undefined) matchers.set(groups, (matcher = openMatcher(groups)));
  return matcher;
}

function openMatcher(groups: readonly Group[]): Matcher {
  const byAsk = new WeakMap<Ask, Matching>();
  const byWishes = new Map<string, Matching>();
  return (ask) => {
    let matching = byAsk.get(ask);
    if (matching !== undefined) return matching;
    const wishes = JSON.stringify([ask.device, ask.preemptible, ask.constraints]);
    matching = byWishes.get(wishes);
    if (matching === undefined) {
      if (byWishes.size >= WISHES_MAX) byWishes.clear();
      byWishes.set(wishes, (matching = matchAll(ask, groups)));
    }
    byAsk.set(ask, matching);
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

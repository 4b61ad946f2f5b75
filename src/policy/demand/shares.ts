import { must } from '../../support/assert.ts';
import type { DemandProblem, JudgedPart, Want } from './problem.ts';

// Part and group indices are in range by construction of the problem, hence the `!` on lookups.

/**
 * What an entry would cost per hour in a group, in micro-dollars: the price of the part of a host
 * that it blocks (its dominant share), or of whole slices for a gang that must own them. Null when
 * the group has no price.
 */
export function entryShare(problem: DemandProblem, want: Want, group: number): number | null {
  const { priceMicroUsdPerHour: price, hostsPerSlice } = must(
    problem.groups[group],
    'a group index',
  );
  if (price === null) return null;
  let hosts = 0;
  for (const part of want.parts) {
    const ownsSlices = part.gangTasks !== null && hostsPerSlice > 1;
    const perTask = ownsSlices ? 1 : dominantShare(problem, part, group);
    hosts += perTask * (part.gangTasks ?? 1);
  }
  return Math.round((price / hostsPerSlice) * hosts);
}

/** The largest fraction of any resource of an empty host that one task takes, from 0 to 1. */
export function dominantShare(problem: DemandProblem, part: JudgedPart, group: number): number {
  const need = problem.needs[part.index]!;
  const capacity = problem.capacity[group]!;
  let share = 0;
  for (let k = 0; k < need.length; k++) {
    if (need[k]! > 0) share = Math.max(share, need[k]! / capacity[k]!);
  }
  return share;
}

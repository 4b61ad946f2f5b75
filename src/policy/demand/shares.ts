import { must } from '../../support/assert.ts';
import type { DemandProblem, Want } from './problem.ts';

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
    const perTask = ownsSlices ? 1 : part.share(group);
    hosts += perTask * (part.gangTasks ?? 1);
  }
  return Math.round((price / hostsPerSlice) * hosts);
}

import type { Group } from '../../model/group.ts';
import type { Exclusion } from '../../model/reason.ts';
import { must } from '../../support/assert.ts';
import {
  type Part,
  findShapeMismatch,
  findSizeMismatch,
  hasAccelerator,
  joinMismatches,
  needsDevice,
} from './eligibility.ts';
import { fitCopies } from './host-list.ts';
import { type Matching, createMatcher } from './matching.ts';
import type { JudgedPart } from './problem.ts';

/** The part of a judgement that parts alike in wishes and in what they fit have in common. */
type Standing = Pick<JudgedPart, 'admitted' | 'ranked' | 'rankOf' | 'hasSoft' | 'soft'>;

/**
 * Judges parts against all groups. Groups with equal hosts are measured once, and parts with the
 * same wishes that fit the same hosts share one standing: machines differ less than places do, and
 * shapes of work more in size than in where they may run.
 */
export function createJudge(
  groups: readonly Group[],
  capacity: readonly Float64Array[],
): (part: Part, sized: { readonly index: number; readonly need: Float64Array }) => JudgedPart {
  const match = createMatcher(groups);
  const rank = createRanking(groups);
  const { hosts, hostOf } = listHosts(capacity);
  const known = new Map<Matching, Map<string, Standing>>();
  const groupAt = (index: number): Group => must(groups[index], 'a group index');
  return (part, { index, need }) => {
    const matchings = part.asks.map(match);
    // By host, '1' where an empty one holds the part.
    let fits = '';
    for (const host of hosts) fits += fitCopies(host, need) > 0 ? '1' : '0';
    const isFit = (group: number): boolean => fits[hostOf[group] ?? -1] === '1';
    const shares = hosts.map((host) => dominantShare(host, need));
    const [only] = matchings.length === 1 ? matchings : [];
    const alike = only && (known.get(only) ?? new Map<string, Standing>());
    const key = `${fits} ${part.gangTasks ?? ''}`;
    const standing = alike?.get(key) ?? rank(part, matchings, isFit);
    if (only && alike) known.set(only, alike.set(key, standing));
    const sizeRules: (Exclusion | null)[] = [];
    const findSize = (group: number): Exclusion | null =>
      isFit(group)
        ? null
        : (sizeRules[hostOf[group] ?? -1] ??= findSizeMismatch(part, groupAt(group)));
    return {
      asks: part.asks,
      need: part.need,
      gangTasks: part.gangTasks,
      index,
      admitted: standing.admitted,
      ranked: standing.ranked,
      rankOf: standing.rankOf,
      hasSoft: standing.hasSoft,
      soft: standing.soft,
      share: (group) => shares[hostOf[group] ?? -1] ?? 0,
      mismatchCount(group) {
        const ofShape = findShapeMismatch(part, groupAt(group)) === null ? 0 : 1;
        let count = ofShape + (isFit(group) ? 0 : 1);
        for (const matching of matchings) count += matching.mismatches(group).length;
        return count;
      },
      firstMismatch(group) {
        for (const matching of matchings) {
          const rule = matching.mismatches(group)[0];
          if (rule !== undefined) return rule;
        }
        return findShapeMismatch(part, groupAt(group)) ?? findSize(group);
      },
      mismatches(group) {
        const ofAsks = matchings.map((matching) => matching.mismatches(group));
        return joinMismatches(ofAsks, [findShapeMismatch(part, groupAt(group)), findSize(group)]);
      },
    };
  };
}

/** The distinct empty hosts of a fleet, and which of them each group has. */
function listHosts(capacity: readonly Float64Array[]): {
  readonly hosts: readonly Float64Array[];
  readonly hostOf: Int32Array;
} {
  const hosts: Float64Array[] = [];
  const known = new Map<string, number>();
  const hostOf = Int32Array.from(capacity, (host) => {
    const key = host.join();
    const index = known.get(key) ?? hosts.push(host) - 1;
    known.set(key, index);
    return index;
  });
  return { hosts, hostOf };
}

/** The largest fraction of any resource of an empty host that one task takes. */
function dominantShare(host: Float64Array, need: Float64Array): number {
  let share = 0;
  for (let k = 0; k < need.length; k++) {
    const each = need[k] ?? 0;
    if (each > 0) share = Math.max(share, each / (host[k] ?? 0));
  }
  return share;
}

type Rank = (
  part: Part,
  matchings: readonly Matching[],
  isFit: (group: number) => boolean,
) => Standing;

/** Finds and ranks the groups that admit a part. */
function createRanking(groups: readonly Group[]): Rank {
  const groupAt = (index: number): Group => must(groups[index], 'a group index');
  const normalOrder = groups
    .map((_, index) => index)
    .sort((a, b) => groupAt(a).priority - groupAt(b).priority || a - b);
  // Work that needs no accelerator leaves groups that have one to the last.
  const sparingOrder = [
    ...normalOrder.filter((index) => !hasAccelerator(groupAt(index))),
    ...normalOrder.filter((index) => hasAccelerator(groupAt(index))),
  ];
  return (part, matchings, isFit) => {
    const soft = sumSoft(matchings, groups.length);
    const order = part.asks.some(needsDevice) ? normalOrder : sparingOrder;
    const ranked = order.filter(
      (index) =>
        matchings.every((matching) => matching.admitted[index] === 1) &&
        isFit(index) &&
        findShapeMismatch(part, groupAt(index)) === null,
    );
    const hasSoft = part.asks.some((ask) => ask.constraints.some((constraint) => constraint.soft));
    if (hasSoft) ranked.sort((a, b) => (soft[b] ?? 0) - (soft[a] ?? 0));
    const admitted = new Uint8Array(groups.length);
    const rankOf = new Int32Array(groups.length).fill(-1);
    ranked.forEach((group, place) => {
      admitted[group] = 1;
      rankOf[group] = place;
    });
    return { admitted, ranked, rankOf, hasSoft, soft };
  };
}

/** Soft constraints that the asks find satisfied, together. */
function sumSoft(matchings: readonly Matching[], groupCount: number): Uint8Array {
  const sum = new Uint8Array(groupCount);
  for (const { soft } of matchings)
    soft.forEach((count, index) => (sum[index] = (sum[index] ?? 0) + count));
  return sum;
}

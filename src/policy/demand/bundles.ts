import type { BundleStrategy } from '../../model/demand.ts';
import type { RoomKind } from '../../model/reason.ts';
import { assert, must } from '../../support/assert.ts';
import { byFirst, byNumber } from '../../support/order.ts';
import type { Allocation, Berth } from './allocation.ts';
import { judge } from './judge.ts';
import type { GroupOrder } from './place.ts';
import type { DemandProblem, JudgedPart, Want } from './problem.ts';

/**
 * Places one entry of bundles, all parts or none. PACK and STRICT_PACK share hosts as they come;
 * SPREAD uses different hosts where room allows but buys none for it; STRICT_SPREAD never puts two
 * parts on one host. The parts may go to different groups. Hardest part first.
 */
export function placeBundles(
  problem: DemandProblem,
  allocation: Allocation,
  want: Want,
  order: GroupOrder,
): boolean {
  assert(want.form.kind === 'bundles', 'only bundles come here');
  const { strategy } = want.form;
  const berths: Berth[] = [];
  const isPlaced = allocation.attempt(() => {
    const hosts = new Set<object>();
    for (const part of hardestFirst(want.parts)) {
      const berth = placePart(allocation, part, { strategy, hosts, groups: order(part) });
      if (berth === null) {
        // Told here, with the entry's other parts in place: afterwards each part alone might fit.
        const { budgets } = allocation.ledger;
        const rules = problem.groups.map((_, group) => judge(part, { group, slices: 1 }, budgets));
        allocation.stuck.set(want.index, { part, rules });
        return false;
      }
      berths.push(berth);
    }
    return true;
  });
  if (isPlaced) allocation.place(want, 1, mergeBerths(berths));
  return isPlaced;
}

function hardestFirst(parts: readonly JudgedPart[]): readonly JudgedPart[] {
  const hardness = new Map(
    parts.map((part) => [part, Math.min(1, ...part.ranked.map((group) => part.share(group)))]),
  );
  return [...parts].sort(
    byFirst<JudgedPart>(
      byNumber((part) => part.ranked.length),
      byNumber((part) => -must(hardness.get(part), 'a part of the entry')),
      byNumber((part) => part.index),
    ),
  );
}

interface PartPlan {
  readonly strategy: BundleStrategy;
  /** Hosts that hold a part of the same entry already. */
  readonly hosts: Set<object>;
  readonly groups: readonly number[];
}

function placePart(
  allocation: Allocation,
  part: JudgedPart,
  { strategy, hosts, groups }: PartPlan,
): Berth | null {
  const { rooms, budgets } = allocation.ledger;
  const isSpread = strategy === 'SPREAD' || strategy === 'STRICT_SPREAD';
  const onOtherHost = (group: number): RoomKind | null => {
    const taken = rooms.takeOne(group, part.index, hosts);
    if (taken === null) return null;
    hosts.add(taken.host);
    return taken.kind;
  };
  const onAnyHost = (group: number): RoomKind | null =>
    rooms.take(group, part.index, 1)[0]?.kind ?? null;
  const ways = isSpread ? [onOtherHost] : [onAnyHost];
  if (strategy === 'SPREAD') ways.push(onAnyHost);
  for (const way of ways) {
    for (const group of groups) {
      const room = way(group);
      if (room !== null) return { group, room, tasks: 1 };
    }
  }
  const group = groups.find((candidate) => budgets.openable(candidate) > 0);
  if (group === undefined) return null;
  allocation.open(group, 1);
  const room = must(must(ways[0], 'one way at least')(group), 'a new host admits the part');
  return { group, room, tasks: 1 };
}

/** Parts on the same kind of room in the same group, counted together. */
export function mergeBerths(berths: readonly Berth[]): readonly Berth[] {
  const merged: Berth[] = [];
  for (const berth of berths) {
    const index = merged.findIndex(
      ({ group, room }) => group === berth.group && room === berth.room,
    );
    const same = merged[index];
    if (same === undefined) merged.push(berth);
    else merged[index] = { ...same, tasks: same.tasks + 1 };
  }
  return merged;
}

import { assert } from '../../../support/assert.ts';
import type { PackBudget, PackedHosts, PackProblem } from './pack-problem.ts';
import { classifyTypes, columnKeys, type TypeClasses, unitsWithin } from './type-classes.ts';

// Arrays are indexed by shapes, types and resources below the problem's counts, hence the `!`.

/**
 * The problem as the search sees it: types are classes of interchangeable types, budgets of one
 * type are a number, and prices are per host.
 */
export interface PackModel {
  readonly resourceCount: number;
  readonly shapeCount: number;
  readonly typeCount: number;
  readonly need: Float64Array;
  readonly count: Int32Array;
  readonly capacity: Float64Array;
  /** Per type: its row of the capacity. */
  readonly hosts: readonly Float64Array[];
  readonly hostsPerUnit: Int32Array;
  readonly unitPrice: Float64Array;
  readonly hostPrice: Float64Array;
  /** Types by price of a host. */
  readonly cheapestFirst: Int32Array;
  readonly unitsMax: Float64Array;
  readonly allowed: Uint8Array;
  readonly allowedInRoom: Uint8Array;
  /** Budgets over several types. */
  readonly budgets: readonly PackBudget[];
  /** Per type: the largest share that one copy takes of any resource; by shape, then type. */
  readonly dominant: Float64Array;
  /** Per shape: the type where a copy is cheapest alone, among those that may open; -1 if none. */
  readonly cheapest: Int32Array;
  readonly classes: TypeClasses;
}

export function toPackModel(problem: PackProblem): PackModel {
  const { resourceCount, shapeCount, typeCount, need, count } = problem;
  const asNew = columnKeys(problem.allowed, typeCount);
  const asRooms = columnKeys(problem.allowedInRoom, typeCount);
  const classes = classifyTypes(problem, (type) => asNew[type]! + asRooms[type]!);
  const firsts = classes.members.map((types) => types[0]!);
  const pick = (from: Uint8Array): Uint8Array => {
    if (firsts.length === typeCount) return from;
    const picked = new Uint8Array(shapeCount * firsts.length);
    for (let shape = 0; shape < shapeCount; shape++) {
      for (let index = 0; index < firsts.length; index++) {
        picked[shape * firsts.length + index] = from[shape * typeCount + firsts[index]!]!;
      }
    }
    return picked;
  };
  const capacity = new Float64Array(firsts.length * resourceCount);
  for (const [index, type] of firsts.entries()) {
    const row = problem.capacity.subarray(type * resourceCount, (type + 1) * resourceCount);
    capacity.set(row, index * resourceCount);
  }
  const hostsPerUnit = Int32Array.from(firsts, (type) => problem.hostsPerUnit[type]!);
  const unitPrice = Float64Array.from(firsts, (type) => problem.unitPrice[type]!);
  const hostPrice = unitPrice.map((price, type) => price / hostsPerUnit[type]!);
  const unitsMax = Float64Array.from(classes.members, (types, index) => {
    const own = types.reduce((sum, type) => sum + classes.unitsMax[type]!, 0);
    // No budget lets a type alone have more than this; where it is 0, the type is out from the start.
    return classes.shared.reduce((most, { left, use }) => {
      return use[index]! > 0 ? Math.min(most, unitsWithin(left, use[index]!)) : most;
    }, own);
  });
  const allowed = pick(problem.allowed);
  const dominant = dominantShares({ resourceCount, need, count, capacity, allowed });
  return {
    resourceCount,
    shapeCount,
    typeCount: firsts.length,
    need,
    count,
    capacity,
    hosts: firsts.map((_, type) =>
      capacity.subarray(type * resourceCount, (type + 1) * resourceCount),
    ),
    hostsPerUnit,
    unitPrice,
    hostPrice,
    cheapestFirst: Int32Array.from(firsts.keys()).sort(
      (a, b) => hostPrice[a]! - hostPrice[b]! || a - b,
    ),
    unitsMax,
    allowed,
    allowedInRoom: pick(problem.allowedInRoom),
    budgets: classes.shared,
    dominant,
    cheapest: cheapestAlone({ shapeCount, allowed, dominant, hostPrice, unitsMax }),
    classes,
  };
}

function cheapestAlone(
  model: Pick<PackModel, 'shapeCount' | 'allowed' | 'dominant' | 'hostPrice' | 'unitsMax'>,
): Int32Array {
  const { shapeCount, allowed, dominant, hostPrice, unitsMax } = model;
  const typeCount = hostPrice.length;
  const cheapest = new Int32Array(shapeCount).fill(-1);
  for (let shape = 0; shape < shapeCount; shape++) {
    let least = Infinity;
    for (let type = 0; type < typeCount; type++) {
      const pair = shape * typeCount + type;
      if (allowed[pair] === 0 || unitsMax[type]! <= 0) continue;
      const price = hostPrice[type]! * dominant[pair]!;
      if (price >= least) continue;
      least = price;
      cheapest[shape] = type;
    }
  }
  return cheapest;
}

function dominantShares(
  model: Pick<PackModel, 'resourceCount' | 'need' | 'count' | 'capacity' | 'allowed'>,
): Float64Array {
  const { resourceCount, need, count, capacity, allowed } = model;
  const dominant = new Float64Array(allowed.length);
  const typeCount = count.length === 0 ? 0 : allowed.length / count.length;
  for (let shape = 0; shape < count.length; shape++) {
    for (let type = 0; type < typeCount; type++) {
      if (allowed[shape * typeCount + type] === 0) continue;
      let most = 0;
      for (let k = 0; k < resourceCount; k++) {
        const needed = need[shape * resourceCount + k]!;
        const room = capacity[type * resourceCount + k]!;
        assert(needed <= room, 'a shape is allowed only where an empty host is large enough');
        // What needs nothing of a resource takes no share, even of a capacity of 0.
        if (needed > 0) most = Math.max(most, needed / room);
      }
      dominant[shape * typeCount + type] = most;
    }
  }
  return dominant;
}

/** Deals the hosts of each class out to its types, whole units at a time, in order of the types. */
export function toTypes<Hosts extends PackedHosts & { readonly type: number }>(
  model: PackModel,
  hosts: readonly Hosts[],
): Hosts[] {
  const { members, unitsMax } = model.classes;
  const member = new Int32Array(model.typeCount);
  const roomLeft = Float64Array.from(members, (types, index) => {
    return unitsMax[types[0]!]! * model.hostsPerUnit[index]!;
  });
  const dealt: Hosts[] = [];
  for (const group of hosts) {
    let count = group.count;
    while (count > 0) {
      const types = members[group.type]!;
      const type = types[member[group.type]!]!;
      const taken = Math.min(count, roomLeft[group.type]!);
      if (taken > 0) dealt.push({ ...group, type, count: taken });
      count -= taken;
      roomLeft[group.type] = roomLeft[group.type]! - taken;
      if (count === 0) continue;
      const next = ++member[group.type]!;
      roomLeft[group.type] = unitsMax[types[next]!]! * model.hostsPerUnit[group.type]!;
    }
  }
  return dealt;
}

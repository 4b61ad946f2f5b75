import { assert } from '../../../support/assert.ts';
import type { PackBudget, PackedHosts, PackProblem } from './pack-problem.ts';
import { bitKey, classifyTypes, type TypeClasses, unitsWithin } from './type-classes.ts';

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
  readonly hostsPerUnit: Int32Array;
  readonly unitPrice: Float64Array;
  readonly hostPrice: Float64Array;
  /** Whether any type has several hosts per unit. */
  readonly hasLargeUnits: boolean;
  readonly unitsMax: Float64Array;
  readonly allowed: Uint8Array;
  readonly allowedInRoom: Uint8Array;
  /** Budgets over several types. */
  readonly budgets: readonly PackBudget[];
  /** Per type: the largest share that one copy takes of any resource; by shape, then type. */
  readonly dominant: Float64Array;
  readonly classes: TypeClasses;
}

export function toPackModel(problem: PackProblem): PackModel {
  const { resourceCount, shapeCount, typeCount, need, count } = problem;
  const classes = classifyTypes(problem, (type) => {
    const at = (shape: number): number => shape * typeCount + type;
    const isAllowed = bitKey(shapeCount, (shape) => problem.allowed[at(shape)]!);
    return isAllowed + bitKey(shapeCount, (shape) => problem.allowedInRoom[at(shape)]!);
  });
  const firsts = classes.members.map((types) => types[0]!);
  const pick = (from: Uint8Array): Uint8Array => {
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
  const allowed = pick(problem.allowed);
  return {
    resourceCount,
    shapeCount,
    typeCount: firsts.length,
    need,
    count,
    capacity,
    hostsPerUnit,
    unitPrice,
    hostPrice: unitPrice.map((price, type) => price / hostsPerUnit[type]!),
    hasLargeUnits: hostsPerUnit.some((hosts) => hosts > 1),
    unitsMax: Float64Array.from(classes.members, (types, index) => {
      const own = types.reduce((sum, type) => sum + classes.unitsMax[type]!, 0);
      // No budget lets a type alone have more than this; where it is 0, the type is out from the start.
      return classes.shared.reduce((most, { left, use }) => {
        return use[index]! > 0 ? Math.min(most, unitsWithin(left, use[index]!)) : most;
      }, own);
    }),
    allowed,
    allowedInRoom: pick(problem.allowedInRoom),
    budgets: classes.shared,
    dominant: dominantShares({ resourceCount, need, count, capacity, allowed }),
    classes,
  };
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

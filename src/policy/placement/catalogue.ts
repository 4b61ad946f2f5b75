import { assert } from '../../support/assert.ts';
import type { GroupName } from '../../model/ids.ts';

// Arrays are indexed by shapes, types and resources below the catalogue's counts, hence the `!`.

/** Quantities in a fixed order of resources, integers in each resource's smallest unit. */
export type ResourceVector = Float64Array;

/** What can be opened: one host of a group, or a slice that a gang takes as a whole. */
export interface HostType {
  readonly name: GroupName;
  readonly capacity: ResourceVector;
  readonly priceMicroUsdPerHour: number;
}

/** Work alike in all that matters for where it may run. */
export interface WorkShape {
  readonly need: ResourceVector;
  /** Per type: 1 where it may run and a host may be opened for it. */
  readonly mayOpen: Uint8Array;
  /**
   * Per type: 1 where it may use a hole, but never have a host opened or kept for it: a one-GPU job
   * on an eight-GPU host. It moves in only if that costs less than a host of its own.
   */
  readonly mayVisit: Uint8Array;
}

export interface CatalogueInput {
  readonly types: readonly HostType[];
  /** Numbered from 0; new shapes are appended, so that numbers stay what they were. */
  readonly shapes: readonly WorkShape[];
  /** The resource that counts accelerators; null in a fleet without any. */
  readonly deviceResource: number | null;
}

/** Types and shapes with what follows from them alone; made anew when either changes. */
export interface Catalogue extends CatalogueInput {
  readonly resourceCount: number;
  /** At `shape * types.length + type`: 1 where a host may be opened and is large enough. */
  readonly opens: Uint8Array;
  /** As `opens`, for holes. */
  readonly visits: Uint8Array;
  /** Per shape: the type on which it blocks the least money; -1 where none admits it. */
  readonly bestType: Int32Array;
  /** Per shape: what it blocks there, in micro-dollars per hour; 0 where no type admits it. */
  readonly worth: Float64Array;
  /** Per resource: the largest capacity of any type, at least 1. */
  readonly capacityMax: ResourceVector;
  /** The yardstick for what would otherwise be dollars; see `medianPrice`. */
  readonly priceMedian: number;
}

/** Judges every shape against every type once. */
export function createCatalogue(input: CatalogueInput): Catalogue {
  const { types, shapes } = input;
  assert(types.length > 0, 'a fleet has at least one group');
  const resourceCount = types[0]!.capacity.length;
  const opens = new Uint8Array(shapes.length * types.length);
  const visits = new Uint8Array(shapes.length * types.length);
  const bestType = new Int32Array(shapes.length).fill(-1);
  const worth = new Float64Array(shapes.length);
  for (const [s, shape] of shapes.entries()) {
    let best = Infinity;
    for (const [t, type] of types.entries()) {
      if (!fits(shape.need, type.capacity)) continue;
      visits[s * types.length + t] = shape.mayVisit[t]!;
      if (shape.mayOpen[t] === 0) continue;
      opens[s * types.length + t] = 1;
      const blocked = type.priceMicroUsdPerHour * dominantShare(shape.need, type.capacity);
      if (blocked >= best) continue;
      best = blocked;
      bestType[s] = t;
      worth[s] = blocked;
    }
  }
  const capacityMax = Float64Array.from({ length: resourceCount }, (_, k) => {
    return Math.max(1, ...types.map((type) => type.capacity[k]!));
  });
  const priceMedian = medianPrice(types);
  return { ...input, resourceCount, opens, visits, bestType, worth, capacityMax, priceMedian };
}

/** Whether `need` is within `free`, resource by resource. */
export function fits(need: ResourceVector, free: ResourceVector): boolean {
  for (let k = 0; k < need.length; k++) if (need[k]! > free[k]!) return false;
  return true;
}

/** The largest share of any one resource that `need` takes of `capacity`; 0 for no need at all. */
export function dominantShare(need: ResourceVector, capacity: ResourceVector): number {
  let share = 0;
  for (let k = 0; k < need.length; k++) {
    if (need[k]! > 0) share = Math.max(share, need[k]! / capacity[k]!);
  }
  return share;
}

/** Both quantities' difference; the result is new. */
export function without(free: ResourceVector, need: ResourceVector): ResourceVector {
  const rest = free.slice();
  for (let k = 0; k < need.length; k++) rest[k]! -= need[k]!;
  return rest;
}

/**
 * The middle price of the types, the lower one of two; at least one micro-dollar, so that a free
 * fleet can be divided by it. Limits are multiples of it and move with the fleet's prices.
 */
export function medianPrice(types: readonly HostType[]): number {
  const prices = types.map((type) => type.priceMicroUsdPerHour).sort((a, b) => a - b);
  return Math.max(1, prices[Math.floor((prices.length - 1) / 2)] ?? 1);
}

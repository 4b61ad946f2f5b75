import type { Content } from './fill.ts';
import type { PackModel } from './pack-model.ts';

// A kernel over flat arrays: indices are shapes, types and resources of the model, hence the `!`.

/** The shapes that go into hosts of a type, in the order in which quick fillings take them. */
export interface BulkOrder {
  readonly resourceCount: number;
  /** As in the model, by shape and resource. */
  readonly need: Float64Array;
  /** Those without copies left are dropped on the way. */
  readonly shapes: Int32Array;
  length: number;
  /** Per resource: the least that any of them needs. Where less is free, nothing fits. */
  readonly needMin: Float64Array;
  /** What the host filled last has left. */
  readonly free: Float64Array;
  /** Scratch: what goes into a host. */
  readonly kinds: number[];
  readonly copies: number[];
}

export interface BulkRequest {
  readonly type: number;
  /** `allowed` or `allowedInRoom` of the model. */
  readonly allowed: Uint8Array;
  /** Shapes in the order wanted: hardest first, as a rule. */
  readonly shapes: Int32Array;
  readonly left: Int32Array;
  /** The most that any of the hosts has free. */
  readonly room: Float64Array;
}

/** Valid while `left` only falls: shapes dropped for want of copies do not come back. */
export function toBulkOrder(model: PackModel, request: BulkRequest): BulkOrder {
  const { resourceCount, typeCount, need } = model;
  const { type, allowed, left, room } = request;
  const shapes = new Int32Array(request.shapes.length);
  const needMin = new Float64Array(resourceCount).fill(Infinity);
  let length = 0;
  for (let i = 0; i < request.shapes.length; i++) {
    const shape = request.shapes[i]!;
    if (left[shape] === 0 || allowed[shape * typeCount + type] === 0) continue;
    if (!fits(need, shape * resourceCount, room)) continue;
    shapes[length++] = shape;
    for (let k = 0; k < resourceCount; k++) {
      needMin[k] = Math.min(needMin[k]!, need[shape * resourceCount + k]!);
    }
  }
  const free = new Float64Array(resourceCount);
  return { resourceCount, need, shapes, length, needMin, free, kinds: [], copies: [] };
}

/**
 * Fills one host in one pass over the shapes, as many copies of each as fit, after one copy of the
 * seed (a shape, or -1). Rough beside `fillHost`, but ten thousand hosts take milliseconds.
 */
export function fillInBulk(
  order: BulkOrder,
  left: Int32Array,
  room: Float64Array,
  seed: number,
): Content {
  const { shapes, needMin, free, kinds, copies } = order;
  if (seed < 0 && lacksAny(room, needMin)) return nothing;
  for (let k = 0; k < free.length; k++) free[k] = room[k]!;
  let kindCount = 0;
  if (seed >= 0) {
    take(order, seed, 1);
    kinds[kindCount] = seed;
    copies[kindCount++] = 1;
  }
  let isWorn = false;
  let next = 0;
  for (let isFull = lacksAny(free, needMin); next < order.length && !isFull; next++) {
    const shape = shapes[next]!;
    const available = left[shape]!;
    if (available === 0) {
      isWorn = true;
      continue;
    }
    const count = copiesThatFit(order, shape, shape === seed ? available - 1 : available);
    if (count === 0) continue;
    take(order, shape, count);
    if (shape === seed) {
      copies[0] = 1 + count;
    } else {
      kinds[kindCount] = shape;
      copies[kindCount++] = count;
    }
    isFull = lacksAny(free, needMin);
  }
  if (isWorn) dropGone(order, left, next);
  return { shapes: kinds.slice(0, kindCount), copies: copies.slice(0, kindCount) };
}

const nothing: Content = { shapes: [], copies: [] };

/** Drops shapes without copies left from the first `seen`. */
function dropGone(order: BulkOrder, left: Int32Array, seen: number): void {
  const { shapes } = order;
  let kept = 0;
  for (let i = 0; i < seen; i++) if (left[shapes[i]!]! > 0) shapes[kept++] = shapes[i]!;
  shapes.copyWithin(kept, seen, order.length);
  order.length -= seen - kept;
}

function take({ resourceCount, need, free }: BulkOrder, shape: number, copies: number): void {
  for (let k = 0; k < resourceCount; k++) {
    free[k] = free[k]! - copies * need[shape * resourceCount + k]!;
  }
}

function fits(need: Float64Array, base: number, room: Float64Array): boolean {
  for (let k = 0; k < room.length; k++) if (need[base + k]! > room[k]!) return false;
  return true;
}

function lacksAny(free: Float64Array, needMin: Float64Array): boolean {
  for (let k = 0; k < free.length; k++) if (free[k]! < needMin[k]!) return true;
  return false;
}

/** The largest number of copies that fit, exact even where a quotient rounds up. */
function copiesThatFit(order: BulkOrder, shape: number, available: number): number {
  const { resourceCount, need, free } = order;
  const base = shape * resourceCount;
  if (!fits(need, base, free)) return 0;
  let copies = available;
  for (let k = 0; k < resourceCount; k++) {
    const needed = need[base + k]!;
    if (needed === 0) continue;
    copies = Math.min(copies, Math.floor(free[k]! / needed));
    if (copies * needed > free[k]!) copies--;
  }
  return copies;
}

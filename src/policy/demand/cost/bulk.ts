import type { Filling } from './fill.ts';
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
  return { resourceCount, need, shapes, length, needMin };
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
): Filling {
  const { shapes, needMin } = order;
  if (seed < 0 && lacksAny(room, needMin)) return nothing;
  const filling: Draft = { shapes: [], copies: [], free: room.slice() };
  const { free } = filling;
  if (seed >= 0) put(order, filling, seed, 1);
  let kept = 0;
  let next = 0;
  let isFull = lacksAny(free, needMin);
  for (; next < order.length && !isFull; next++) {
    const shape = shapes[next]!;
    const available = left[shape]!;
    if (available === 0) continue;
    shapes[kept++] = shape;
    const count = copiesThatFit(order, free, shape, shape === seed ? available - 1 : available);
    if (count === 0) continue;
    put(order, filling, shape, count);
    isFull = lacksAny(free, needMin);
  }
  if (kept < next) {
    shapes.copyWithin(kept, next, order.length);
    order.length -= next - kept;
  }
  return filling;
}

const nothing: Filling = { shapes: [], copies: [], free: new Float64Array(0) };

interface Draft {
  readonly shapes: number[];
  readonly copies: number[];
  readonly free: Float64Array;
}

function put(order: BulkOrder, draft: Draft, shape: number, copies: number): void {
  const { resourceCount, need } = order;
  const { free } = draft;
  for (let k = 0; k < resourceCount; k++) {
    free[k] = free[k]! - copies * need[shape * resourceCount + k]!;
  }
  const index = draft.shapes.indexOf(shape);
  if (index >= 0) {
    draft.copies[index] = draft.copies[index]! + copies;
    return;
  }
  draft.shapes.push(shape);
  draft.copies.push(copies);
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
function copiesThatFit(
  order: BulkOrder,
  free: Float64Array,
  shape: number,
  available: number,
): number {
  const { resourceCount, need } = order;
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

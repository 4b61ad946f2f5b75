import { fillInBulk, toBulkOrder } from './bulk.ts';
import { type Content, fillHost } from './fill.ts';
import { openDraft } from './fill-draft.ts';
import { toRoomTable } from './fill-table.ts';
import { findHardness, hardestFirst, valueShapes } from './guidance.ts';
import type { PackModel } from './pack-model.ts';
import type { PackedHosts, PackRoom } from './pack-problem.ts';
import { takeCopies, timesAvailable } from './pack-state.ts';

// Arrays are indexed by rooms, types and resources below their counts, hence the `!`.

/** Hosts of a room and what goes into each. */
export type UsedRoom = PackedHosts & { readonly room: number };

/** Rooms times shapes up to which each room gets a careful filling: about 10 ms at the limit. */
const CAREFUL_MAX = 60_000;
const SWAPS_MAX = 5;
const taste = { dominantWeight: 0.5, sizeBonus: 0.3 } as const;

/** Whether the rooms are so many that filling them must be quick. */
export function areManyRooms(rooms: readonly PackRoom[], shapeCount: number): boolean {
  return rooms.length * shapeCount > CAREFUL_MAX;
}

/**
 * Fills rooms with what would cost most elsewhere and takes that from `left`. Rooms that few shapes
 * may use come first, so that flexible shapes do not take the place of others. When it returns, no
 * copy that is left fits any room: each is filled until nothing fits, and `left` only falls.
 */
export function fillRooms(
  model: PackModel,
  rooms: readonly PackRoom[],
  worth: Float64Array,
  left: Int32Array,
): UsedRoom[] {
  const fillers = areManyRooms(rooms, model.shapeCount)
    ? quickFillers(model, worth, left)
    : carefulFillers(model, worth, left);
  const batches = batchRooms(model, rooms).map(({ type, members, largest }) => {
    return { members, filler: fillers(type, largest) };
  });
  batches.sort((a, b) => a.filler.width - b.filler.width || a.members[0]! - b.members[0]!);
  const used: UsedRoom[] = [];
  for (const { members, filler } of batches) {
    for (const room of members) fillRoom(room, rooms[room]!, { filler, left, used });
  }
  return used;
}

interface Filler {
  /** How many shapes it can choose from. */
  readonly width: number;
  readonly fill: (free: Float64Array) => Content;
}

interface Progress {
  readonly filler: Filler;
  readonly left: Int32Array;
  readonly used: UsedRoom[];
}

/** Fills the hosts of a room, equal ones at once. */
function fillRoom(index: number, room: PackRoom, { filler, left, used }: Progress): void {
  for (let empty = room.count; empty > 0;) {
    const content = filler.fill(room.free);
    if (content.shapes.length === 0) return;
    const count = Math.min(empty, timesAvailable(left, content));
    takeCopies(left, content, count);
    used.push({ room: index, count, shapes: content.shapes, copies: content.copies });
    empty -= count;
  }
}

interface RoomBatch {
  readonly type: number;
  readonly members: number[];
  /** Per resource: the most that any of them has free. */
  readonly largest: Float64Array;
}

/** Rooms by type, in the order of the first of each. */
function batchRooms(model: PackModel, rooms: readonly PackRoom[]): RoomBatch[] {
  const batches = new Map<number, RoomBatch>();
  for (let index = 0; index < rooms.length; index++) {
    const { type, free } = rooms[index]!;
    const merged = model.classes.classOf[type]!;
    const batch = batches.get(merged);
    if (batch === undefined) {
      batches.set(merged, { type: merged, members: [index], largest: free.slice() });
      continue;
    }
    batch.members.push(index);
    for (let k = 0; k < free.length; k++) {
      batch.largest[k] = Math.max(batch.largest[k]!, free[k]!);
    }
  }
  return [...batches.values()];
}

type Fillers = (type: number, largest: Float64Array) => Filler;

/** By value for size, with swaps. Money saved elsewhere is what counts in a room. */
function carefulFillers(model: PackModel, worth: Float64Array, left: Int32Array): Fillers {
  const draft = openDraft(model.shapeCount, model.resourceCount);
  // The price of a host is the yardstick for money; where the type is free, that of the dearest.
  const dearest = model.hostPrice.reduce((most, price) => Math.max(most, price), 0);
  return (type, largest) => {
    const table = toRoomTable(model, type, left, largest);
    valueShapes(table, model.hostPrice[type]! || dearest, worth, taste);
    const fill = (free: Float64Array): Content => {
      return fillHost({ table, left, free, seed: -1, swapsMax: SWAPS_MAX }, draft);
    };
    return { width: table.shapes.length, fill };
  };
}

/** In one pass, the hardest shapes first. */
function quickFillers(model: PackModel, worth: Float64Array, left: Int32Array): Fillers {
  const shapes = hardestFirst(findHardness(model, worth, model.hostPrice));
  return (type, room) => {
    const order = toBulkOrder(model, { type, allowed: model.allowedInRoom, shapes, left, room });
    return { width: order.length, fill: (free) => fillInBulk(order, left, free, -1) };
  };
}

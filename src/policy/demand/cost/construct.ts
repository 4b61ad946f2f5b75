import type { Turns } from '../../../support/turns.ts';
import { type BulkOrder, fillInBulk, toBulkOrder } from './bulk.ts';
import { type Content, type Filling, fillHost } from './fill.ts';
import {
  openableHosts,
  openGroup,
  type PackState,
  spareHosts,
  timesAvailable,
} from './pack-state.ts';
import { type Search, tableOf, typesByPrice } from './search.ts';

// Arrays are indexed by shapes and types below the model's counts, hence the `!`.

/** Swaps per filling. Five instead of three are worth 0.1 points, eight no more. */
const SWAPS_MAX = 5;
/**
 * Prices make a type at its limit and one beyond it equally good, but only if the first is used up.
 * So it comes first, unless it is filled worse by a tenth of what its limit is worth.
 */
const SCARCITY_BONUS = 0.1;
/** Types tried when none is fair, cheapest first: each costs a filling. */
const FALLBACK_TYPES_MAX = 8;
/** Between two stops: a few milliseconds' worth. */
const WORK_PER_TURN = 100_000;

/**
 * Opens hosts until every copy is placed or no type that admits it may open another. The hardest
 * shape seeds a host on each fair type; the filling that is worth most of its host wins and is
 * repeated as often as copies and limits allow: the number of fillings grows with the shapes, not
 * with the copies (ten times the copies take 1.3 to 1.6 times the fillings).
 *
 * Once the work passes `workMax`, fillings are quick ones: the shapes that come last are small and
 * easy to place, and a plan in time beats a better one too late.
 */
export function* construct(search: Search, state: PackState, workMax: number): Turns<void> {
  const isLate = (): boolean => search.draft.work > workMax;
  const careful = carefulFill(search, state);
  let turnWork = search.draft.work + WORK_PER_TURN;
  for (const shape of search.order) {
    if (state.left[shape] === 0) continue;
    const fill = remember(careful, shape, state.left);
    while (state.left[shape]! > 0 && !isLate()) if (!openOne(search, state, shape, fill)) break;
    if (search.draft.work < turnWork) continue;
    turnWork = search.draft.work + WORK_PER_TURN;
    yield;
  }
  if (!isLate()) return;
  // When not all can be placed, easy shapes first: more copies for the same hosts.
  const isShort = search.guidance.held.some((copies) => copies > 0);
  const order = isShort ? search.order.slice().reverse() : search.order;
  const quick = quickFill(search, state, order);
  for (const shape of order) {
    if (state.left[shape] === 0) continue;
    const fill = remember(quick, shape, state.left);
    while (state.left[shape]! > 0) if (!openOne(search, state, shape, fill)) break;
  }
}

/** Fills a host of the type that holds the shape. */
type SeededFill = (type: number, shape: number) => Filling;
type Fill = (type: number) => Filling;

/**
 * A filling stays the best answer while there are copies for it: fewer choices do not make another
 * one better. That saves a third of the fillings.
 */
function remember(fill: SeededFill, shape: number, left: Int32Array): Fill {
  const known = new Map<number, Filling>();
  return (type) => {
    const last = known.get(type);
    if (last !== undefined && timesAvailable(left, last) > 0) return last;
    const filling = fill(type, shape);
    known.set(type, filling);
    return filling;
  };
}

function carefulFill(search: Search, { left }: PackState): SeededFill {
  return (type, shape) => {
    const table = tableOf(search, type);
    const seed = table.positionOf[shape]!;
    const request = { table, left, free: table.capacity, seed, swapsMax: SWAPS_MAX };
    return fillHost(request, search.draft);
  };
}

function quickFill({ model, draft }: Search, { left }: PackState, shapes: Int32Array): SeededFill {
  const orders: (BulkOrder | undefined)[] = [];
  return (type, shape) => {
    const room = model.hosts[type]!;
    const request = { type, allowed: model.allowed, shapes, left, room };
    const order = (orders[type] ??= toBulkOrder(model, request));
    draft.work += order.length >> 2;
    const content = fillInBulk(order, left, room, shape);
    return { ...content, free: order.free.slice() };
  };
}

/** Types to try: with hosts that are paid for and empty; else fair ones; else the cheapest. */
function typesToTry(search: Search, state: PackState, shape: number): readonly number[] {
  const { model, guidance } = search;
  const hasSpare = (type: number): boolean => spareHosts(model, state, type) > 0;
  const spare = guidance.largeTypesOf[shape]!.filter(hasSpare);
  if (spare.length > 0) return spare;
  const isOpenable = (type: number): boolean => openableHosts(model, state, type) > 0;
  const fair = guidance.fairTypes[shape]!.filter(isOpenable);
  if (fair.length > 0) return fair;
  const cheapest: number[] = [];
  for (const type of typesByPrice(search, shape)) {
    if (cheapest.length === FALLBACK_TYPES_MAX) break;
    if (isOpenable(type)) cheapest.push(type);
  }
  return cheapest;
}

/** Opens the best group that holds the shape. False when no type can. */
function openOne(search: Search, state: PackState, shape: number, fill: Fill): boolean {
  const { model, guidance } = search;
  let best: Filling | null = null;
  let bestType = -1;
  let bestWorth = -1;
  for (const type of typesToTry(search, state, shape)) {
    const filling = fill(type);
    const part = partOfHost(filling, search.worth, guidance.hostWorth[type]!);
    const worth = part + SCARCITY_BONUS * guidance.scarcity[type]!;
    if (worth <= bestWorth) continue;
    best = filling;
    bestType = type;
    bestWorth = worth;
  }
  if (best === null) return false;
  const spare = spareHosts(model, state, bestType);
  const openable = spare > 0 ? spare : openableHosts(model, state, bestType);
  const count = Math.min(openable, timesAvailable(state.left, best));
  openGroup(model, state, { ...best, type: bestType, count });
  return true;
}

/** What a host holds, as part of what the host is worth; a free host counts as if it cost 1. */
export function partOfHost(content: Content, worth: Float64Array, hostWorth: number): number {
  let sum = 0;
  for (let i = 0; i < content.shapes.length; i++) {
    sum += worth[content.shapes[i]!]! * content.copies[i]!;
  }
  return sum / Math.max(hostWorth, 1);
}

import { type FillDraft, type FillTable, take } from './fill-draft.ts';
import { swapOnce } from './swap.ts';

// A kernel over flat arrays: positions run over the table's shapes, `k` over resources, hence `!`.

/** What goes into one host: `copies[i]` of `shapes[i]`. */
export interface Content {
  readonly shapes: readonly number[];
  readonly copies: readonly number[];
}

/** The same, and what the host has left. */
export interface Filling extends Content {
  readonly free: Float64Array;
}

export interface FillRequest {
  readonly table: FillTable;
  /** Copies left of each shape. */
  readonly left: Int32Array;
  /** Free room to start from. */
  readonly free: Float64Array;
  /** The position whose shape must be in, or -1 for none. */
  readonly seed: number;
  readonly swapsMax: number;
}

/** Copies taken in one step are at most this part of those that fit; below 16 it is one by one. */
const STEP_PART = 16;

/**
 * Fills one host: a knapsack with several resources, in two moves. *Top up* adds one copy after the
 * other, always the one with most value for what it takes, where a resource counts the more the
 * less of it is free: so the copy that suits what is left wins. *Swap* takes one copy out and puts
 * up to three of another shape in, where that gains. Without swaps the costs of the published
 * problems rise by 0.7 to 4 points.
 */
export function fillHost(request: FillRequest, draft: FillDraft): Filling {
  const { table, left, seed, swapsMax } = request;
  draft.free.set(request.free);
  draft.kindCount = 0;
  findLive(table, left, draft);
  if (seed >= 0) take(table, draft, seed, 1);
  topUp(table, left, draft);
  for (let swap = 0; swap < swapsMax && swapOnce(table, left, draft, seed); swap++) {
    topUp(table, left, draft);
  }

  const shapes: number[] = [];
  const copies: number[] = [];
  for (let i = 0; i < draft.kindCount; i++) {
    const at = draft.kinds[i]!;
    const count = draft.taken[at]!;
    draft.taken[at] = 0;
    if (count === 0) continue;
    shapes.push(table.shapes[at]!);
    copies.push(count);
  }
  return { shapes, copies, free: draft.free.slice() };
}

function findLive({ shapes, byValue }: FillTable, left: Int32Array, draft: FillDraft): void {
  let count = 0;
  for (let i = 0; i < byValue.length; i++) {
    const at = byValue[i]!;
    if (left[shapes[at]!]! > 0) draft.live[count++] = at;
  }
  draft.liveCount = count;
}

function topUp(table: FillTable, left: Int32Array, draft: FillDraft): void {
  const { resourceCount, capacity, shapes } = table;
  const { free, taken, live, open, weight } = draft;
  draft.openCount = 0;
  for (let i = 0; i < draft.liveCount; i++) {
    const at = live[i]!;
    if (left[shapes[at]!]! > taken[at]!) open[draft.openCount++] = at;
  }
  while (draft.openCount > 0) {
    for (let k = 0; k < resourceCount; k++) {
      const freeShare = free[k]! / capacity[k]!;
      weight[k] = freeShare > 0 ? 1 / (freeShare * freeShare) : 0;
    }
    draft.work += draft.openCount;
    const best = pickDensest(table, draft);
    if (best < 0) return;
    take(table, draft, best, stepSize(table, left, draft, best));
    if (taken[best] === left[shapes[best]!]) close(draft, best);
  }
}

/** Takes a position whose last copy is in off the open ones, keeping their order. */
function close(draft: FillDraft, at: number): void {
  const index = draft.open.indexOf(at);
  draft.open.copyWithin(index, index + 1, draft.openCount);
  draft.openCount--;
}

/**
 * Drops from `open` what no longer fits (the comparison is exact), and finds the position with most
 * value for its weighted size; ties go to the first.
 */
function pickDensest(table: FillTable, draft: FillDraft): number {
  const { resourceCount, need, share, value } = table;
  const { free, open, weight } = draft;
  let best = -1;
  let bestDensity = -1;
  let kept = 0;
  for (let i = 0; i < draft.openCount; i++) {
    const at = open[i]!;
    const base = at * resourceCount;
    let size = 0;
    let k = 0;
    for (; k < resourceCount && need[base + k]! <= free[k]!; k++) {
      size += share[base + k]! * weight[k]!;
    }
    if (k < resourceCount) continue;
    open[kept++] = at;
    // What takes nothing goes in first, whatever its value.
    const density = size > 0 ? value[at]! / size : Infinity;
    if (density > bestDensity) {
      bestDensity = density;
      best = at;
    }
  }
  draft.openCount = kept;
  return best;
}

/**
 * One copy, as a rule: what suits best changes with each. Where hundreds fit, a sixteenth of them,
 * so that a host for 10,000 tiny tasks takes a hundred steps.
 */
function stepSize(table: FillTable, left: Int32Array, draft: FillDraft, at: number): number {
  const { resourceCount, need, shapes } = table;
  let fit = left[shapes[at]!]! - draft.taken[at]!;
  let isFree = true;
  for (let k = 0; k < resourceCount; k++) {
    const needed = need[at * resourceCount + k]!;
    if (needed === 0) continue;
    isFree = false;
    fit = Math.min(fit, Math.floor(draft.free[k]! / needed));
  }
  return isFree ? fit : Math.max(1, Math.floor(fit / STEP_PART));
}

import { type FillDraft, type FillTable, take } from './fill-draft.ts';

// A kernel over flat arrays: positions run over the table's shapes, `k` over resources, hence `!`.

/** Most copies that one copy may be swapped for. */
const COPIES_IN_MAX = 3;
/** Gains below this are rounding errors; swapping for them could go round in circles. */
const GAIN_MIN = 1e-9;

/**
 * Takes one copy out of the filling and puts one to three copies of another shape in, where that
 * raises the value most. False when no swap does. The last copy of the seed stays.
 */
export function swapOnce(
  table: FillTable,
  left: Int32Array,
  draft: FillDraft,
  seed: number,
): boolean {
  const { shapes, value, need, resourceCount } = table;
  const tight = tightest(table, draft);
  const { taken, kinds, kindCount, live, liveCount } = draft;
  let bestGain = GAIN_MIN;
  let bestOut = -1;
  let bestIn = -1;
  let bestCopies = 0;
  for (let i = 0; i < kindCount; i++) {
    const out = kinds[i]!;
    if (taken[out]! <= (out === seed ? 1 : 0)) continue;
    const lost = value[out]!;
    const room = draft.free[tight]! + need[out * resourceCount + tight]!;
    for (let j = 0; j < liveCount; j++) {
      const at = live[j]!;
      // From here on, not even three copies would gain more.
      if (COPIES_IN_MAX * value[at]! - lost <= bestGain) break;
      draft.work++;
      if (at === out || need[at * resourceCount + tight]! > room) continue;
      const available = left[shapes[at]!]! - taken[at]!;
      if (available <= 0) continue;
      const copies = Math.min(available, copiesThatFit(table, draft, at, out));
      const gain = copies * value[at]! - lost;
      if (gain <= bestGain) continue;
      bestGain = gain;
      bestOut = out;
      bestIn = at;
      bestCopies = copies;
    }
  }
  if (bestOut < 0) return false;
  take(table, draft, bestOut, -1);
  take(table, draft, bestIn, bestCopies);
  return true;
}

/** Copies at `at`, up to three, that fit once a copy at `out` is gone. Subtraction keeps it exact. */
function copiesThatFit(table: FillTable, draft: FillDraft, at: number, out: number): number {
  const { resourceCount, need } = table;
  let copies = COPIES_IN_MAX;
  for (let k = 0; k < resourceCount && copies > 0; k++) {
    const needed = need[at * resourceCount + k]!;
    if (needed === 0) continue;
    let room = draft.free[k]! + need[out * resourceCount + k]!;
    let fit = 0;
    while (fit < copies && room >= needed) {
      room -= needed;
      fit++;
    }
    copies = fit;
  }
  return copies;
}

/** The resource with the least free, which rules most shapes out. */
function tightest({ resourceCount, capacity }: FillTable, { free }: FillDraft): number {
  let tight = 0;
  for (let k = 1; k < resourceCount; k++) {
    if (free[k]! * capacity[tight]! < free[tight]! * capacity[k]!) tight = k;
  }
  return tight;
}

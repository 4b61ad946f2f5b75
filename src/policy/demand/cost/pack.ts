import { runThrough, type Turns } from '../../../support/turns.ts';
import { findGuidance, type Guidance, priceWithoutLimits } from './guidance.ts';
import { type PackModel, toPackModel, toTypes } from './pack-model.ts';
import type { PackEffort, PackPlan, PackProblem } from './pack-problem.ts';
import { emptyState } from './pack-state.ts';
import { searchPlan } from './repair.ts';
import { areManyRooms, fillRooms, type UsedRoom } from './rooms.ts';
import { openSearch } from './search.ts';

// Arrays are indexed by shapes below the problem's count, hence the `!`.

/**
 * Plans at least cost: existing rooms first, then new hosts, within every budget. Deterministic and
 * synchronous; the work grows with shapes and types, not with copies.
 *
 * 1. Types that cannot be told apart are merged (`type-classes`).
 * 2. A linear program prices every shape and every scarce type (`prices`).
 * 3. Rooms take what would cost most elsewhere (`rooms`).
 * 4. The rest is built on new hosts, hardest shape first (`construct`, `fill`), moved to cheaper
 *    types where it fits (`downsize`), and improved by closing and building anew (`repair`).
 *
 * A copy stays unplaced only if no room or open host has space for it and no type that admits it
 * can open a unit. When budgets do not suffice for all, more copies placed come before less money.
 */
export function pack(problem: PackProblem, effort: PackEffort): PackPlan {
  return runThrough(packInTurns(problem, effort));
}

/** As `pack`, with a stop before the rooms are filled and one before the search. */
export function* packInTurns(problem: PackProblem, effort: PackEffort): Turns<PackPlan> {
  const model = toPackModel(problem);
  const left = problem.count.slice();
  yield;
  const { used, guidance } = useRooms(problem, model, left);
  yield;
  const state =
    guidance === null
      ? emptyState(model, left)
      : yield* searchPlan(openSearch(model, guidance, left), scaleEffort(model, effort));
  const opened = state.groups.map(({ type, count, shapes, copies }) => {
    return { type, count, shapes, copies };
  });
  return {
    opened: toTypes(model, opened),
    used,
    unplaced: state.left,
    worth: reportedWorth(model, guidance, left),
  };
}

/** Pairs of shape and type up to which the search gets all its work; about 450 x 35. */
const PAIRS_FULL = 16_000;

/** Preparing takes time in proportion to the pairs; beyond `PAIRS_FULL` the search makes up for it. */
function scaleEffort(model: PackModel, effort: PackEffort): PackEffort {
  const part = Math.min(1, PAIRS_FULL / Math.max(1, model.shapeCount * model.typeCount));
  return { ...effort, workMax: effort.workMax * part };
}

/** Fills the rooms, and prices what they leave over. */
function useRooms(
  problem: PackProblem,
  model: PackModel,
  left: Int32Array,
): { readonly used: readonly UsedRoom[]; readonly guidance: Guidance | null } {
  const { rooms } = problem;
  const isMany = areManyRooms(rooms, problem.shapeCount);
  // The program costs as much for the first guess as for the rest. Thousands of rooms are filled
  // by the simpler prices, which know no limits.
  const first = isMany ? null : findGuidance(model, left);
  const worth =
    first?.worth ??
    new Float64Array(left.length).map((_, shape) => priceWithoutLimits(model, shape));
  const used = rooms.length === 0 ? [] : fillRooms(model, rooms, worth, left);
  if (left.every((copies) => copies === 0)) return { used, guidance: null };
  const isUntouched = used.length === 0 && first !== null;
  return { used, guidance: isUntouched ? first : findGuidance(model, left) };
}

/**
 * What one more copy of each shape would cost: its price in the relaxation, but never more than
 * the cheapest whole unit that admits it. 0 where rooms took all, or where no type admits it.
 */
function reportedWorth(
  model: PackModel,
  guidance: Guidance | null,
  left: Int32Array,
): Float64Array {
  return Float64Array.from(left, (copies, shape) => {
    if (guidance === null || copies === 0) return 0;
    const units = guidance.typesOf[shape]!.map((type) => model.unitPrice[type]!);
    return units.length === 0 ? 0 : Math.min(guidance.worth[shape]!, ...units);
  });
}

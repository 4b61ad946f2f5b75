import { seededRandom, type Random } from '../../../support/random.ts';
import type { Turns } from '../../../support/turns.ts';
import { construct, partOfHost } from './construct.ts';
import { downsize } from './downsize.ts';
import type { Taste } from './guidance.ts';
import { insertIntoFree } from './insert.ts';
import type { PackEffort } from './pack-problem.ts';
import {
  addHosts,
  copyState,
  costOf,
  emptyState,
  leftCount,
  type PackState,
  takeCopies,
} from './pack-state.ts';
import { type Search, startRound } from './search.ts';
import { improveSmallPlan } from './small-plans.ts';

// Arrays are indexed by shapes and types below the model's counts, hence the `!`.

/** The first is for the first construction; rounds take the next in turn. */
const tastes: readonly Taste[] = [
  { dominantWeight: 0.5, sizeBonus: 0.3 },
  { dominantWeight: 0.25, sizeBonus: 0.3 },
  { dominantWeight: 1, sizeBonus: 0.3 },
  { dominantWeight: 0.5, sizeBonus: 0 },
  { dominantWeight: 0.5, sizeBonus: 0.6 },
];
/** Parts of the hosts that rounds close, in turn. */
const closedParts = [0.3, 0.15] as const;
/** Chance in the choice of hosts to close, in parts of a host. Without it repair gets stuck. */
const NOISE = 0.3;
/** Hosts that a copy left out could use are closed as if they were worth this much less. */
const WANTED_BONUS = 0.3;
/** Each round that leaves a shape out doubles what it is worth in the next, up to this factor. */
const RAISE = 2;
const RAISE_MAX = 5;
/** Constructing anew what downsizing made possible; each time frees less. */
const SETTLE_MAX = 3;
/** The part of the work that the first construction may take before it is hurried. */
const FIRST_PART = 0.8;
/** The same for later rounds: the last one may overrun a little rather than be spoilt. */
const LAST_PART = 1.25;
/** What closing, inserting and downsizing take per group, in shapes looked at. */
const GROUP_WORK = 64;
const SEED = 1;

/** Ruin and recreate: builds a plan, then closes its worst hosts and builds them anew, many times. */
export function* searchPlan(search: Search, effort: PackEffort): Turns<PackState> {
  const { count } = search;
  const random = seededRandom(SEED);
  const hopeless = countHopeless(search);
  const raised = new Float64Array(count.length).fill(1);
  let best = emptyState(search.model, count);
  startRound(search, tastes[0]!, raised);
  yield* recreate(search, best, { hopeless, workMax: effort.workMax * FIRST_PART });
  for (let round = 0; round < effort.roundsMax; round++) {
    yield;
    if (search.draft.work >= effort.workMax || best.groups.length === 0) break;
    const isShort = leftCount(best) > hopeless;
    if (isShort) raiseLeftOut(search, best, raised);
    const isForLeftOut = isShort && round % 2 === 0;
    const state = ruin(search, best, { part: closedParts[round % 2]!, isForLeftOut, random });
    startRound(search, tastes[(round + 1) % tastes.length]!, raised);
    yield* recreate(search, state, { hopeless, workMax: effort.workMax * LAST_PART });
    if (isBetter(search, state, best)) best = state;
  }
  yield;
  const improved = improveSmallPlan(search, best);
  // Other hosts free limits that what is left may use.
  if (improved !== best)
    yield* recreate(search, improved, { hopeless, workMax: effort.workMax * LAST_PART });
  return improved;
}

/** More copies placed come first, then the price. */
function isBetter(search: Search, state: PackState, best: PackState): boolean {
  const more = leftCount(best) - leftCount(state);
  return more > 0 || (more === 0 && costOf(search.model, state) < costOf(search.model, best));
}

/** Copies that no type admits that may open at all: no search helps them. */
function countHopeless({ guidance, count }: Search): number {
  let hopeless = 0;
  for (const [shape, types] of guidance.typesOf.entries()) {
    if (types.length === 0) hopeless += count[shape]!;
  }
  return hopeless;
}

/**
 * The squeaky wheel: what did not find a place is placed earlier the next time. With the limits of
 * spec-8k times 0.6 this leaves 242 copies where the relaxation leaves 220; without it, 451.
 */
function raiseLeftOut(search: Search, best: PackState, raised: Float64Array): void {
  for (let shape = 0; shape < raised.length; shape++) {
    if (best.left[shape] === 0 || search.guidance.held[shape]! > 0) continue;
    raised[shape] = Math.min(RAISE_MAX, raised[shape]! * RAISE);
  }
}

interface Ruin {
  /** The part of the hosts to close. */
  readonly part: number;
  /** Whether to close hosts that copies left out could use rather than others. */
  readonly isForLeftOut: boolean;
  readonly random: Random;
}

/** A copy of the plan without its least valuable hosts. */
function ruin(search: Search, best: PackState, { part, isForLeftOut, random }: Ruin): PackState {
  const { model, guidance } = search;
  const state = copyState(best);
  const wanted = isForLeftOut ? typesWanted(search, best) : null;
  let hostCount = 0;
  const scores = best.groups.map((group) => {
    hostCount += group.count;
    const value = partOfHost(group, guidance.worth, guidance.hostWorth[group.type]!);
    return value + NOISE * random() - (wanted?.[group.type] === 1 ? WANTED_BONUS : 0);
  });
  const order = [...scores.keys()].sort((a, b) => scores[a]! - scores[b]! || a - b);
  let toClose = Math.ceil(hostCount * part);
  state.groups = [];
  for (const index of order) {
    const group = best.groups[index]!;
    const closed = Math.min(toClose, group.count);
    if (closed === 0) {
      state.groups.push(group);
      continue;
    }
    toClose -= closed;
    takeCopies(state.left, group, -closed);
    addHosts(model, state, group.type, -closed);
    if (closed < group.count) state.groups.push({ ...group, count: group.count - closed });
  }
  return state;
}

/** Types that a copy left out could run on. */
function typesWanted(search: Search, best: PackState): Uint8Array {
  const wanted = new Uint8Array(search.model.typeCount);
  for (const [shape, types] of search.guidance.typesOf.entries()) {
    if (best.left[shape]! > 0) for (const type of types) wanted[type] = 1;
  }
  return wanted;
}

interface Recreation {
  /** Copies that stay unplaced whatever is done. */
  readonly hopeless: number;
  /** Work after which quick fillings must do. */
  readonly workMax: number;
}

/** Places what is left, those that the relaxation left out last, and moves to cheaper types. */
function* recreate(
  search: Search,
  state: PackState,
  { hopeless, workMax }: Recreation,
): Turns<void> {
  const { model, guidance } = search;
  const { left } = state;
  const held = guidance.held.map((copies, shape) => Math.min(copies, left[shape]!));
  for (let shape = 0; shape < left.length; shape++) left[shape] = left[shape]! - held[shape]!;
  yield* placeLeft(search, state, workMax);
  for (let shape = 0; shape < left.length; shape++) left[shape] = left[shape]! + held[shape]!;
  downsize(model, state);
  // Downsizing frees hosts of scarce types, which may be what the rest has been waiting for.
  for (let turn = 0; turn < SETTLE_MAX; turn++) {
    const before = leftCount(state);
    if (before <= hopeless) return;
    yield* placeLeft(search, state, workMax);
    if (leftCount(state) === before) return;
    if (turn + 1 < SETTLE_MAX) downsize(model, state);
  }
}

/** Into free room of open hosts first, then on new ones. */
function* placeLeft(search: Search, state: PackState, workMax: number): Turns<void> {
  search.draft.work += GROUP_WORK * state.groups.length;
  insertIntoFree(search, state);
  yield* construct(search, state, workMax);
}

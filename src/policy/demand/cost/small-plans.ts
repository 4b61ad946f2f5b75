import { type BulkOrder, fillInBulk, toBulkOrder } from './bulk.ts';
import { priceWithoutLimits } from './guidance.ts';
import { insertIntoFree } from './insert.ts';
import type { PackModel } from './pack-model.ts';
import {
  addHosts,
  copyState,
  costOf,
  type HostGroup,
  leftCount,
  openableHosts,
  openGroup,
  type PackState,
  spareHosts,
  takeCopies,
  timesAvailable,
  unitsOf,
} from './pack-state.ts';
import type { Search } from './search.ts';

// Arrays are indexed by shapes, types and resources below the model's counts, hence the `!`.

/** Plans of more kinds of hosts are judged by their bulk, and the search is good at that. */
const GROUPS_MAX = 32;
/** Hosts filled on trial per call; some microseconds each. */
const FILLS_MAX = 8_000;
/** So few units of a kind are opened one by one: another kind may go better with some of them. */
const SINGLE_MAX = 8;
/** Sets of the dearest hosts that are tried together. */
const TOGETHER_MAX = 8;

/**
 * Small plans by trial: where a few hosts are all there is, the price of whole hosts decides, not
 * that of their parts. Closes hosts, one, several or all, and covers their content anew, each time
 * with the host that costs least for what it takes; keeps what places more, or costs less.
 */
export function improveSmallPlan(search: Search, state: PackState): PackState {
  if (state.groups.length > GROUPS_MAX) return state;
  const weights = new Float64Array(search.count.length).map((_, shape) =>
    Math.max(1, priceWithoutLimits(search.model, shape)),
  );
  const trial = { search, weights, fillsLeft: FILLS_MAX };
  let best = state;
  for (let isBetter = true; isBetter && trial.fillsLeft > 0;) {
    isBetter = false;
    for (const closing of listClosings(search, best, weights)) {
      const candidate = coverEitherWay(trial, best, closing);
      if (!isImprovement(search, candidate, best)) continue;
      best = candidate;
      isBetter = true;
      break;
    }
  }
  return best;
}

interface Trial {
  readonly search: Search;
  /** Per shape: what a copy costs alone where it is cheapest; what covering it is worth. */
  readonly weights: Float64Array;
  fillsLeft: number;
}

function isImprovement({ model }: Search, state: PackState, best: PackState): boolean {
  const more = leftCount(best) - leftCount(state);
  return more > 0 || (more === 0 && costOf(model, state) < costOf(model, best));
}

/** How many hosts of each group to close. */
type Closing = ReadonlyMap<number, number>;

/** One host of each group; the dearest for what they hold, together; all of a type; all. */
function listClosings({ model }: Search, { groups }: PackState, weights: Float64Array): Closing[] {
  const closings: Closing[] = groups.map((_, group) => new Map([[group, 1]]));
  const dearness = groups.map(({ type, shapes, copies }) => {
    const held = shapes.reduce((sum, shape, i) => sum + weights[shape]! * copies[i]!, 0);
    return model.hostPrice[type]! / Math.max(1, held);
  });
  const order = [...groups.keys()].sort((a, b) => dearness[b]! - dearness[a]! || a - b);
  const hosts = order.flatMap((group) =>
    Array.from({ length: Math.min(groups[group]!.count, TOGETHER_MAX) }, () => group),
  );
  for (let size = 2; size <= Math.min(TOGETHER_MAX, hosts.length); size++) {
    const closing = new Map<number, number>();
    for (const group of hosts.slice(0, size)) closing.set(group, (closing.get(group) ?? 0) + 1);
    closings.push(closing);
  }
  const all = [...groups.entries()].map(([group, { count }]): [number, number] => [group, count]);
  for (const type of new Set(groups.map((group) => group.type))) {
    closings.push(new Map(all.filter(([group]) => groups[group]!.type === type)));
  }
  closings.push(new Map(all));
  return closings;
}

function closeGroups({ model }: Search, best: PackState, closing: Closing): PackState {
  const state = copyState(best);
  state.groups = best.groups.flatMap((group, at) => {
    const closed = closing.get(at) ?? 0;
    if (closed === 0) return [group];
    takeCopies(state.left, group, -closed);
    addHosts(model, state, group.type, -closed);
    return closed < group.count ? [{ ...group, count: group.count - closed }] : [];
  });
  return state;
}

/** By money; where that leaves work out, also by what a host takes in, which spares slices. */
function coverEitherWay(trial: Trial, best: PackState, closing: Closing): PackState {
  const { search } = trial;
  const byPrice = cover(
    trial,
    closeGroups(search, best, closing),
    (price, covered) => price / covered,
  );
  if (leftCount(byPrice) === 0) return byPrice;
  const bySize = cover(trial, closeGroups(search, best, closing), (_, covered) => -covered);
  return isImprovement(search, bySize, byPrice) ? bySize : byPrice;
}

/** How little a host is liked, by what it costs and what it covers. */
type Dislike = (price: number, covered: number) => number;

/**
 * Fills free room, then opens hosts until nothing more can be placed; on the way, any single type
 * that ends it is tried.
 */
function cover(trial: Trial, state: PackState, dislike: Dislike): PackState {
  const { search, weights } = trial;
  const { model } = search;
  insertIntoFree(search, state);
  const orders: (BulkOrder | undefined)[] = [];
  const left = state.left.slice();
  let finished: PackState | null = null;
  while (trial.fillsLeft > 0 && leftCount(state) > 0) {
    const weight = weightOf(state.left, weights);
    let best: HostGroup | null = null;
    let least = Infinity;
    for (let type = 0; type < model.typeCount; type++) {
      const opening = findOpening(trial, state, type, orders);
      if (opening === null) continue;
      left.set(state.left);
      takeCopies(left, opening, opening.count);
      const covered = weight - weightOf(left, weights);
      const score = dislike(priceOfMore(model, state, type, opening.count), covered);
      if (left.every((copies) => copies === 0)) {
        const opened = copyState(state);
        openGroup(model, opened, opening);
        if (finished === null || isImprovement(search, opened, finished)) finished = opened;
      }
      if (best !== null && score >= least) continue;
      best = opening;
      least = score;
    }
    if (best === null) break;
    openGroup(model, state, best);
  }
  return finished !== null && isImprovement(search, finished, state) ? finished : state;
}

const weightOf = (left: Int32Array, weights: Float64Array): number =>
  left.reduce((sum, copies, shape) => sum + copies * weights[shape]!, 0);

/** What more hosts of a type cost, beyond those of units that are paid for. */
function priceOfMore(model: PackModel, { hosts }: PackState, type: number, more: number): number {
  const units = unitsOf(model, type, hosts[type]! + more) - unitsOf(model, type, hosts[type]!);
  return model.unitPrice[type]! * units;
}

/** Hosts of a type, filled alike, as many as copies and limits allow; null where there are none. */
function findOpening(
  trial: Trial,
  state: PackState,
  type: number,
  orders: (BulkOrder | undefined)[],
): HostGroup | null {
  const { model, order: shapes } = trial.search;
  const openable = openableHosts(model, state, type);
  if (openable === 0) return null;
  const room = model.hosts[type]!;
  const { left } = state;
  const bulk = (orders[type] ??= toBulkOrder(model, {
    type,
    allowed: model.allowed,
    shapes,
    left,
    room,
  }));
  const content = fillInBulk(bulk, left, room, -1);
  if (content.shapes.length === 0) return null;
  trial.fillsLeft--;
  // Hosts of a unit that is paid for are one step.
  const perUnit = model.hostsPerUnit[type]!;
  const spare = spareHosts(model, state, type);
  const most = Math.min(openable, timesAvailable(left, content));
  const step = most > SINGLE_MAX * perUnit ? most : Math.min(most, perUnit);
  const count = spare > 0 ? Math.min(most, spare) : step;
  return { ...content, type, count, free: bulk.free.slice() };
}

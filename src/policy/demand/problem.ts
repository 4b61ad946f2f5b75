import type { DemandClass, EntryForm } from '../../model/demand.ts';
import type { Strategy } from '../../model/fleet.ts';
import type { Group } from '../../model/group.ts';
import type { InvalidDemand } from '../../model/reason.ts';
import type { Resources } from '../../model/resources.ts';
import type { EntryId } from '../../model/ids.ts';
import { type Slice, onItsWay } from '../../model/slice.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { must } from '../../support/assert.ts';
import { groupBy } from '../../support/group-by.ts';
import { type Budgets, createBudgets } from './budgets.ts';
import {
  type Part,
  countSatisfied,
  isAdmitted,
  hasAccelerator,
  needsDevice,
  partsOf,
} from './eligibility.ts';
import { type Rooms, createRooms } from './rooms.ts';

/** A part of a class, judged against every group. */
export interface JudgedPart extends Part {
  /** Place in `needs` and in the rooms' memory. */
  readonly index: number;
  /** 1 where the group's rules and an empty host of it admit the part. */
  readonly admitted: Uint8Array;
  /** Admitting groups in order of rank: most soft constraints satisfied, then the normal order. */
  readonly ranked: readonly number[];
  /** Soft constraints satisfied, by group. */
  readonly soft: Uint8Array;
}

/** A class with its parts; `index` is its place in the snapshot's demand. */
export interface Want {
  readonly index: number;
  readonly demand: DemandClass;
  readonly form: EntryForm;
  readonly parts: readonly JudgedPart[];
}

/** A snapshot in the form that strategies work on. */
export interface DemandProblem {
  readonly snapshot: Snapshot;
  readonly groups: readonly Group[];
  readonly resources: readonly string[];
  /** Free room of an empty host, by group. */
  readonly capacity: readonly Float64Array[];
  /** Valid classes only, in the snapshot's order. */
  readonly wants: readonly Want[];
  /** One per floor of the snapshot. */
  readonly floors: readonly JudgedPart[];
  readonly needs: readonly Float64Array[];
  /** Slices of each group that count against its max. */
  readonly totals: readonly number[];
  /** Slices that only a pending gang may use, by the gang's id. */
  readonly reservations: ReadonlyMap<EntryId, readonly Slice[]>;
}

/** What a strategy consumes: fresh for every attempt at the same problem. */
export interface Ledger {
  readonly rooms: Rooms;
  readonly budgets: Budgets;
}

export function createProblem(snapshot: Snapshot): DemandProblem {
  const { groups } = snapshot.fleet;
  const resources = listResources(snapshot);
  const toVector = (quantities: Resources): Float64Array =>
    Float64Array.from(resources, (name) => quantities[name] ?? 0);
  const needs: Float64Array[] = [];
  const judge = createJudge(groups);
  const judgePart = (part: Part): JudgedPart => {
    needs.push(toVector(part.need));
    return { ...part, index: needs.length - 1, ...judge(part) };
  };
  const wants = snapshot.demand.flatMap((demand, index): Want[] => {
    if (invalidOf(demand, snapshot.fleet.strategy) !== null) return [];
    return [{ index, demand, form: demand.form, parts: partsOf(demand.form).map(judgePart) }];
  });
  const floors = snapshot.floors
    .flatMap(({ ask }) => partsOf({ kind: 'single', ask }))
    .map(judgePart);
  const position = new Map(groups.map((group, index) => [group.name, index]));
  const totals = groups.map(() => 0);
  for (const slice of snapshot.slices) {
    const group = position.get(slice.group);
    if (group !== undefined && slice.status !== 'terminated')
      totals[group] = (totals[group] ?? 0) + 1;
  }
  const capacity = groups.map((group) => toVector(group.host));
  const pending = new Set(
    wants.flatMap(({ demand }) => (demand.isReserved ? demand.batches.map(({ id }) => id) : [])),
  );
  // What was reserved for work that is no longer waiting is room like any other.
  const reserved = snapshot.slices.flatMap((slice) =>
    slice.reservedFor !== null && pending.has(slice.reservedFor)
      ? [{ slice, id: slice.reservedFor }]
      : [],
  );
  const reservations = new Map(
    [...groupBy(reserved, ({ id }) => id)].map(([id, list]) => [
      id,
      list.map(({ slice }) => slice),
    ]),
  );
  return { snapshot, groups, resources, capacity, wants, floors, needs, totals, reservations };
}

/** Why no group can take the class whatever the fleet looks like; null when one might. */
export function invalidOf(demand: DemandClass, strategy: Strategy): InvalidDemand | null {
  if (demand.invalid !== null) return demand.invalid;
  const isRefused = demand.form.kind === 'bundles' && strategy === 'priority';
  return isRefused ? { kind: 'bundles-under-priority' } : null;
}

/** Every resource that is offered or asked for, in a fixed order. */
function listResources(snapshot: Snapshot): readonly string[] {
  const names = new Set<string>();
  for (const group of snapshot.fleet.groups) for (const name in group.host) names.add(name);
  for (const { form } of snapshot.demand) {
    for (const part of partsOf(form)) for (const name in part.need) names.add(name);
  }
  for (const floor of snapshot.floors) for (const name in floor.ask.resources) names.add(name);
  return [...names].sort();
}

type Judgement = Pick<JudgedPart, 'admitted' | 'ranked' | 'soft'>;

/** Judges parts against all groups, once for each distinct part. */
function createJudge(groups: readonly Group[]): (part: Part) => Judgement {
  const normalOrder = groups
    .map((_, index) => index)
    .sort((a, b) => (groups[a]?.priority ?? 0) - (groups[b]?.priority ?? 0) || a - b);
  // Work that needs no accelerator leaves groups that have one to the last.
  const sparingOrder = [
    ...normalOrder.filter((index) => !hasAccelerator(must(groups[index], 'a group index'))),
    ...normalOrder.filter((index) => hasAccelerator(must(groups[index], 'a group index'))),
  ];
  return (part) => {
    const admitted = Uint8Array.from(groups, (group) => (isAdmitted(part, group) ? 1 : 0));
    const soft = Uint8Array.from(groups, (group) => countSatisfied(part, group));
    const order = part.asks.some(needsDevice) ? normalOrder : sparingOrder;
    const ranked = order.filter((index) => admitted[index] === 1);
    const isRankedBySoft = soft.some((count) => count > 0);
    if (isRankedBySoft) ranked.sort((a, b) => (soft[b] ?? 0) - (soft[a] ?? 0));
    return { admitted, ranked, soft };
  };
}

/** Opens the books on a problem: all room that is there or coming, and what may be opened. */
export function openLedger(problem: DemandProblem): Ledger {
  const { snapshot, groups, capacity, needs, resources } = problem;
  const { fleet, conditions } = snapshot;
  const rooms = createRooms({
    groupCount: groups.length,
    hostsPerSlice: groups.map((group) => group.hostsPerSlice),
    needs,
  });
  const draining = new Set(
    conditions.flatMap((condition) => (condition.kind === 'draining' ? [condition.group] : [])),
  );
  const position = new Map(groups.map((group, index) => [group.name, index]));
  const empty = { ready: groups.map(() => 0), coming: groups.map(() => 0) };
  for (const slice of snapshot.slices) {
    const group = position.get(slice.group);
    // Nothing new lands on a group that leaves, nor on a slice that a gang waits for.
    const isReserved = slice.reservedFor !== null && problem.reservations.has(slice.reservedFor);
    if (group === undefined || draining.has(slice.group) || isReserved) continue;
    const state = describeRoom(slice, must(groups[group], 'a group index'), snapshot);
    if (state.kind === 'coming') empty.coming[group] = (empty.coming[group] ?? 0) + 1;
    if (state.kind === 'empty') empty.ready[group] = (empty.ready[group] ?? 0) + 1;
    if (state.kind === 'partly') {
      for (const free of state.free) {
        const vector = Float64Array.from(resources, (name) => free[name] ?? 0);
        rooms.add(group, 'free-room', vector, 1, false);
      }
    }
  }
  groups.forEach((group, index) => {
    const free = must(capacity[index], 'a group index');
    const hosts = (slices: number | undefined): number => (slices ?? 0) * group.hostsPerSlice;
    rooms.add(index, 'free-room', free, hosts(empty.ready[index]), true);
    rooms.add(index, 'on-its-way', free, hosts(empty.coming[index]), true);
  });
  return { rooms, budgets: createBudgets({ fleet, totals: problem.totals, conditions }) };
}

type SliceRoom =
  | { readonly kind: 'none' | 'empty' | 'coming' }
  | { readonly kind: 'partly'; readonly free: readonly Resources[] };

function describeRoom(slice: Slice, group: Group, { atMs, fleet }: Snapshot): SliceRoom {
  if (onItsWay.has(slice.status)) return { kind: 'coming' };
  if (slice.status !== 'ready') return { kind: 'none' };
  const free = slice.hosts.flatMap((host) => (host.free === null ? [] : [host.free]));
  if (free.length === 0) {
    // Work about to land on a slice newly ready must not buy a second one.
    const isNew = atMs - slice.statusSinceMs < fleet.registrationGraceMs;
    return { kind: isNew ? 'empty' : 'none' };
  }
  const isEmpty = free.length === group.hostsPerSlice && free.every((room) => isWhole(room, group));
  return isEmpty ? { kind: 'empty' } : { kind: 'partly', free };
}

function isWhole(free: Resources, group: Group): boolean {
  for (const name in group.host) if ((free[name] ?? 0) < (group.host[name] ?? 0)) return false;
  return true;
}

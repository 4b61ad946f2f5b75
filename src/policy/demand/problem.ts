import type { DemandClass, EntryForm } from '../../model/demand.ts';
import type { Strategy } from '../../model/fleet.ts';
import type { Group } from '../../model/group.ts';
import type { Exclusion, InvalidDemand, RoomKind } from '../../model/reason.ts';
import type { Resources } from '../../model/resources.ts';
import type { EntryId } from '../../model/ids.ts';
import { type Slice, onItsWay } from '../../model/slice.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { must } from '../../support/assert.ts';
import { Budgets } from './budgets.ts';
import { type Part, partsOf } from './eligibility.ts';
import { createJudge } from './admission.ts';
import { type Rooms, createRooms } from './rooms.ts';

/** A part of a class, judged against every group. */
export interface JudgedPart extends Part {
  /** Place in `needs` and in the rooms' memory. */
  readonly index: number;
  /** 1 where the group's rules and an empty host of it admit the part. */
  readonly admitted: Uint8Array;
  /** Admitting groups in order of rank: most soft constraints satisfied, then the normal order. */
  readonly ranked: readonly number[];
  /** By group: its place in `ranked`, or -1. */
  readonly rankOf: Int32Array;
  /** Whether there are soft constraints at all, and how many of them each group satisfies. */
  readonly hasSoft: boolean;
  readonly soft: Uint8Array;
  /** The largest fraction of any resource of an empty host of a group that one task takes. */
  share(group: number): number;
  /** The rules by which a group can never admit the part, by number and in full. */
  mismatchCount(group: number): number;
  mismatches(group: number): readonly Exclusion[];
  /** The first of them, where there is one. */
  firstMismatch(group: number): Exclusion | null;
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
  const needs: Float64Array[] = [];
  const capacity = groups.map((group) => toVector(resources, group.host));
  const judge = createJudge(groups, capacity);
  const judgePart = (part: Part): JudgedPart => {
    const need = toVector(resources, part.need);
    return judge(part, { index: needs.push(need) - 1, need });
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
  const pending = new Set(
    wants.flatMap(({ demand }) => (demand.isReserved ? demand.batches.map(({ id }) => id) : [])),
  );
  // What was reserved for work that is no longer waiting is room like any other.
  const reservations = new Map<EntryId, Slice[]>();
  for (const slice of snapshot.slices) {
    if (slice.reservedFor === null || !pending.has(slice.reservedFor)) continue;
    const list = reservations.get(slice.reservedFor);
    if (list === undefined) reservations.set(slice.reservedFor, [slice]);
    else list.push(slice);
  }
  return { snapshot, groups, resources, capacity, wants, floors, needs, totals, reservations };
}

/** Quantities by resource index. */
function toVector(resources: readonly string[], quantities: Resources): Float64Array {
  const vector = new Float64Array(resources.length);
  for (let k = 0; k < resources.length; k++) {
    const name = resources[k];
    if (name !== undefined) vector[k] = quantities[name] ?? 0;
  }
  return vector;
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

/** Opens the books on a problem: all room that is there or coming, and what may be opened. */
export function openLedger(problem: DemandProblem): Ledger {
  const { snapshot, groups, capacity, needs, resources } = problem;
  const { fleet, conditions } = snapshot;
  const rooms = createRooms({
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
    if (slice.status !== 'ready') {
      if (onItsWay.has(slice.status)) empty.coming[group] = (empty.coming[group] ?? 0) + 1;
    } else if (isEmptySlice(problem, slice, group)) {
      empty.ready[group] = (empty.ready[group] ?? 0) + 1;
    } else {
      for (const { free } of slice.hosts) {
        if (free === null || !hasAny(free)) continue;
        const vector = toVector(resources, free);
        rooms.add(group, { kind: 'free-room', free: vector, count: 1, isUntouched: false });
      }
    }
  }
  groups.forEach((group, index) => {
    const free = must(capacity[index], 'a group index');
    const add = (kind: RoomKind, slices: number | undefined): void => {
      const count = (slices ?? 0) * group.hostsPerSlice;
      rooms.add(index, { kind, free, count, isUntouched: true });
    };
    add('free-room', empty.ready[index]);
    add('on-its-way', empty.coming[index]);
  });
  return { rooms, budgets: new Budgets({ fleet, totals: problem.totals, conditions }) };
}

/** Whether nothing runs on a ready slice, as far as anybody knows. */
function isEmptySlice(
  problem: DemandProblem,
  { hosts, statusSinceMs }: Slice,
  group: number,
): boolean {
  const { snapshot, groups, resources } = problem;
  let known = 0;
  for (const { free } of hosts) if (free !== null) known++;
  if (known === 0) {
    // Work about to land on a slice newly ready must not buy a second one.
    return snapshot.atMs - statusSinceMs < snapshot.fleet.registrationGraceMs;
  }
  if (known < hosts.length || hosts.length !== groups[group]?.hostsPerSlice) return false;
  const capacity = must(problem.capacity[group], 'a group index');
  for (const { free } of hosts) {
    if (free !== null && !isWhole(resources, free, capacity)) return false;
  }
  return true;
}

function isWhole(resources: readonly string[], free: Resources, capacity: Float64Array): boolean {
  for (let k = 0; k < resources.length; k++) {
    if ((free[resources[k] ?? ''] ?? 0) < (capacity[k] ?? 0)) return false;
  }
  return true;
}

function hasAny(free: Resources): boolean {
  for (const name in free) if ((free[name] ?? 0) > 0) return true;
  return false;
}

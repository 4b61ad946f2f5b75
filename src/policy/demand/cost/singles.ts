import type { RoomKind } from '../../../model/reason.ts';
import { must } from '../../../support/assert.ts';
import { groupBy } from '../../../support/group-by.ts';
import { byFirst, byNumber } from '../../../support/order.ts';
import type { Allocation } from '../allocation.ts';
import { type HostLoad, bookHosts } from '../bookings.ts';
import { countWaiting } from '../levels.ts';
import type { DemandProblem, Want } from '../problem.ts';
import type { RoomView } from '../host-list.ts';
import type {
  PackBudget,
  PackEffort,
  PackPlan,
  PackProblem,
  PackRoom,
  PackedHosts,
} from './pack-problem.ts';
import { pack } from './pack.ts';
import { betterPlan, giveBackEmptyRooms, takeEmptyRooms } from './credit.ts';

// Indices come from the arrays they index, hence the `!` on lookups in them.

/** Enough to come within a percent of the bound on real demand; see docs/benchmarks.md. */
const effort: PackEffort = { roundsMax: 60, workMax: 1_000_000 };

/**
 * Packs the single tasks of these classes. Soft constraints come before price: new slices are
 * opened only in the groups that satisfy most of them, as long as those may open any.
 */
export function placeSinglesByCost(
  problem: DemandProblem,
  allocation: Allocation,
  wants: readonly Want[],
): void {
  const tiersMax = Math.max(1, ...wants.map((want) => softTiers(want).length));
  for (let tier = 0; tier < tiersMax; tier++) {
    const waiting = listWaiting(allocation, wants, tier);
    if (waiting.length === 0) return;
    // What was tried on a room and did not fit will not fit now; only new hosts have new room.
    const rooms = tier === 0 ? 'all' : 'new';
    const { bridge, plan } = planSingles(problem, allocation, waiting, rooms);
    carryOut(problem, allocation, bridge, plan);
  }
}

/** Single tasks of these classes that have no place yet and some group that admits them. */
export function listWaiting(
  allocation: Allocation,
  wants: readonly Want[],
  tier = 0,
): readonly Waiting[] {
  return wants.flatMap((want): Waiting[] => {
    const soft = softTiers(want)[tier];
    const count = want.form.kind === 'single' ? countWaiting(allocation, want) : 0;
    return soft === undefined || count === 0 ? [] : [{ want, soft, count }];
  });
}

/** The plan for waiting tasks, before it is carried out. */
export function planSingles(
  problem: DemandProblem,
  allocation: Allocation,
  waiting: readonly Waiting[],
  rooms: 'all' | 'new' = 'all',
): { readonly bridge: Bridge; readonly plan: PackPlan } {
  const bridge = toPackProblem(problem, allocation, waiting, rooms);
  return { bridge, plan: packWithRooms(bridge) };
}

/** Fills the rooms and packs the rest; where that opens hosts, also tries without empty rooms. */
function packWithRooms({ problem, rooms }: Bridge): PackPlan {
  const plan = pack(problem, effort);
  const isEmpty = rooms.flatMap((views) =>
    views.flatMap(({ view, room }) => (room === NOT_OFFERED ? [] : [view.isUntouched])),
  );
  const empty = problem.rooms.reduce(
    (sum, { count }, room) => sum + (isEmpty[room] ? count : 0),
    0,
  );
  const opened = plan.opened.reduce((sum, { count }) => sum + count, 0);
  // Another search of the same rooms needs a few hosts more, never half as many again.
  const isGrowth = opened > Math.max(GROWTH_HOSTS_MIN, empty / 2);
  if (opened === 0 || empty === 0 || isGrowth) return plan;
  const afresh = pack(giveBackEmptyRooms(problem, isEmpty), effort);
  return betterPlan(problem, plan, takeEmptyRooms(problem, isEmpty, afresh));
}

/** Fleets that open fewer hosts are so small that a second search costs nothing. */
const GROWTH_HOSTS_MIN = 64;

interface Waiting {
  readonly want: Want;
  /** New slices only in groups that satisfy so many soft constraints. */
  readonly soft: number;
  readonly count: number;
}

/** The numbers of soft constraints that admitting groups satisfy, most first. */
function softTiers({ parts }: Want): readonly number[] {
  const part = must(parts[0], 'a single task has one part');
  if (!part.hasSoft) return part.ranked.length === 0 ? [] : [0];
  const counts = new Set(part.ranked.map((group) => part.soft[group]!));
  return [...counts].sort((a, b) => b - a);
}

/** In place of the index of a pack room. */
const NOT_OFFERED = -1;

interface Bridge {
  readonly problem: PackProblem;
  readonly waiting: readonly Waiting[];
  /** By type of the pack problem: its group. Types come by group priority, which so breaks ties. */
  readonly groups: readonly number[];
  /** By type: its rooms, and the pack room each went into, or NOT_OFFERED. */
  readonly rooms: readonly (readonly { readonly view: RoomView; readonly room: number }[])[];
}

function toPackProblem(
  problem: DemandProblem,
  allocation: Allocation,
  waiting: readonly Waiting[],
  offered: 'all' | 'new',
): Bridge {
  const { rooms: ledgerRooms, budgets } = allocation.ledger;
  const groups = [...problem.groups.keys()].sort(
    byFirst<number>(
      byNumber((group) => problem.groups[group]!.priority),
      byNumber((group) => group),
    ),
  );
  const partNeeds = waiting.map(({ want }) => problem.needs[want.parts[0]!.index]!);
  // Resources that no task needs cannot bind.
  const columns = problem.resources.flatMap((_, k) =>
    partNeeds.some((need) => need[k]! > 0) ? [k] : [],
  );
  const packRooms: PackRoom[] = [];
  const rooms = groups.map((group, type) =>
    // Rooms are listed type by type, in the order of their indices.
    ledgerRooms.view(group).map((view) => {
      if (offered === 'new' && view.kind !== 'new') return { view, room: NOT_OFFERED };
      packRooms.push({ type, free: project(columns, view.free), count: view.count });
      return { view, room: packRooms.length - 1 };
    }),
  );
  const configs = groups.map((group) => problem.groups[group]!);
  const byType = (use: Float64Array): Float64Array =>
    Float64Array.from(groups, (group) => use[group]!);
  return {
    waiting,
    groups,
    rooms,
    problem: {
      resourceCount: columns.length,
      shapeCount: waiting.length,
      typeCount: groups.length,
      need: flatten(columns, partNeeds),
      count: Int32Array.from(waiting, ({ count }) => count),
      capacity: flatten(
        columns,
        groups.map((group) => problem.capacity[group]!),
      ),
      hostsPerUnit: Int32Array.from(configs, (group) => group.hostsPerSlice),
      unitPrice: Float64Array.from(configs, (group) => group.priceMicroUsdPerHour ?? 0),
      ...listAllowed(waiting, groups),
      budgets: [
        ...groups.map((group, type) => ownBudget(groups.length, type, budgets.headroom(group))),
        ...budgets.shared.map(({ left, use }): PackBudget => {
          return { left: Math.max(0, left), use: byType(use) };
        }),
      ],
      rooms: packRooms,
    },
  };
}

/** Where tasks may run: in any room of an admitting group, but new only where soft wishes say. */
function listAllowed(
  waiting: readonly Waiting[],
  groups: readonly number[],
): Pick<PackProblem, 'allowed' | 'allowedInRoom'> {
  const allowed = new Uint8Array(waiting.length * groups.length);
  const allowedInRoom = new Uint8Array(allowed.length);
  waiting.forEach(({ want, soft }, shape) => {
    const part = want.parts[0]!;
    for (let type = 0; type < groups.length; type++) {
      const group = groups[type]!;
      if (part.admitted[group] !== 1) continue;
      allowedInRoom[shape * groups.length + type] = 1;
      if (part.soft[group] === soft) allowed[shape * groups.length + type] = 1;
    }
  });
  return { allowed, allowedInRoom };
}

function project(columns: readonly number[], vector: Float64Array): Float64Array {
  const projected = new Float64Array(columns.length);
  for (let c = 0; c < columns.length; c++) projected[c] = vector[columns[c]!]!;
  return projected;
}

function flatten(columns: readonly number[], vectors: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(vectors.length * columns.length);
  vectors.forEach((vector, row) => all.set(project(columns, vector), row * columns.length));
  return all;
}

/** A group's own maximum, as a budget on its slices alone. */
function ownBudget(typeCount: number, type: number, left: number): PackBudget {
  const use = new Float64Array(typeCount);
  use[type] = 1;
  return { left, use };
}

/** Books a pack plan and records where each task went: room that is there first, as it starts sooner. */
function carryOut(
  problem: DemandProblem,
  allocation: Allocation,
  { waiting, groups, rooms }: Bridge,
  plan: PackPlan,
): void {
  const tally = createTally(waiting.length);
  const load = (hosts: PackedHosts, group: number, room: RoomKind): HostLoad => {
    hosts.shapes.forEach((shape, i) =>
      tally.add(shape, hosts.copies[i]! * hosts.count, group, room),
    );
    const parts = hosts.shapes.map((shape) => waiting[shape]!.want.parts[0]!.index);
    return { count: hosts.count, parts, copies: hosts.copies };
  };
  const used = groupBy(plan.used, ({ room }) => room);
  const opened = groupBy(plan.opened, ({ type }) => type);
  rooms.forEach((list, type) => {
    const group = groups[type]!;
    bookHosts(problem, allocation, {
      group,
      rooms: list.map(({ view, room }) => {
        return {
          view,
          loads: (used.get(room) ?? []).map((hosts) => load(hosts, group, view.kind)),
        };
      }),
      opened: (opened.get(type) ?? []).map((hosts) => load(hosts, group, 'new')),
    });
  });
  waiting.forEach(({ want }, shape) => {
    for (const { count, ...berth } of tally.list(shape)) {
      allocation.place(want, count, [{ ...berth, tasks: 1 }]);
    }
  });
}

interface Tallied {
  readonly group: number;
  readonly room: RoomKind;
  count: number;
}

/** Counts tasks of a shape by group and kind of room, so that a class is told in few lines. */
function createTally(shapeCount: number) {
  const counts = Array.from({ length: shapeCount }, () => new Map<number, Tallied>());
  return {
    add(shape: number, count: number, group: number, room: RoomKind): void {
      const key = group * roomOrder.length + roomOrder.indexOf(room);
      const tallied = counts[shape]!.get(key);
      if (tallied === undefined) counts[shape]!.set(key, { group, room, count });
      else tallied.count += count;
    },
    list: (shape: number): readonly Tallied[] =>
      [...counts[shape]!.values()].sort(
        byFirst<Tallied>(
          byNumber(({ room }) => roomOrder.indexOf(room)),
          byNumber(({ group }) => group),
        ),
      ),
  };
}

const roomOrder: readonly RoomKind[] = ['free-room', 'on-its-way', 'new'];

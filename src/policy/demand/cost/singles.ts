import type { RoomKind } from '../../../model/reason.ts';
import { must } from '../../../support/assert.ts';
import { byFirst, byNumber } from '../../../support/order.ts';
import { runThrough, type Turns } from '../../../support/turns.ts';
import type { Allocation, Berth } from '../allocation.ts';
import { bookHosts } from '../bookings.ts';
import { countWaiting } from '../levels.ts';
import type { DemandProblem, Want } from '../problem.ts';
import type { HostLoad, RoomView } from '../host-list.ts';
import type {
  PackBudget,
  PackEffort,
  PackPlan,
  PackProblem,
  PackRoom,
  PackedHosts,
} from './pack-problem.ts';
import { packInTurns } from './pack.ts';
import { betterPlan, giveBackEmptyRooms, takeEmptyRooms } from './credit.ts';

// Indices come from the arrays they index, hence the `!` on lookups in them.

/** Enough to come within a percent of the bound on real demand; see docs/benchmarks.md. */
const effort: PackEffort = { roundsMax: 60, workMax: 1_000_000 };

/**
 * Packs the single tasks of these classes. Soft constraints come before price: new slices are
 * opened only in the groups that satisfy most of them, as long as those may open any.
 */
export function* placeSinglesByCost(
  problem: DemandProblem,
  allocation: Allocation,
  wants: readonly Want[],
): Turns<void> {
  const tiersMax = Math.max(1, ...wants.map((want) => softTiers(want).length));
  for (let tier = 0; tier < tiersMax; tier++) {
    const waiting = listWaiting(allocation, wants, tier);
    if (waiting.length === 0) return;
    // What was tried on a room and did not fit will not fit now; only new hosts have new room.
    const rooms = tier === 0 ? 'all' : 'new';
    const bridge = toPackProblem(problem, allocation, waiting, rooms);
    yield;
    const plan = yield* packWithRooms(bridge);
    yield;
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
): { readonly bridge: Bridge; readonly plan: PackPlan } {
  const bridge = toPackProblem(problem, allocation, waiting, 'all');
  return { bridge, plan: runThrough(packWithRooms(bridge)) };
}

/** Fills the rooms and packs the rest; where that opens hosts, also tries without empty rooms. */
function* packWithRooms({ problem, isEmpty }: Bridge): Turns<PackPlan> {
  const plan = yield* packInTurns(problem, effort);
  const empty = problem.rooms.reduce(
    (sum, { count }, room) => sum + (isEmpty[room] ? count : 0),
    0,
  );
  const opened = plan.opened.reduce((sum, { count }) => sum + count, 0);
  // Another search of the same rooms needs a few hosts more, never half as many again.
  const isGrowth = opened > Math.max(GROWTH_HOSTS_MIN, empty / 2);
  if (opened === 0 || empty === 0 || isGrowth) return plan;
  const afresh = yield* packInTurns(giveBackEmptyRooms(problem, isEmpty), effort);
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

interface Bridge {
  readonly problem: PackProblem;
  readonly waiting: readonly Waiting[];
  /** By type of the pack problem: its group. Types come by group priority, which so breaks ties. */
  readonly groups: readonly number[];
  /** By type: its rooms. */
  readonly rooms: readonly (readonly RoomView[])[];
  /** By room of the pack problem: its place among those of its type. */
  readonly places: readonly number[];
  /** By room of the pack problem: whether it is whole slices without work. */
  readonly isEmpty: readonly boolean[];
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
  const rooms = groups.map((group) => ledgerRooms.view(group));
  const packRooms: PackRoom[] = [];
  const places: number[] = [];
  const isEmpty: boolean[] = [];
  rooms.forEach((views, type) =>
    views.forEach(({ kind, free, count, isUntouched }, place) => {
      if (offered === 'new' && kind !== 'new') return;
      packRooms.push({ type, free: project(columns, free), count });
      places.push(place);
      isEmpty.push(isUntouched);
    }),
  );
  const configs = groups.map((group) => problem.groups[group]!);
  const byType = (use: Float64Array): Float64Array =>
    Float64Array.from(groups, (group) => use[group]!);
  return {
    waiting,
    groups,
    rooms,
    places,
    isEmpty,
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

/** The columns of a vector; the vector itself where they are all it has. */
function project(columns: readonly number[], vector: Float64Array): Float64Array {
  if (columns.length === vector.length) return vector;
  return Float64Array.from(columns, (k) => vector[k]!);
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
  { problem: packed, waiting, groups, rooms, places }: Bridge,
  plan: PackPlan,
): void {
  const parts = waiting.map(({ want }) => want.parts[0]!.index);
  const toLoad = ({ count, shapes, copies }: PackedHosts): HostLoad => {
    return { count, copies, parts: shapes.map((shape) => parts[shape]!) };
  };
  const tally = createTally(waiting.length, groups.length);
  const loads = rooms.map((views): (HostLoad[] | undefined)[] => views.map(() => undefined));
  for (const hosts of plan.used) {
    const { type } = packed.rooms[hosts.room]!;
    const place = places[hosts.room]!;
    tally.add(hosts, groups[type]!, rooms[type]![place]!.kind);
    (loads[type]![place] ??= []).push(toLoad(hosts));
  }
  const opened = groups.map((): HostLoad[] => []);
  for (const hosts of plan.opened) {
    tally.add(hosts, groups[hosts.type]!, 'new');
    opened[hosts.type]!.push(toLoad(hosts));
  }
  groups.forEach((group, type) => {
    bookHosts(problem, allocation, { group, rooms: loads[type]!, opened: opened[type]! });
  });
  waiting.forEach(({ want }, shape) => {
    tally.forEach(shape, (count, berth) => allocation.place(want, count, [berth]));
  });
}

const roomOrder: readonly RoomKind[] = ['free-room', 'on-its-way', 'new'];

/** Counts tasks of a shape by kind of room and group, so that a class is told in few lines. */
function createTally(shapeCount: number, groupCount: number) {
  const counts = new Int32Array(shapeCount * roomOrder.length * groupCount);
  const rowOf = (shape: number, kind: number): number =>
    (shape * roomOrder.length + kind) * groupCount;
  return {
    add({ count, shapes, copies }: PackedHosts, group: number, room: RoomKind): void {
      const kind = roomOrder.indexOf(room);
      for (let i = 0; i < shapes.length; i++) {
        const at = rowOf(shapes[i]!, kind) + group;
        counts[at] = counts[at]! + copies[i]! * count;
      }
    },
    forEach(shape: number, tell: (count: number, berth: Berth) => void): void {
      roomOrder.forEach((room, kind) => {
        const row = rowOf(shape, kind);
        for (let group = 0; group < groupCount; group++) {
          const count = counts[row + group]!;
          if (count > 0) tell(count, { group, room, tasks: 1 });
        }
      });
    },
  };
}

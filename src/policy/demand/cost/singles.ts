import type { RoomKind } from '../../../model/reason.ts';
import { must } from '../../../support/assert.ts';
import { groupBy } from '../../../support/group-by.ts';
import type { Allocation } from '../allocation.ts';
import { type HostLoad, bookHosts } from '../bookings.ts';
import { countWaiting } from '../levels.ts';
import type { DemandProblem, Want } from '../problem.ts';
import type { RoomView } from '../rooms.ts';
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
const effort: PackEffort = { roundsMax: 40, workMax: 250_000 };

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
    const { bridge, plan } = planSingles(problem, allocation, waiting);
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
    const tiers = softTiers(want);
    const soft = tiers[Math.min(tier, tiers.length - 1)];
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
  const bridge = toPackProblem(problem, allocation, waiting);
  return { bridge, plan: packWithRooms(bridge) };
}

/** Fills the rooms and packs the rest; where that is not enough, also tries without empty rooms. */
function packWithRooms({ problem, rooms }: Bridge): PackPlan {
  const plan = pack(problem, effort);
  const isEmpty = rooms.flatMap((views) => views.map(({ view }) => view.isUntouched));
  const isDone = plan.opened.length === 0 && plan.unplaced.every((count) => count === 0);
  if (isDone || !isEmpty.includes(true)) return plan;
  const afresh = pack(giveBackEmptyRooms(problem, isEmpty), effort);
  return betterPlan(problem, plan, takeEmptyRooms(problem, isEmpty, afresh));
}

interface Waiting {
  readonly want: Want;
  /** New slices only in groups that satisfy so many soft constraints. */
  readonly soft: number;
  readonly count: number;
}

/** The numbers of soft constraints that admitting groups satisfy, most first. */
function softTiers({ parts }: Want): readonly number[] {
  const part = must(parts[0], 'a single task has one part');
  const counts = new Set(part.ranked.map((group) => part.soft[group]!));
  return [...counts].sort((a, b) => b - a);
}

interface Bridge {
  readonly problem: PackProblem;
  readonly waiting: readonly Waiting[];
  /** Resources that some task needs, by index in the demand problem: the others cannot bind. */
  readonly columns: readonly number[];
  /** By group: its rooms, and the pack room each went into. */
  readonly rooms: readonly (readonly { readonly view: RoomView; readonly room: number }[])[];
}

function toPackProblem(
  problem: DemandProblem,
  allocation: Allocation,
  waiting: readonly Waiting[],
): Bridge {
  const { groups, capacity, needs } = problem;
  const { rooms: ledgerRooms, budgets } = allocation.ledger;
  const partNeeds = waiting.map(({ want }) => needs[want.parts[0]!.index]!);
  const columns = problem.resources.flatMap((_, k) =>
    partNeeds.some((need) => need[k]! > 0) ? [k] : [],
  );
  const project = (vector: Float64Array): Float64Array =>
    Float64Array.from(columns, (k) => vector[k]!);
  const allowed = new Uint8Array(waiting.length * groups.length);
  const allowedInRoom = new Uint8Array(allowed.length);
  waiting.forEach(({ want, soft }, shape) => {
    const part = want.parts[0]!;
    for (const group of part.ranked) {
      const at = shape * groups.length + group;
      allowedInRoom[at] = 1;
      if (part.soft[group] === soft) allowed[at] = 1;
    }
  });
  const packRooms: PackRoom[] = [];
  const rooms = groups.map((_, group) =>
    // Rooms are listed group by group, in the order of their indices.
    ledgerRooms.view(group).map((view) => {
      packRooms.push({ type: group, free: project(view.free), count: view.count });
      return { view, room: packRooms.length - 1 };
    }),
  );
  const flat = (vectors: readonly Float64Array[]): Float64Array => {
    const all = new Float64Array(vectors.length * columns.length);
    vectors.forEach((vector, row) => all.set(project(vector), row * columns.length));
    return all;
  };
  return {
    waiting,
    columns,
    rooms,
    problem: {
      resourceCount: columns.length,
      shapeCount: waiting.length,
      typeCount: groups.length,
      need: flat(partNeeds),
      count: Int32Array.from(waiting, ({ count }) => count),
      capacity: flat(capacity),
      hostsPerUnit: Int32Array.from(groups, (group) => group.hostsPerSlice),
      unitPrice: Float64Array.from(groups, (group) => group.priceMicroUsdPerHour ?? 0),
      allowed,
      allowedInRoom,
      budgets: [
        ...groups.map((_, group) => ownBudget(groups.length, group, budgets.headroom(group))),
        ...budgets.shared.map(({ left, use }): PackBudget => ({ left: Math.max(0, left), use })),
      ],
      rooms: packRooms,
    },
  };
}

/** A group's own maximum, as a budget on its slices alone. */
function ownBudget(groupCount: number, group: number, left: number): PackBudget {
  const use = new Float64Array(groupCount);
  use[group] = 1;
  return { left, use };
}

/** Books a pack plan and records where each task went: room that is there first, as it starts sooner. */
function carryOut(
  problem: DemandProblem,
  allocation: Allocation,
  { waiting, rooms }: Bridge,
  plan: PackPlan,
): void {
  const place = (hosts: PackedHosts, group: number, room: RoomKind): HostLoad => {
    hosts.shapes.forEach((shape, i) => {
      const berths = [{ group, room, tasks: 1 }];
      allocation.place(waiting[shape]!.want, hosts.copies[i]! * hosts.count, berths);
    });
    const parts = hosts.shapes.map((shape) => waiting[shape]!.want.parts[0]!.index);
    return { count: hosts.count, parts, copies: hosts.copies };
  };
  const used = groupBy(plan.used, ({ room }) => room);
  const opened = groupBy(plan.opened, ({ type }) => type);
  const bookings = rooms.map((list, group) => {
    return list.map(({ view, room }) => {
      const loads = (used.get(room) ?? []).map((hosts) => place(hosts, group, view.kind));
      return { view, loads };
    });
  });
  bookings.forEach((booked, group) => {
    const loads = (opened.get(group) ?? []).map((hosts) => place(hosts, group, 'new'));
    bookHosts(problem, allocation, { group, rooms: booked, opened: loads });
  });
}

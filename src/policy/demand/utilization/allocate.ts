import type { RoomKind } from '../../../model/reason.ts';
import { must } from '../../../support/assert.ts';
import { groupBy } from '../../../support/group-by.ts';
import type { AllocateDemand, Allocation, Berth } from '../allocation.ts';
import { bookHosts } from '../bookings.ts';
import { mergeBerths } from '../bundles.ts';
import { allocateByLevels, countWaiting } from '../levels.ts';
import { byRank, placeEntries } from '../place.ts';
import type { DemandProblem, JudgedPart, Want } from '../problem.ts';
import type { HostLoad, RoomView } from '../host-list.ts';
import type { UtilizationPlan, Where } from './outcome.ts';
import { planUtilization } from './plan.ts';
import type { Gang, Request, UtilizationProblem } from './problem.ts';

/**
 * Ray's planner on our fleet: hosts are its nodes, groups its node types. It chooses for single
 * tasks and bundles. Gangs own slices and stay in one group, which it does not know, so they go by
 * rank; and what it leaves out although a group could still take it is placed by rank as well.
 */
export const allocateByUtilization: AllocateDemand = (problem) =>
  allocateByLevels(problem, function* (allocation, wants) {
    const placeable = wants.filter((want) => want.parts.every((part) => part.ranked.length > 0));
    const [gangs, others] = [
      placeable.filter(({ form }) => form.kind === 'gang'),
      placeable.filter(({ form }) => form.kind !== 'gang'),
    ];
    const placeRest = (want: Want): void => {
      const count = countWaiting(allocation, want);
      placeEntries(problem, allocation, want, { count, order: byRank });
    };
    gangs.forEach(placeRest);
    const bridge = toCluster(problem, allocation, others);
    yield;
    const plan = planUtilization(bridge.cluster);
    yield;
    carryOut(problem, allocation, bridge, plan);
    others.forEach(placeRest);
  });

interface ClusterHost {
  readonly group: number;
  readonly room: RoomKind;
  /** Place of its room in the group's list. */
  readonly view: number;
}

interface Bridge {
  readonly cluster: UtilizationProblem;
  readonly singles: readonly Want[];
  /** One per entry: the planner takes gangs one by one. */
  readonly bundles: readonly Want[];
  readonly hosts: ReadonlyMap<string, ClusterHost>;
  readonly rooms: readonly (readonly RoomView[])[];
}

function toCluster(problem: DemandProblem, allocation: Allocation, wants: readonly Want[]): Bridge {
  const { groups, resources, capacity } = problem;
  const { rooms: ledgerRooms, budgets } = allocation.ledger;
  const toQuantities = (vector: Float64Array): Record<string, number> =>
    Object.fromEntries(resources.map((name, k) => [planName(name), vector[k] ?? 0]));
  // The planner counts the kinds that a request names: what is not asked for is not named.
  const toNeeds = (vector: Float64Array): Record<string, number> =>
    Object.fromEntries(Object.entries(toQuantities(vector)).filter(([, value]) => value > 0));
  const toRequest = (part: JudgedPart): Request => ({
    resources: toNeeds(must(problem.needs[part.index], 'a part index')),
    selectors: selectorsOf(problem, part),
  });
  const hosts = new Map<string, ClusterHost>();
  const rooms = groups.map((_, group) => ledgerRooms.view(group));
  const nodes = rooms.flatMap((views, group) =>
    views.flatMap((room, view) =>
      Array.from({ length: room.count }, (_, n) => {
        const id = `${group}.${view}.${n}`;
        hosts.set(id, { group, room: room.kind, view });
        const { name } = must(groups[group], 'a group index');
        const total = toQuantities(must(capacity[group], 'a group index'));
        const labels = { [GROUP_LABEL]: name };
        const available = toQuantities(room.free);
        return {
          id,
          type: name,
          kind: 'worker',
          state: 'running',
          total,
          available,
          labels,
        } as const;
      }),
    ),
  );
  const singles = wants.filter(({ form }) => form.kind === 'single');
  const bundles = wants.flatMap((want) =>
    want.form.kind === 'bundles' ? Array.from({ length: want.demand.count }, () => want) : [],
  );
  const cluster: UtilizationProblem = {
    nodeTypes: groups.map((group, index) => ({
      name: group.name,
      resources: toQuantities(must(capacity[index], 'a group index')),
      min: 0,
      max: countRoomHosts(rooms[index] ?? []) + budgets.openable(index) * group.hostsPerSlice,
      labels: { [GROUP_LABEL]: group.name },
      priority: -group.priority, // ours: lower first; the planner's: higher first
      idleTimeoutS: null,
      configHash: '',
    })),
    nodes,
    demands: singles.map((want) => {
      return { ...toRequest(must(want.parts[0], 'one part')), count: want.demand.count };
    }),
    gangs: bundles.map((want, index): Gang => {
      const strategy = want.form.kind === 'bundles' ? want.form.strategy : 'PACK';
      return { id: String(index), strategy, bundles: want.parts.map(toRequest) };
    }),
    constraints: [],
    limits: { maxNodes: null, idleTimeoutS: null, checkConfig: false },
    availability: {},
    recovery: {},
    budgets: budgets.shared.map(({ left, use }) => ({
      left,
      // By host: a slice that is used in part is rounded up when it is opened.
      use: Object.fromEntries(
        groups.map(({ name, hostsPerSlice }, index) => [name, (use[index] ?? 0) / hostsPerSlice]),
      ),
    })),
  };
  return { cluster, singles, bundles, hosts, rooms };
}

/** A label of every node, by which eligibility reaches a planner that knows only labels. */
const GROUP_LABEL = 'bellows/group';

/** The planner spares nodes with the resource `GPU`, by that name. */
const planName = (name: string): string => (name === 'gpu' ? 'GPU' : name);

const countRoomHosts = (views: readonly RoomView[]): number =>
  views.reduce((sum, { count }) => sum + count, 0);

/** Admitting groups as alternatives: those that satisfy most soft constraints are preferred. */
function selectorsOf({ groups }: DemandProblem, part: JudgedPart): Request['selectors'] {
  const counts = [...new Set(part.ranked.map((group) => part.soft[group] ?? 0))];
  return counts
    .sort((a, b) => b - a)
    .map((count) => {
      const these = part.ranked.filter((group) => (part.soft[group] ?? 0) === count);
      const values = these.map((group) => must(groups[group], 'a group index').name);
      return [{ key: GROUP_LABEL, op: 'in' as const, values }];
    });
}

/** One host of the plan, with what it was given. */
interface Loaded {
  readonly group: number;
  readonly room: RoomKind;
  readonly view: number | null;
  readonly load: Map<number, number>;
}

/** Books the plan. A launch that a slice rounded up leaves no budget for is given up again. */
function carryOut(
  problem: DemandProblem,
  allocation: Allocation,
  { singles, bundles, hosts, rooms }: Bridge,
  plan: UtilizationPlan,
): void {
  const { groups } = problem;
  const position = new Map<string, number>(groups.map((group, index) => [group.name, index]));
  const granted = grantLaunches(problem, allocation, position, plan);
  const loaded = new Map<string, Loaded>();
  const hostAt = (where: Where): Loaded | null => {
    const key = where.kind === 'node' ? where.id : `${where.type} ${where.index}`;
    const known = loaded.get(key);
    if (known !== undefined) return known;
    if (where.kind === 'launch' && !granted.has(key)) return null;
    const at: Omit<Loaded, 'load'> =
      where.kind === 'node'
        ? must(hosts.get(where.id), 'a host we told the planner of')
        : { group: must(position.get(where.type), 'a group'), room: 'new', view: null };
    const host = { ...at, load: new Map<number, number>() };
    loaded.set(key, host);
    return host;
  };
  const put = (host: Loaded, part: number, copies: number): void => {
    host.load.set(part, (host.load.get(part) ?? 0) + copies);
  };
  bundles.forEach((want, index) => {
    const placement = must(plan.placements.gangs[index], 'one placement per gang');
    if (placement.kind === 'unplaced') return;
    const targets = placement.bundles.map(hostAt);
    if (!targets.every((target) => target !== null)) return;
    targets.forEach((host, n) => put(host, must(want.parts[n], 'a part per bundle').index, 1));
    const berths = targets.map(({ group, room }): Berth => ({ group, room, tasks: 1 }));
    allocation.place(want, 1, mergeBerths(berths));
  });
  singles.forEach((want, index) => {
    for (const { where, count } of plan.placements.demands[index] ?? []) {
      const host = hostAt(where);
      if (host === null) continue;
      put(host, must(want.parts[0], 'one part').index, count);
      allocation.place(want, count, [{ group: host.group, room: host.room, tasks: 1 }]);
    }
  });
  bookAll(problem, allocation, rooms, [...loaded.values()]);
}

/** The launches that whole slices and the bounds on them allow, in the planner's order. */
function grantLaunches(
  { groups }: DemandProblem,
  allocation: Allocation,
  position: ReadonlyMap<string, number>,
  plan: UtilizationPlan,
): ReadonlySet<string> {
  const granted = new Set<string>();
  const open = new Int32Array(groups.length);
  const { budgets } = allocation.ledger;
  const opened: number[] = [];
  for (const { type, index } of plan.launched) {
    const group = must(position.get(type), 'a group');
    if ((open[group] ?? 0) === 0) {
      if (budgets.openable(group) === 0) continue;
      budgets.open(group, 1);
      opened.push(group);
      open[group] = must(groups[group], 'a group index').hostsPerSlice;
    }
    open[group] = (open[group] ?? 0) - 1;
    granted.add(`${type} ${index}`);
  }
  // Counted here to know what may be granted; opened for good when the hosts are booked.
  for (const group of opened.reverse()) budgets.close(group, 1);
  return granted;
}

function bookAll(
  problem: DemandProblem,
  allocation: Allocation,
  rooms: Bridge['rooms'],
  loaded: readonly Loaded[],
): void {
  const toLoad = ({ load }: Loaded): HostLoad => {
    return { count: 1, parts: [...load.keys()], copies: [...load.values()] };
  };
  const byGroup = groupBy(loaded, ({ group }) => group);
  rooms.forEach((views, group) => {
    const byView = groupBy(byGroup.get(group) ?? [], ({ view }) => view);
    bookHosts(problem, allocation, {
      group,
      rooms: views.map((_, index) => byView.get(index)?.map(toLoad)),
      opened: (byView.get(null) ?? []).map(toLoad),
    });
  });
}

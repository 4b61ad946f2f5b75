import { must } from '../../../support/assert.ts';
import { byText } from '../../../support/order.ts';
import { type Asks, makeAsks } from './asks.ts';
import { type Cluster, commit, openCluster, recordLaunches } from './cluster.ts';
import { placeGangs } from './gangs.ts';
import { condemnIdle } from './idle.ts';
import {
  condemnOutdated,
  condemnOverTotalMax,
  condemnOverTypeMax,
  launchMinimums,
} from './limits.ts';
import { whereOf } from './nodes.ts';
import type {
  GangPlacement,
  Hosted,
  LaunchedNode,
  Placement,
  TerminatedNode,
  UtilizationPlan,
} from './outcome.ts';
import { pack } from './pack.ts';
import type { Demand, UtilizationProblem } from './problem.ts';
import { inPackingOrder, makeLine } from './requests.ts';

/**
 * Plans as the autoscaler v2 of Ray 2.58 does, answer for answer, including what is odd about it:
 * condemned nodes absorb work and keep their slots, list order decides ties, and a request counts
 * as infeasible for whatever reason it was not placed. Deliberately different in two places: a
 * running node of an unknown type is left alone (the original fails), and a minimum that exceeds a
 * maximum is cut (the original ends nodes that do not exist). Budgets are ours.
 *
 * Total on well-formed problems. Exact as long as sums of quantities are exact in doubles.
 */
export function planUtilization(problem: UtilizationProblem): UtilizationPlan {
  const { limits, demands } = problem;
  const cluster = openCluster(problem);
  if (limits.checkConfig) condemnOutdated(cluster);
  launchMinimums(cluster);
  condemnOverTypeMax(cluster);
  condemnOverTotalMax(cluster);
  recordLaunches(
    cluster,
    cluster.nodes.filter((node) => node.standing.kind === 'launch'),
  );
  const floor = holdFloor(cluster, problem.constraints);
  const gangs = placeGangs(cluster, problem.gangs);
  const placed = placeDemands(cluster, demands);
  condemnIdle(cluster, limits.idleTimeoutS);

  const launched = listLaunched(cluster);
  const terminated = listTerminated(cluster);
  return {
    launch: countBy(launched, ({ type }) => type),
    terminate: countBy(terminated, ({ type, cause }) => `${type}|${cause}`),
    infeasible: {
      demands: listUnplaced(demands, placed),
      gangs: unplacedIds(gangs),
      constraints: !floor.isMet,
    },
    launched,
    terminated,
    placements: { constraints: floor.placed, demands: placed, gangs },
  };
}

/** Launches what the constraints lack, all of it or nothing. */
function holdFloor(
  cluster: Cluster,
  constraints: readonly Demand[],
): { readonly isMet: boolean; readonly placed: readonly (readonly Placement[])[] } {
  const packing = pack(cluster, makeDemandAsks(cluster, constraints), 'total');
  if (packing.asks.leftCount > 0) return { isMet: false, placed: constraints.map(() => []) };
  const taken = commit(cluster, packing, 'constraint');
  const placed = host(constraints, taken, (constraint, count) => ({
    kind: 'constraint',
    constraint,
    count,
  }));
  return { isMet: true, placed };
}

/** Places what it can. */
function placeDemands(
  cluster: Cluster,
  demands: readonly Demand[],
): readonly (readonly Placement[])[] {
  const packing = pack(cluster, makeDemandAsks(cluster, demands), 'free');
  const taken = commit(cluster, packing, 'demand');
  return host(demands, taken, (demand, count) => ({ kind: 'demand', demand, count }));
}

/** Writes down at the nodes what they were given, and for each demand where it went. */
function host(
  demands: readonly Demand[],
  taken: ReturnType<typeof commit>,
  toHosted: (source: number, count: number) => Hosted,
): readonly (readonly Placement[])[] {
  const placed = demands.map((): Placement[] => []);
  for (const { node, fill } of taken) {
    const where = whereOf(node);
    for (const { line, count } of fill) {
      must(placed[line.source], 'the demand that a line was made of').push({ where, count });
      node.hosts.push(toHosted(line.source, count));
    }
  }
  return placed;
}

function makeDemandAsks({ registry }: Cluster, demands: readonly Demand[]): Asks {
  const requests = inPackingOrder(demands.map((demand, source) => ({ ...demand, source })));
  const lines = requests.map((request) => makeLine(registry, request, request));
  return makeAsks(lines, registry.columns.size, null);
}

function listLaunched(cluster: Cluster): readonly LaunchedNode[] {
  return cluster.launched.flatMap(({ type, launchIndex: index, standing, hosts }) =>
    standing.kind === 'launch' ? [{ type, index, cause: standing.cause, hosts }] : [],
  );
}

function listTerminated(cluster: Cluster): readonly TerminatedNode[] {
  return cluster.nodes.flatMap(({ id, type, standing }) =>
    standing.kind === 'condemned' ? [{ id, type, cause: standing.cause }] : [],
  );
}

function listUnplaced(
  demands: readonly Demand[],
  placed: readonly (readonly Placement[])[],
): readonly Demand[] {
  const unplaced = new Map<string, Demand>();
  for (const [i, { resources, selectors, count }] of demands.entries()) {
    const placedCount = (placed[i] ?? []).reduce((sum, placement) => sum + placement.count, 0);
    if (placedCount === count) continue;
    const sorted = Object.entries(resources).sort((a, b) => byText(a[0], b[0]));
    const key = JSON.stringify([Object.fromEntries(sorted), selectors]);
    const before = unplaced.get(key)?.count ?? 0;
    unplaced.set(key, { resources, selectors, count: before + count - placedCount });
  }
  return [...unplaced].sort((a, b) => byText(a[0], b[0])).map(([, demand]) => demand);
}

const unplacedIds = (gangs: readonly GangPlacement[]): readonly string[] =>
  gangs.flatMap((gang) => (gang.kind === 'unplaced' ? [gang.id] : [])).sort(byText);

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) {
    const key = keyOf(item);
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

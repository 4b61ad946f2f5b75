import { byFirst, byNumber } from '../../../support/order.ts';
import { canAfford, spend } from './budgets.ts';
import type { Cluster } from './cluster.ts';
import { type PlannedNode, countByType, isCondemned, launchNode } from './nodes.ts';
import type { TerminationCause } from './outcome.ts';

/** Condemns workers whose type is gone or whose configuration is not the type's present one. */
export function condemnOutdated(cluster: Cluster): void {
  for (const node of cluster.nodes) {
    if (node.standing.kind !== 'kept' || node.isHead) continue;
    const type = cluster.types.get(node.type);
    // Nodes not yet running carry no hash, so they are called outdated wherever the type has one.
    const isOutdated =
      type === undefined || (type.configHash !== '' && type.configHash !== node.configHash);
    if (isOutdated) node.standing = { kind: 'condemned', cause: 'outdated' };
  }
}

/** Brings each type up to its minimum; the launches go in front of the list. */
export function launchMinimums(cluster: Cluster): void {
  const counts = countByType(cluster.nodes.filter((node) => !isCondemned(node)));
  const launches: PlannedNode[] = [];
  for (const type of cluster.types.values()) {
    const missing = type.min - (counts.get(type.name) ?? 0);
    for (let i = 0; i < missing && canAfford(cluster.spending, type.name); i++) {
      launches.push(launchNode(type, 'min'));
      cluster.spending = spend(cluster.spending, type.name);
    }
  }
  cluster.nodes = [...launches, ...cluster.nodes];
}

/** Condemns what exceeds a type's maximum. Also sorts the list by type, in order of appearance. */
export function condemnOverTypeMax(cluster: Cluster): void {
  const condemned = cluster.nodes.filter(isCondemned);
  const byType = new Map<string, PlannedNode[]>();
  for (const node of cluster.nodes) {
    if (isCondemned(node)) continue;
    const nodes = byType.get(node.type);
    if (nodes === undefined) byType.set(node.type, [node]);
    else nodes.push(node);
  }
  const kept: PlannedNode[] = [];
  for (const [name, nodes] of byType) {
    // A type that is gone, while nobody checks configurations, limits nothing.
    const max = cluster.types.get(name)?.max ?? nodes.length;
    const split = condemnExcess(nodes, max, 'maxPerType');
    condemned.push(...split.condemned);
    kept.push(...split.kept);
  }
  cluster.nodes = [...condemned, ...kept];
}

/** Condemns what exceeds the cluster's maximum. A maximum of zero ends nothing. */
export function condemnOverTotalMax(cluster: Cluster): void {
  const { maxNodes } = cluster;
  if (maxNodes === null || maxNodes === 0) return;
  const condemned = cluster.nodes.filter(isCondemned);
  const others = cluster.nodes.filter((node) => !isCondemned(node));
  const split = condemnExcess(others, maxNodes, 'maxTotal');
  cluster.nodes = [...condemned, ...split.condemned, ...split.kept];
}

/**
 * Ends nodes not yet running first, then the longest idle, then the least used; never the head.
 * Without excess the order stays; with it, what is kept is in order of termination, the head last.
 * A launch in excess is not a node to end: it just does not happen.
 */
function condemnExcess(
  nodes: readonly PlannedNode[],
  max: number,
  cause: TerminationCause,
): { readonly condemned: readonly PlannedNode[]; readonly kept: readonly PlannedNode[] } {
  const excess = nodes.length - max;
  if (excess <= 0) return { condemned: [], kept: nodes };
  const sorted = nodes
    .map((node) => ({ node, usedRatio: meanUsedRatio(node) }))
    .sort(inTerminationOrder)
    .map(({ node }) => node);
  const head = sorted.find((node) => node.isHead);
  const workers = sorted.filter((node) => node !== head);
  const condemned = workers.slice(0, excess).filter((node) => node.standing.kind !== 'launch');
  for (const node of condemned) node.standing = { kind: 'condemned', cause };
  const kept = workers.slice(excess);
  return { condemned, kept: head === undefined ? kept : [...kept, head] };
}

interface Ordered {
  readonly node: PlannedNode;
  readonly usedRatio: number;
}

const inTerminationOrder = byFirst<Ordered>(
  byNumber(({ node }) => Number(node.isRunning)),
  byNumber(({ node }) => -node.idleMs),
  byNumber(({ usedRatio }) => usedRatio),
);

function meanUsedRatio({ total, available }: PlannedNode): number {
  let count = 0;
  let sum = 0;
  for (const [name, has] of Object.entries(total)) {
    if (has <= 0) continue;
    count++;
    sum += (has - (available[name] ?? 0)) / has;
  }
  return count === 0 ? 0 : sum / count;
}

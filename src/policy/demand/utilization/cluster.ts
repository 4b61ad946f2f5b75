import { type Spending, openSpending, spend } from './budgets.ts';
import { type CandidateRegistry, afterFill, openCandidateRegistry } from './candidates.ts';
import type { Fill } from './fill.ts';
import { type PlannedNode, buildNodes, candidateOf, countByType, launchNode } from './nodes.ts';
import type { LaunchCause } from './outcome.ts';
import type { Packing } from './pack.ts';
import type { NodeType, UtilizationProblem } from './problem.ts';

/** The cluster as the phases leave it to each other. Mutable, and known to one pass only. */
export interface Cluster {
  /** By name, in list order. */
  readonly types: ReadonlyMap<string, NodeType>;
  readonly maxNodes: number | null;
  readonly registry: CandidateRegistry;
  /** In list order: it decides ties, and packing changes it. */
  nodes: readonly PlannedNode[];
  /** In order of launch. */
  readonly launched: PlannedNode[];
  spending: Spending;
}

export function openCluster(problem: UtilizationProblem): Cluster {
  const types = new Map(problem.nodeTypes.map((type) => [type.name, type]));
  return {
    types,
    maxNodes: problem.limits.maxNodes,
    registry: openCandidateRegistry(problem),
    nodes: buildNodes(problem.nodes, types, problem.limits.checkConfig),
    launched: [],
    spending: openSpending(problem.budgets ?? []),
  };
}

/** Numbers launches within their type and keeps them in order. */
export function recordLaunches(cluster: Cluster, launches: readonly PlannedNode[]): void {
  const counts = countByType(cluster.launched);
  for (const node of launches) {
    node.launchIndex = counts.get(node.type) ?? 0;
    counts.set(node.type, node.launchIndex + 1);
    cluster.launched.push(node);
  }
}

/**
 * Carries out a packing step. Chosen nodes come first in the new list, then the others as they
 * were, then launches. Returns who took what, best first.
 */
export function commit(
  cluster: Cluster,
  { ledger, asks, choices }: Packing,
  cause: LaunchCause,
): readonly { readonly node: PlannedNode; readonly fill: Fill }[] {
  const existing = new Set<PlannedNode>();
  const launches: PlannedNode[] = [];
  const taken = choices.map((choice) => {
    const node = choice.kind === 'node' ? choice.node : launchNode(choice.type, cause);
    if (choice.kind === 'node') existing.add(node);
    else launches.push(node);
    const before = candidateOf(cluster.registry, node, ledger);
    node.candidates[ledger] = afterFill(cluster.registry, before, choice.fill, asks.mark);
    return { node, fill: choice.fill };
  });
  const others = cluster.nodes.filter((node) => !existing.has(node));
  cluster.nodes = [...existing, ...others, ...launches];
  recordLaunches(cluster, launches);
  for (const node of launches) cluster.spending = spend(cluster.spending, node.type);
  return taken;
}

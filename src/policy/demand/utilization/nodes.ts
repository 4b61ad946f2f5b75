import { type Candidate, type CandidateRegistry, makeCandidate } from './candidates.ts';
import type { Hosted, LaunchCause, TerminationCause, Where } from './outcome.ts';
import type { ClusterNode, Labels, NodeState, NodeType, Resources } from './problem.ts';

export type Standing =
  | { readonly kind: 'kept' }
  | { readonly kind: 'launch'; readonly cause: LaunchCause }
  /** Ended by this plan, yet it keeps its place, absorbs work and fills its slot till the end. */
  | { readonly kind: 'condemned'; readonly cause: TerminationCause };

/**
 * The two accounts of a node: `free` is what work may use now, `total` is what the constraint is
 * checked against. What is placed on one does not show in the other.
 */
export type Ledger = 'free' | 'total';

/** A node as the phases pass it on. Mutable, and known to one planning pass only. */
export interface PlannedNode {
  /** Empty for a launch. */
  readonly id: string;
  readonly type: string;
  readonly isHead: boolean;
  readonly isRunning: boolean;
  readonly idleMs: number;
  readonly configHash: string;
  readonly total: Resources;
  readonly available: Resources;
  readonly labels: Labels;
  standing: Standing;
  /** Of launches: how many of the type were launched before. */
  launchIndex: number;
  /** Made when first needed: a pass without work needs none. */
  readonly candidates: Record<Ledger, Candidate | null>;
  readonly hosts: Hosted[];
}

/** States from which a node may yet run work. The others are invisible to the planner. */
const visibleStates: ReadonlySet<NodeState> = new Set([
  'queued',
  'requested',
  'allocated',
  'installing',
  'running',
  'stopRequested',
]);

/**
 * First phase. A running node is what it says it is; any other, even one asked to stop, is planned
 * as a fresh node of its type, without a configuration hash. Of a type that is gone, a node not yet
 * running is condemned if configurations are checked and invisible otherwise.
 */
export function buildNodes(
  nodes: readonly ClusterNode[],
  types: ReadonlyMap<string, NodeType>,
  checkConfig: boolean,
): PlannedNode[] {
  const planned: PlannedNode[] = [];
  for (const node of nodes) {
    if (!visibleStates.has(node.state)) continue;
    const type = types.get(node.type);
    if (node.state === 'running') {
      planned.push(runningNode(node));
    } else if (type !== undefined) {
      planned.push({ ...freshNode(type), id: node.id, isHead: node.kind === 'head' });
    } else if (checkConfig) {
      planned.push(vanishedNode(node));
    }
  }
  return planned;
}

function runningNode(node: ClusterNode): PlannedNode {
  return {
    id: node.id,
    type: node.type,
    isHead: node.kind === 'head',
    isRunning: true,
    idleMs: node.idleMs ?? 0,
    configHash: node.configHash ?? '',
    total: node.total ?? {},
    available: node.available ?? {},
    labels: node.labels ?? {},
    standing: { kind: 'kept' },
    launchIndex: 0,
    candidates: { free: null, total: null },
    hosts: [],
  };
}

function freshNode(type: Pick<NodeType, 'name' | 'resources' | 'labels'>): PlannedNode {
  return {
    id: '',
    type: type.name,
    isHead: false,
    isRunning: false,
    idleMs: 0,
    configHash: '',
    total: type.resources,
    available: type.resources,
    labels: type.labels,
    standing: { kind: 'kept' },
    launchIndex: 0,
    candidates: { free: null, total: null },
    hosts: [],
  };
}

function vanishedNode({ id, type }: ClusterNode): PlannedNode {
  const node = freshNode({ name: type, resources: {}, labels: {} });
  return { ...node, id, standing: { kind: 'condemned', cause: 'outdated' } };
}

/** A node to launch; it has no number before `recordLaunches`. */
export function launchNode(type: NodeType, cause: LaunchCause): PlannedNode {
  return { ...freshNode(type), standing: { kind: 'launch', cause } };
}

export function candidateOf(
  registry: CandidateRegistry,
  node: PlannedNode,
  ledger: Ledger,
): Candidate {
  let candidate = node.candidates[ledger];
  if (candidate === null) {
    const { type, total, labels } = node;
    const free = ledger === 'free' ? node.available : total;
    candidate = makeCandidate(registry, { type, total, free, labels });
    node.candidates[ledger] = candidate;
  }
  return candidate;
}

export function whereOf(node: PlannedNode): Where {
  return node.standing.kind === 'launch'
    ? { kind: 'launch', type: node.type, index: node.launchIndex }
    : { kind: 'node', id: node.id };
}

/** Whether this plan ends the node. */
export const isCondemned = (node: PlannedNode): boolean => node.standing.kind === 'condemned';

/** Nodes by type. */
export function countByType(nodes: readonly PlannedNode[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const node of nodes) counts.set(node.type, (counts.get(node.type) ?? 0) + 1);
  return counts;
}

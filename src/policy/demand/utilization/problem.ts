/** Quantities by resource name, in whatever unit the resource is counted. Absent means zero. */
export type Resources = Readonly<Record<string, number>>;
export type Labels = Readonly<Record<string, string>>;

/** `notIn` also holds for a node that lacks the label. */
export interface LabelCondition {
  readonly key: string;
  readonly op: 'in' | 'notIn';
  readonly values: readonly string[];
}

/** Conditions that must all hold. */
export type Selector = readonly LabelCondition[];

/** One thing to place. `selectors` are alternatives, the first preferred; none means anywhere. */
export interface Request {
  readonly resources: Resources;
  readonly selectors: readonly Selector[];
}

/** `count` equal requests, placed one by one wherever there is room. */
export interface Demand extends Request {
  readonly count: number;
}

/**
 * Requests that are placed together or not at all. STRICT_PACK: on one node (per distinct
 * selector). STRICT_SPREAD: each on a node of its own. PACK and SPREAD are wishes that the planner
 * does not hear: both are packed.
 */
export interface Gang {
  readonly id: string;
  readonly strategy: 'PACK' | 'SPREAD' | 'STRICT_PACK' | 'STRICT_SPREAD';
  readonly bundles: readonly Request[];
}

export interface NodeType {
  readonly name: string;
  readonly resources: Resources;
  /** `min` and `max` count every node of the type, a head included. */
  readonly min: number;
  readonly max: number;
  readonly labels: Labels;
  /** Higher is preferred, but only between candidates that are equally well used. */
  readonly priority: number;
  /** Overrides the cluster's idle timeout; null leaves it. */
  readonly idleTimeoutS: number | null;
  /** What a node must have been launched with to be up to date; empty when unknown. */
  readonly configHash: string;
}

export type NodeState =
  | 'queued'
  | 'requested'
  | 'allocated'
  | 'installing'
  | 'running'
  | 'stopRequested'
  | 'stopping'
  | 'stopped'
  | 'terminating'
  | 'terminated'
  | 'allocationFailed';

/**
 * A node that exists or is on its way. What it measures of itself (`total` and the fields after it)
 * is read of running nodes alone; others are planned with what their type promises. A resource
 * missing in `available` is used up. The label `_PG_<gang id>` says that the node hosts a bundle of
 * that STRICT_SPREAD gang already.
 */
export interface ClusterNode {
  readonly id: string;
  readonly type: string;
  readonly kind: 'worker' | 'head';
  readonly state: NodeState;
  readonly total?: Resources;
  readonly available?: Resources;
  readonly labels?: Labels;
  readonly idleMs?: number;
  readonly configHash?: string;
}

export interface Limits {
  /** All nodes, the head included; null is no limit, and 0 forbids launches but ends no node. */
  readonly maxNodes: number | null;
  /** Null: no node is ever idle for too long, unless its type says otherwise. */
  readonly idleTimeoutS: number | null;
  /** Whether nodes of an outdated configuration are ended. */
  readonly checkConfig: boolean;
}

/**
 * A bound on launches: a node of type `t` takes `use[t]` (absent: nothing) of what is `left`, and is
 * launched only while that is enough. A spend cap and a quota pool are both of this form.
 */
export interface Budget {
  readonly left: number;
  readonly use: Readonly<Record<string, number>>;
}

/**
 * What the planner decides upon. The order of every list counts: the earlier of two equals wins.
 * `constraints` are a floor on the size of the cluster, checked against what nodes have, not
 * against what is free. `availability` and `recovery` are ratios per type, 1 when absent: how long
 * ago launching it failed, and how far it is trusted again.
 */
export interface UtilizationProblem {
  readonly nodeTypes: readonly NodeType[];
  readonly nodes: readonly ClusterNode[];
  readonly demands: readonly Demand[];
  readonly gangs: readonly Gang[];
  readonly constraints: readonly Demand[];
  readonly limits: Limits;
  readonly availability: Readonly<Record<string, number>>;
  readonly recovery: Readonly<Record<string, number>>;
  readonly budgets?: readonly Budget[];
}

import type { Demand } from './problem.ts';

/** A node that is there, or the `index`-th launch (from 0) of its type in this plan. */
export type Where =
  | { readonly kind: 'node'; readonly id: string }
  | { readonly kind: 'launch'; readonly type: string; readonly index: number };

export interface Placement {
  readonly where: Where;
  readonly count: number;
}

/** Where each bundle of a gang goes, in the order of its bundles; all of them or none. */
export type GangPlacement =
  | { readonly kind: 'placed'; readonly id: string; readonly bundles: readonly Where[] }
  | { readonly kind: 'unplaced'; readonly id: string };

/** What a node was given in this plan; numbers are indices into the lists of the problem. */
export type Hosted =
  | { readonly kind: 'constraint'; readonly constraint: number; readonly count: number }
  | { readonly kind: 'bundle'; readonly gang: number; readonly bundle: number }
  | { readonly kind: 'demand'; readonly demand: number; readonly count: number };

/** The phase that asked for a launch. What the node hosts may come from later phases too. */
export type LaunchCause = 'min' | 'constraint' | 'gang' | 'demand';

export interface LaunchedNode {
  readonly type: string;
  readonly index: number;
  readonly cause: LaunchCause;
  readonly hosts: readonly Hosted[];
}

export type TerminationCause = 'outdated' | 'maxPerType' | 'maxTotal' | 'idle';

export interface TerminatedNode {
  readonly id: string;
  readonly type: string;
  readonly cause: TerminationCause;
}

/** What was not placed, for whatever reason: no type could hold it, or a limit forbids it. */
export interface Infeasible {
  /** Equal requests are one entry; in the order of their text (resources, then selectors). */
  readonly demands: readonly Demand[];
  /** Ids, ascending. */
  readonly gangs: readonly string[];
  readonly constraints: boolean;
}

export interface UtilizationPlan {
  /** Nodes to launch, by type; types without launches are absent. */
  readonly launch: Readonly<Record<string, number>>;
  /** Nodes to end, by `type|cause`. */
  readonly terminate: Readonly<Record<string, number>>;
  readonly infeasible: Infeasible;
  /** In order of launch. */
  readonly launched: readonly LaunchedNode[];
  /** In the order in which the planner lists its nodes in the end. */
  readonly terminated: readonly TerminatedNode[];
  /**
   * Work may be placed on a node that this same plan ends: such work comes back as demand in the
   * next pass.
   */
  readonly placements: {
    /** By index of the constraint: the nodes that make up the floor, if all of it is met. */
    readonly constraints: readonly (readonly Placement[])[];
    /** By index of the demand, best node first. */
    readonly demands: readonly (readonly Placement[])[];
    /** By index of the gang. */
    readonly gangs: readonly GangPlacement[];
  };
}

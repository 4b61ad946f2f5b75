import type { Constraint } from './constraint.ts';
import type { EntryId, EpochMs } from './ids.ts';
import type { Resources } from './resources.ts';
import type { InvalidDemand } from './reason.ts';

export interface DeviceAsk {
  readonly type: string;
  /** Any of these will do; null means any variant of the type. */
  readonly variants: readonly string[] | null;
}

/** What one task needs of the host that runs it. */
export interface Ask {
  /** Null: no accelerator needed. */
  readonly device: DeviceAsk | null;
  /** Null: either kind of capacity will do. */
  readonly preemptible: boolean | null;
  readonly constraints: readonly Constraint[];
  readonly resources: Resources;
}

export const bundleStrategies = ['PACK', 'SPREAD', 'STRICT_PACK', 'STRICT_SPREAD'] as const;
export type BundleStrategy = (typeof bundleStrategies)[number];

/** A task alone; n equal tasks, all or nothing; or unlike parts that belong together. */
export type EntryForm =
  | { readonly kind: 'single'; readonly ask: Ask }
  | { readonly kind: 'gang'; readonly ask: Ask; readonly taskCount: number }
  | {
      readonly kind: 'bundles';
      readonly strategy: BundleStrategy;
      readonly bundles: readonly Ask[];
    };

/** One unscheduled task as a scheduler knows it. Tasks that name the same gang run together or not at all. */
export interface Task {
  readonly id: string;
  readonly gang: string | null;
  readonly ask: Ask;
  readonly priority: number;
  readonly submittedAtMs: EpochMs;
  readonly owner: string | null;
}

/** One piece of pending work, or `count` equal ones (see EntryBatch for their names). */
export interface Entry {
  readonly id: EntryId;
  readonly count: number;
  readonly form: EntryForm;
  readonly priority: number;
  readonly submittedAtMs: EpochMs;
  readonly owner: string | null;
  readonly taskIds: readonly string[];
  readonly invalid: InvalidDemand | null;
}

/**
 * `count` entries that arrived together: with a count of 1 the id is the entry's own, otherwise
 * the entries are called `id/0`, `id/1` and so on.
 */
export interface EntryBatch {
  readonly id: EntryId;
  readonly count: number;
  readonly submittedAtMs: EpochMs;
  /** Place in the list its scheduler pushed: the last tie-break of service order. */
  readonly order: number;
  readonly owner: string | null;
  /** Of a gang, the names its scheduler gave the tasks; empty where it gave none. */
  readonly taskIds: readonly string[];
}

/** Entries alike in everything but identity, with a count. Planning is by class. */
export interface DemandClass {
  readonly form: EntryForm;
  /** Higher is served first when not everything can be; default 0. */
  readonly priority: number;
  /** Set when the work can be placed nowhere because the request itself is wrong. */
  readonly invalid: InvalidDemand | null;
  /** Gangs for which an earlier decision reserved slices; they are classes of their own. */
  readonly isReserved: boolean;
  /** In service order: oldest first, then the order given. */
  readonly batches: readonly EntryBatch[];
  /** Sum of the batches' counts. */
  readonly count: number;
}

/** Capacity to hold whether used or not (`request_resources`), measured against whole hosts. */
export interface Floor {
  readonly id: EntryId;
  readonly ask: Ask;
  readonly count: number;
}

/** The name of the entry at a place in a batch. */
export function entryIdAt(batch: EntryBatch, index: number): EntryId {
  return batch.count === 1 ? batch.id : (`${batch.id}/${index}` as EntryId); // a name of ours
}

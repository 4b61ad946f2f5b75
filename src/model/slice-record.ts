import type { EntryId, EpochMs, GroupName, MachineId, SliceId } from './ids.ts';
import type { Refusal } from './refusal.ts';
import type { Host, Slice, SliceStatus } from './slice.ts';

/** What can happen to a slice. Which of them mean something in a status is the table's matter. */
export const sliceEvents = [
  'planned',
  'adopted',
  'launch-sent',
  'machines-seen',
  'hosts-up',
  'hosts-ready',
  'refused',
  'cancelled',
  'drain-started',
  'drain-cancelled',
  'drain-finished',
  'host-lost',
  'timed-out',
  'all-gone',
] as const;
export type SliceEvent = (typeof sliceEvents)[number];

/** Who asked for a slice. */
export type LaunchWhy = 'demand' | 'min' | 'spare' | 'floor';

/** Why a slice is made to leave though nothing is wrong with it. */
export type DrainWhy =
  | { readonly kind: 'idle'; readonly idleForMs: number }
  | { readonly kind: 'above-max'; readonly total: number; readonly max: number }
  | { readonly kind: 'outdated' }
  | { readonly kind: 'group-removed' }
  /** The provider has announced to take it away. */
  | { readonly kind: 'interrupted'; readonly atMs: EpochMs }
  /** It stood in for a group that can launch again. */
  | { readonly kind: 'fallback-ended'; readonly preferred: GroupName }
  /** More machines than hosts carry its tag. */
  | { readonly kind: 'surplus-machines'; readonly machines: number; readonly hosts: number }
  | { readonly kind: 'operator'; readonly author: string; readonly reason: string };

/** Why a launch is given up before it is ready. */
export type CancelWhy =
  | { readonly kind: 'not-needed'; readonly sinceMs: EpochMs }
  | { readonly kind: 'gang-rolled-back'; readonly gang: EntryId }
  /** Not sent yet, and its group cannot launch now: the work is planned anew. */
  | { readonly kind: 'group-troubled' }
  | Extract<DrainWhy, { kind: 'above-max' | 'group-removed' | 'interrupted' | 'outdated' }>
  | Extract<DrainWhy, { kind: 'surplus-machines' | 'operator' }>;

/** Why a slice is in its status, as far as that needs a word. */
export type SliceCause =
  | { readonly kind: 'launched-for'; readonly why: LaunchWhy }
  | { readonly kind: 'adopted' }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'timeout'; readonly status: SliceStatus; readonly afterMs: number }
  | { readonly kind: 'host-lost'; readonly hostIndex: number; readonly machineId: MachineId | null }
  /** Its software did not come up, in any of the attempts. */
  | {
      readonly kind: 'bootstrap-failed';
      readonly hostIndex: number;
      readonly machineId: MachineId | null;
      readonly detail: string;
    }
  /** Taken away by the provider, with or without notice. */
  | { readonly kind: 'preempted'; readonly hostIndex: number; readonly machineId: MachineId | null }
  | { readonly kind: 'draining'; readonly why: DrainWhy }
  | { readonly kind: 'drain-refused'; readonly hostIndex: number }
  /** Work ran on beyond the deadline, and nothing may end it: the slice stays. */
  | { readonly kind: 'drain-outlasted'; readonly hostIndex: number }
  | { readonly kind: 'needed-again' }
  | { readonly kind: 'cancelled'; readonly why: CancelWhy };

/** One step in the life of a slice. */
export interface HistoryStep {
  readonly atMs: EpochMs;
  readonly event: SliceEvent;
  readonly status: SliceStatus;
  readonly cause: SliceCause | null;
}

/** All that is remembered of a slice; survives the process. */
export interface SliceRecord {
  readonly id: SliceId;
  readonly group: GroupName;
  readonly provider: string;
  readonly hostCount: number;
  readonly status: SliceStatus;
  readonly statusSinceMs: EpochMs;
  /** The gang that alone may use it, and since when it has been held for it. */
  readonly reservedFor: EntryId | null;
  readonly reservedSinceMs: EpochMs | null;
  /** The price at its launch, per hour. */
  readonly priceMicroUsdPerHour: number | null;
  /** Fingerprint of the group's shape and bootstrap at its launch: another one now means outdated. */
  readonly shape: string;
  /** Groups that were preferred to its own at launch and could not launch. */
  readonly fallbackFor: readonly GroupName[];
  /** By host index, as first seen; null while unknown. */
  readonly machines: readonly (MachineId | null)[];
  readonly requestedAtMs: EpochMs | null;
  readonly readyAtMs: EpochMs | null;
  /** Ready: without work since. On its way: needed by nobody since. Null: in use, or not known. */
  readonly idleSinceMs: EpochMs | null;
  /** Somebody has reported on it: from then on only a report can say that nothing runs there. */
  readonly isReported: boolean;
  /** An operator's mark: no scale-down touches it. */
  readonly isProtected: boolean;
  /** Why it drains or ends; null while it stays. */
  readonly drain: DrainOrder | null;
  readonly history: readonly HistoryStep[];
}

export interface DrainOrder {
  readonly why: DrainWhy;
  /** Work may run until then; what happens afterwards depends on `why`. */
  readonly deadlineMs: EpochMs;
}

/** What is known of a host beside its record; not remembered, reported anew. */
export interface TrackedHost extends Host {
  /** Null: nobody has reported. */
  readonly isBusy: boolean | null;
}

/** A slice as one tick sees it: what is remembered, and what is reported. */
export interface TrackedSlice extends Omit<SliceRecord, 'history'>, Slice {
  readonly hosts: readonly TrackedHost[];
}

/** No machine is left and none may come. */
export const terminalStatuses: ReadonlySet<SliceStatus> = new Set(['terminated', 'failed']);
export const isLive = ({ status }: { readonly status: SliceStatus }): boolean =>
  !terminalStatuses.has(status);

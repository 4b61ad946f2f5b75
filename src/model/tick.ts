import type { Control } from './control.ts';
import type { DemandDecision } from './decision.ts';
import type { DemandClass, Floor } from './demand.ts';
import type { EntryId, EpochMs, GroupName, SliceId } from './ids.ts';
import type { LearnedHost } from './learned-host.ts';
import type { Pause } from './pause.ts';
import type { CancelWhy, DrainWhy, LaunchWhy, TrackedSlice } from './slice-record.ts';
import type { SliceStatus } from './slice.ts';
import type { GroupHealth, Trouble } from './trouble.ts';

/** All that one tick decides from, frozen. Recorded, so that the tick can be run again. */
export interface TickInput {
  readonly atMs: EpochMs;
  /** Makes slice ids unique: no other tick of the fleet's life has the same pair. */
  readonly epoch: number;
  readonly seq: number;
  readonly control: Control;
  /** Live slices, by id. */
  readonly slices: readonly TrackedSlice[];
  readonly demand: readonly DemandClass[];
  readonly floors: readonly Floor[];
  readonly pauses: readonly Pause[];
  readonly troubles: readonly Trouble[];
  readonly health: readonly GroupHealth[];
  /** Groups whose hosts turned out smaller than the configuration says. */
  readonly learned: readonly LearnedHost[];
  /** Providers that have not answered a list since the start: nothing is launched there. */
  readonly unlisted: readonly string[];
  /** Launches sent in the last minute, oldest first. */
  readonly launchedAtMs: readonly EpochMs[];
  /** Scale-downs begun in the last minute, oldest first. */
  readonly releasedAtMs: readonly EpochMs[];
}

/** One thing to do, as an event in the life of a slice. */
export type PlanStep =
  | {
      readonly kind: 'launch';
      readonly sliceId: SliceId;
      readonly group: GroupName;
      readonly why: LaunchWhy;
      readonly reservedFor: EntryId | null;
      readonly fallbackFor: readonly GroupName[];
    }
  /** A queued launch that the rates let go: the call is made after the record. */
  | { readonly kind: 'send'; readonly sliceId: SliceId }
  | { readonly kind: 'cancel'; readonly sliceId: SliceId; readonly why: CancelWhy }
  | { readonly kind: 'drain'; readonly sliceId: SliceId; readonly why: DrainWhy }
  | { readonly kind: 'cancel-drain'; readonly sliceId: SliceId }
  /** The gang was placed elsewhere, is gone, or took too long. */
  | {
      readonly kind: 'unreserve';
      readonly sliceId: SliceId;
      readonly gang: EntryId;
      readonly why: 'placed' | 'timed-out';
    }
  /** Nobody has needed a slice on its way since now; or somebody does again. */
  | { readonly kind: 'mark-unneeded' | 'mark-needed'; readonly sliceId: SliceId };

/** Why a launch waits though every bound admits it. */
export interface Deferral {
  readonly group: GroupName;
  readonly count: number;
  readonly by: 'creates-per-minute' | 'concurrent-launches' | 'upscaling-speed' | 'probing';
  /** When it will be looked at again at the latest. */
  readonly untilMs: EpochMs;
}

/** Why a slice stays, or where it is in leaving. */
export type SliceVerdict =
  | { readonly kind: 'busy' }
  /** Nobody has reported on it: taken for busy. */
  | { readonly kind: 'unreported' }
  | { readonly kind: 'needed' }
  | { readonly kind: 'idle-grace'; readonly idleTimeoutMs: number }
  | { readonly kind: 'min'; readonly min: number }
  | { readonly kind: 'spare'; readonly spare: number }
  | { readonly kind: 'floor' }
  | { readonly kind: 'reserved'; readonly gang: EntryId }
  | { readonly kind: 'protected' }
  /** Its scheduler refused to drain it, or work came back: it is not asked again before then. */
  | { readonly kind: 'drain-called-off'; readonly untilMs: EpochMs }
  | { readonly kind: 'paused' }
  | { readonly kind: 'blast-radius' }
  | { readonly kind: 'waiting'; readonly status: SliceStatus; readonly timeoutMs: number }
  | { readonly kind: 'deferred'; readonly by: Deferral['by']; readonly untilMs: EpochMs }
  | { readonly kind: 'draining'; readonly why: DrainWhy }
  | { readonly kind: 'cancelled'; readonly why: CancelWhy }
  | { readonly kind: 'ending' };

/** What a tick concludes: pure data, the same for the same input. */
export interface TickOutput {
  readonly decision: DemandDecision;
  readonly steps: readonly PlanStep[];
  readonly deferrals: readonly Deferral[];
  /** Every live slice of the input once, with why it stays or leaves; slices alike share a row. */
  readonly verdicts: readonly {
    readonly verdict: SliceVerdict;
    readonly sliceIds: readonly SliceId[];
  }[];
}

import type { EntryId, EpochMs, GroupName, SliceId } from './ids.ts';
import type { Pause } from './pause.ts';
import type { Refusal } from './refusal.ts';
import type { SliceCause, SliceEvent } from './slice-record.ts';
import type { SliceStatus } from './slice.ts';
import type { Trouble } from './trouble.ts';

/** What happened, for people and for afterwards. A closed list; `docs/events.md` says what each means. */
export type FleetEvent =
  | {
      readonly kind: 'slice-moved';
      readonly sliceId: SliceId;
      readonly group: GroupName;
      readonly event: SliceEvent;
      readonly from: SliceStatus | null;
      readonly to: SliceStatus;
      readonly cause: SliceCause | null;
    }
  | {
      readonly kind: 'launch-refused';
      readonly sliceId: SliceId;
      readonly group: GroupName;
      readonly refusal: Refusal;
    }
  | { readonly kind: 'backoff-started'; readonly trouble: Trouble }
  | { readonly kind: 'backoff-ended'; readonly trouble: Trouble; readonly why: 'success' | 'time' }
  | {
      readonly kind: 'gang-rolled-back';
      readonly gang: EntryId;
      readonly sliceIds: readonly SliceId[];
    }
  | { readonly kind: 'paused'; readonly pause: Pause }
  | { readonly kind: 'resumed'; readonly pauseId: string; readonly by: 'expiry' | 'operator' }
  | { readonly kind: 'provider-silent'; readonly provider: string; readonly detail: string }
  | { readonly kind: 'provider-back'; readonly provider: string }
  /** Listed with our tag though nobody remembers it, or though its slice has ended. */
  | {
      readonly kind: 'stray-machine';
      readonly sliceId: SliceId;
      readonly group: GroupName;
      readonly action: 'adopted' | 'released';
    }
  /** A provider listed what cannot be: dropped. */
  | { readonly kind: 'garbage-dropped'; readonly provider: string; readonly count: number }
  | { readonly kind: 'group-removed'; readonly group: GroupName; readonly slices: number }
  | { readonly kind: 'config-changed'; readonly groups: number }
  | { readonly kind: 'clock-jumped'; readonly byMs: number }
  | { readonly kind: 'controller-started'; readonly epoch: number; readonly holder: string };

/** An event with its time. */
export interface TimedEvent {
  readonly atMs: EpochMs;
  readonly event: FleetEvent;
}

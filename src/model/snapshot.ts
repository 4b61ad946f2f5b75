import type { DemandClass, Floor } from './demand.ts';
import type { Fleet } from './fleet.ts';
import type { EpochMs, GroupName } from './ids.ts';
import type { Slice } from './slice.ts';

/** Why a group cannot launch now, whatever its bounds say. */
export type GroupCondition =
  | {
      readonly kind: 'backoff' | 'stockout' | 'quota-exceeded';
      readonly group: GroupName;
      readonly untilMs: EpochMs | null;
    }
  | { readonly kind: 'paused'; readonly group: GroupName; readonly untilMs: EpochMs | null }
  | { readonly kind: 'draining'; readonly group: GroupName };

/** All that a decision may look at, frozen. Same snapshot, same decisions, byte for byte. */
export interface Snapshot {
  readonly atMs: EpochMs;
  readonly fleet: Fleet;
  readonly slices: readonly Slice[];
  readonly conditions: readonly GroupCondition[];
  readonly demand: readonly DemandClass[];
  readonly floors: readonly Floor[];
}

import type { EntryId, EpochMs, GroupName, SliceId } from './ids.ts';
import type { Resources } from './resources.ts';

export const sliceStatuses = [
  'queued',
  'requesting',
  'booting',
  'initializing',
  'ready',
  'draining',
  'terminating',
  'terminated',
  'failed',
] as const;
export type SliceStatus = (typeof sliceStatuses)[number];

/** Capacity on its way: it counts as capacity everywhere, always. */
export const onItsWay: ReadonlySet<SliceStatus> = new Set([
  'queued',
  'requesting',
  'booting',
  'initializing',
]);

/** One machine of a slice. */
export interface Host {
  /** Room for more work as last reported; null when nobody reported, which means busy. */
  readonly free: Resources | null;
}

/** The atomic unit we obtain and release. */
export interface Slice {
  readonly id: SliceId;
  readonly group: GroupName;
  readonly status: SliceStatus;
  readonly statusSinceMs: EpochMs;
  /** Empty until the hosts are known: then a slice on its way counts as all its hosts, empty. */
  readonly hosts: readonly Host[];
  /** The gang that alone may use it. */
  readonly reservedFor: EntryId | null;
}

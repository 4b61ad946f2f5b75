import type { EpochMs, SliceId } from './ids.ts';
import type { Resources } from './resources.ts';

/** What a scheduler says of one host. Replaces what it said before. */
export interface HostReport {
  readonly sliceId: SliceId;
  readonly hostIndex: number;
  readonly free: Resources;
  readonly isBusy: boolean;
  /** Its answer to a drain order: `drained` promises that nothing runs and nothing will land. */
  readonly drain: 'none' | 'drained' | 'refused';
  readonly atMs: EpochMs;
}

/** What the reply to a report asks: place nothing new there, and say when it is empty. */
export interface HostOrder {
  readonly sliceId: SliceId;
  readonly order: 'drain' | 'resume';
  readonly deadlineMs: EpochMs | null;
}

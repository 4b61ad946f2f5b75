import type { EpochMs, GroupName } from './ids.ts';

/** Stops launches, drains or both; observing, reasons and reports go on. */
export interface Pause {
  readonly id: string;
  readonly what: 'launches' | 'terminations' | 'both';
  /** Null: the whole fleet. */
  readonly group: GroupName | null;
  readonly author: string;
  readonly reason: string;
  readonly sinceMs: EpochMs;
  /** Null: until somebody ends it. */
  readonly untilMs: EpochMs | null;
}

import type { Group } from './group.ts';

export const strategies = ['priority', 'utilization', 'cost'] as const;
export type Strategy = (typeof strategies)[number];

/** Bounds and rates of a fleet; null means no limit. */
export interface Limits {
  readonly slicesMax: number | null;
  readonly spendMaxMicroUsdPerHour: number | null;
  readonly createsPerMinute: number | null;
  readonly concurrentLaunches: number | null;
  /** Per group, at most `max(1, ceil(upscalingSpeed * max(running, 1)))` launches at a time. */
  readonly upscalingSpeed: number | null;
}

/** A budget that several groups draw on: units per resource, over all their slices. */
export interface QuotaPool {
  readonly name: string;
  /** In the resource's smallest unit. */
  readonly limits: Readonly<Record<string, number>>;
}

/** What policies need to know of a fleet's configuration. */
export interface Fleet {
  readonly name: string;
  readonly strategy: Strategy;
  readonly limits: Limits;
  /** A slice newly ready that nobody has reported on counts as empty for so long. */
  readonly registrationGraceMs: number;
  readonly groups: readonly Group[];
  readonly quotaPools: readonly QuotaPool[];
}

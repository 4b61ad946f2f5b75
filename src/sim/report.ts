import type { Strategy } from '../model/fleet.ts';
import type { EpochMs, GroupName } from '../model/ids.ts';
import type { RefusalKind } from '../model/refusal.ts';
import type { CancelWhy, DrainWhy } from '../model/slice-record.ts';
import type { SliceStatus } from '../model/slice.ts';
import type { Deferral } from '../model/tick.ts';
import type { Happening } from './incidents.ts';
import type { WorkBound } from './work-bound.ts';

/** What happened in a simulation: pure data; text and JSON are drawn from it. */
export interface SimulationReport {
  readonly fleet: string;
  readonly strategy: Strategy;
  readonly seed: number;
  readonly startAtMs: EpochMs;
  readonly simulatedMs: number;
  /** False when it was ended before its time. */
  readonly isComplete: boolean;
  readonly cost: {
    readonly microUsd: number;
    readonly peakMicroUsdPerHour: number;
    readonly peakAtMs: EpochMs;
    /** Groups without a price, which count as 0. */
    readonly unpriced: readonly GroupName[];
  };
  readonly bound: WorkBound;
  readonly work: {
    readonly arrived: number;
    readonly finished: number;
    readonly running: number;
    readonly pending: number;
    /** Runs that lost a host and had to begin again, and how long they had run. */
    readonly restarts: number;
    readonly lostMs: number;
    readonly skippedRows: number;
  };
  /** From arrival to start, of all that has started; null when nothing has. */
  readonly waits: Waits | null;
  /** Of what has never started. */
  readonly stillWaiting: { readonly count: number; readonly longestMs: number };
  readonly groups: readonly GroupSummary[];
  readonly refusals: ReadonlyMap<RefusalKind, number>;
  readonly drains: ReadonlyMap<DrainWhy['kind'], number>;
  readonly cancels: ReadonlyMap<CancelWhy['kind'], number>;
  readonly losses: ReadonlyMap<Loss, number>;
  /** Slice-hours that launches waited for a rate. */
  readonly deferredHours: ReadonlyMap<Deferral['by'], number>;
  readonly reasons: readonly WaitReason[];
  /** Every minute. */
  readonly samples: readonly Sample[];
  readonly peakSlices: number;
  readonly happenings: readonly Happening[];
  /** Rules of its own that the controller broke: bugs, in its words. */
  readonly crashes: readonly string[];
  readonly ticks: number;
  /** Real time that it took. */
  readonly tookMs: number;
}

/** How slices are lost: taken back, failed, or given up because a status took too long. */
export type Loss = 'preempted' | 'host lost' | `${SliceStatus} timed out`;

export interface Waits {
  readonly count: number;
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface GroupSummary {
  readonly group: GroupName;
  readonly launched: number;
  readonly ready: number;
  readonly refused: number;
  readonly preempted: number;
  /** Hosts lost and waits that took too long. */
  readonly failed: number;
  readonly drained: number;
  readonly cancelled: number;
  readonly peakSlices: number;
  readonly sliceHours: number;
  /** Share of the time paid for in which work ran on it. */
  readonly busyRatio: number | null;
  /** Share of the resource that the group is bought for, over all the time paid for. */
  readonly use: { readonly resource: string; readonly ratio: number } | null;
  readonly costMicroUsd: number;
}

/** Why work waited: how many entries for how long in sum, and when. */
export interface WaitReason {
  readonly kind: 'coming' | 'room-there' | 'unmet';
  /** As it was when most waited for it. */
  readonly text: string;
  readonly entryHours: number;
  readonly most: number;
  readonly fromMs: EpochMs;
  readonly toMs: EpochMs;
}

/** How things stood at one moment. */
export interface Sample {
  readonly atMs: EpochMs;
  readonly pending: number;
  readonly running: number;
  readonly ready: number;
  /** Slices paid for, also those coming and going. */
  readonly slices: number;
  readonly microUsdPerHour: number;
}

/** Nearest rank: the smallest value that so much of all values does not exceed. */
export function summarizeWaits(waitsMs: readonly number[]): Waits | null {
  if (waitsMs.length === 0) return null;
  const sorted = [...waitsMs].sort((a, b) => a - b);
  const at = (ratio: number): number =>
    sorted[Math.max(0, Math.ceil(ratio * sorted.length) - 1)] ?? 0;
  return {
    count: sorted.length,
    meanMs: Math.round(sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length),
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    p99Ms: at(0.99),
    maxMs: at(1),
  };
}

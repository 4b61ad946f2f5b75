import type { Control } from '../model/control.ts';
import type { EntryForm } from '../model/demand.ts';
import type { EpochMs, GroupName } from '../model/ids.ts';
import type { Config } from './config-file.ts';
import type { FaultName } from './scenario-schema.ts';

/** A fleet, its work and its troubles, to be run on virtual time. Times are since the start. */
export interface Scenario {
  readonly config: Config;
  readonly seed: number;
  readonly hours: number;
  /** What the wall clock says at the start; null: the simulator's own. */
  readonly startAtMs: EpochMs | null;
  readonly workload: readonly WorkSource[];
  readonly machines: readonly MachineTraits[];
  readonly faults: {
    readonly preset: 'none' | 'hostile';
    readonly own: ReadonlyMap<FaultName, number>;
  };
  /** In order of time. */
  readonly events: readonly ScenarioEvent[];
}

/** Where work comes from. */
export type WorkSource = SyntheticSource | TraceSource;

export interface SyntheticSource {
  readonly kind: 'synthetic';
  readonly id: string;
  /** Arrivals per hour by hour of the day (UTC). */
  readonly perHour: readonly number[];
  readonly bursts: readonly Burst[];
  /** Entries of each arrival. */
  readonly count: number;
  /** Drawn by weight; at least one weighs something. */
  readonly shapes: readonly WorkShape[];
  readonly priority: number;
  readonly owner: string | null;
  readonly fromMs: number;
  readonly toMs: number | null;
}

export interface Burst {
  readonly atMs: number;
  readonly count: number;
  readonly overMs: number;
  readonly everyMs: number | null;
}

export interface WorkShape {
  readonly weight: number;
  readonly form: EntryForm;
  readonly runTime: RunTime;
}

export type RunTime =
  | { readonly kind: 'fixed'; readonly ms: number }
  | { readonly kind: 'even'; readonly fromMs: number; readonly toMs: number }
  | { readonly kind: 'exponential'; readonly meanMs: number }
  | { readonly kind: 'log-normal'; readonly medianMs: number; readonly p95Ms: number };

export interface TraceSource {
  readonly kind: 'trace';
  readonly id: string;
  /** In order of arrival. */
  readonly jobs: readonly TraceJob[];
  /** Rows that made no sense and were left out, as asked. */
  readonly skippedRows: number;
}

export interface TraceJob {
  readonly atMs: number;
  readonly runMs: number;
  /** Jobs alike share one form. */
  readonly form: EntryForm;
  readonly priority: number;
  readonly owner: string | null;
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What the machines of a group are like; what is left out is as the simulated cloud has it. */
export interface MachineTraits {
  readonly group: GroupName;
  readonly queue?: Span;
  readonly start?: Span;
  readonly bootstrap?: Span;
  readonly stop?: Span;
  readonly noticeMs?: number;
  readonly preemptionsPerHour?: number;
  readonly stockoutRatio?: number;
  readonly stockouts?: readonly Span[];
}

/** Trouble, or a change, at a time. */
export type ScenarioEvent = { readonly atMs: number } & (
  | {
      readonly kind: 'stockout' | 'fail-boots';
      readonly group: GroupName;
      readonly forMs: number;
    }
  | {
      readonly kind: 'preempt';
      readonly group: GroupName;
      /** Null: all. */
      readonly count: number | null;
      readonly noticeMs: number;
    }
  | { readonly kind: 'lose-hosts'; readonly group: GroupName; readonly count: number }
  /** Provider null: all of them. */
  | {
      readonly kind: 'hang' | 'throttle';
      readonly provider: string | null;
      readonly forMs: number;
    }
  | {
      readonly kind: 'pause';
      readonly what: 'launches' | 'terminations' | 'both';
      readonly group: GroupName | null;
      readonly forMs: number | null;
    }
  | { readonly kind: 'config'; readonly control: Control; readonly name: string }
  | { readonly kind: 'kill-controller' }
);

import type { EpochMs } from '../src/model/ids.ts';
import type { Catalogue } from '../src/policy/placement/catalogue.ts';
import type { Arrival, HeadroomDecision, Room } from '../src/policy/placement/headroom.ts';
import type { PlacementHost } from '../src/policy/placement/placement.ts';
import type { RunTimes } from '../src/policy/placement/survival.ts';
import type { ReplayProblem } from './replay-problems.ts';

/** What a policy may see and must answer. It never sees a run time before the work has ended. */
export interface ReplayPolicy {
  /** Per type: how long an empty host is kept. */
  readonly idleMs: readonly number[];
  /** Once per tick, before anything is asked; `runTimes` is computed when called. */
  readonly startTick: (nowMs: EpochMs, runTimes: () => RunTimes) => void;
  /** Among ready hosts, or among booting ones with what is meant for them counted in. */
  readonly place: (shape: number, hosts: readonly PlacementHost[]) => string | null;
  /** The type to open for a backlog that has no room; its first shape has a type. */
  readonly open: (backlog: readonly number[], state: OpeningState) => number;
  /** What to hold for work to come, and for what to open a host ahead. */
  readonly headroom: (arrivals: readonly Arrival[], rooms: readonly Room[]) => HeadroomDecision;
}

export type ReplayPolicyMaker = (catalogue: Catalogue, problem: ReplayProblem) => ReplayPolicy;

export interface OpeningState {
  readonly runningCount: Int32Array;
  readonly hostCount: Int32Array;
}

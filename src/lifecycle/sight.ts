import type { Unreported } from '../model/control.ts';
import type { HostReport } from '../model/host-report.ts';
import type { EpochMs, MachineId } from '../model/ids.ts';
import type { MachineState } from '../model/machine.ts';
import type { Refusal } from '../model/refusal.ts';

/** What lists have shown of one host. */
export interface HostSight {
  readonly machineId: MachineId;
  readonly state: MachineState;
  /** Start of the last list that showed it. */
  readonly lastSeenMs: EpochMs;
  readonly interruptionAtMs: EpochMs | null;
  /** Why its bootstrap gave up, where that is known. */
  readonly failure?: string;
}

/** What came of the last launch call. */
export type LaunchAnswer =
  | { readonly kind: 'none' }
  | { readonly kind: 'in-flight' }
  | { readonly kind: 'accepted'; readonly atMs: EpochMs }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The call failed or was never answered: it may have happened. */
  | { readonly kind: 'unanswered'; readonly atMs: EpochMs; readonly refusal: Refusal };

/**
 * What is known of a slice beside its record. It is not remembered: after a restart, lists and
 * reports say it anew.
 */
export interface SliceSight {
  /** By host index; null while never seen. */
  readonly hosts: readonly (HostSight | null)[];
  /** Machines with its tag that are not gone. */
  readonly machineCount: number;
  readonly reports: readonly (HostReport | null)[];
  readonly launch: LaunchAnswer;
  /** When the provider last agreed to release it. */
  readonly releaseAcceptedMs: EpochMs | null;
}

/** Nothing was seen yet. */
export const unseen = (hostCount: number): SliceSight => {
  const none = Array.from({ length: hostCount }, () => null);
  return {
    hosts: none,
    machineCount: 0,
    reports: none,
    launch: { kind: 'none' },
    releaseAcceptedMs: null,
  };
};

/** The state of the world that a slice is judged against. */
export interface Surroundings {
  readonly nowMs: EpochMs;
  /** Start of the provider's last list that was believed; null before the first. */
  readonly listedMs: EpochMs | null;
  readonly listLagMs: number;
  /** Since when somebody looks, in this life of the process: before that, nobody did. */
  readonly watchingSinceMs?: EpochMs;
  /** What a host counts as that nobody ever reported on; busy when left out. */
  readonly unreported?: Unreported;
}

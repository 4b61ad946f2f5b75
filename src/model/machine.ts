import type { EpochMs, GroupName, MachineId, SliceId } from './ids.ts';

/**
 * What a provider knows of a machine: `starting` (allocated, not up), `running` (up, software not
 * yet), `ready` (bootstrap done, or none to do), `stopping`, `gone` (said to be gone, which is more
 * than not being listed).
 */
export const machineStates = ['starting', 'running', 'ready', 'stopping', 'gone'] as const;
export type MachineState = (typeof machineStates)[number];

/** One machine that carries our tag, as its provider lists it. */
export interface Machine {
  readonly machineId: MachineId;
  /** From the tag that the launch put on it. */
  readonly sliceId: SliceId;
  readonly group: GroupName;
  /** Which host of its slice it is: 0 to hostsPerSlice - 1. */
  readonly hostIndex: number;
  readonly state: MachineState;
  /** When the provider has announced to take it away (spot); null when it has not. */
  readonly interruptionAtMs: EpochMs | null;
  /** Why it is gone, where the provider knows: what its bootstrap said last, cut to a line. */
  readonly failure?: string;
}

import { type MachineId, machineId, sliceId } from '../../model/ids.ts';
import type { Machine, MachineState } from '../../model/machine.ts';
import type { SeenHost, SeenSlice } from './census.ts';
import type { Intent } from './records.ts';

/** One name for each life: a slice of the same id, made anew, has another token. */
export const machineIdOf = (slice: string, hostIndex: number, token: string): MachineId =>
  machineId(`${slice}.${hostIndex}.${token.slice(0, 8)}`);

export const machineIdsOf = (slice: string, { token, hostCount }: Intent): readonly MachineId[] =>
  Array.from({ length: hostCount }, (_, index) => machineIdOf(slice, index, token));

/** The hosts of a slice as machines. One that has not claimed its folder is none yet. */
export function toMachines({ slice, isEnded, hosts }: SeenSlice): readonly Machine[] {
  return hosts.map((host): Machine => {
    const { hostIndex, record, state } = host;
    const machine = {
      machineId: machineIdOf(slice, hostIndex, record.token),
      sliceId: sliceId(slice),
      group: record.group,
      hostIndex,
      state: isEnded ? 'stopping' : stateOf(host),
      interruptionAtMs: null,
    } as const;
    return machine.state === 'gone' && state?.kind === 'failed'
      ? { ...machine, failure: state.failure }
      : machine;
  });
}

function stateOf({ state, isLive }: SeenHost): MachineState {
  if (!isLive || state?.kind === 'failed' || state?.kind === 'ended') return 'gone';
  return state?.kind ?? 'starting';
}

/**
 * Processes that a slice has, or will have: also a host that nobody has seen yet, and one that is told
 * to end until it has.
 */
export function countHosts({ intent, isEnded, hosts }: SeenSlice): number {
  if (isEnded) return hosts.length;
  const goneCount = hosts.filter((host) => stateOf(host) === 'gone').length;
  return (intent?.hostCount ?? hosts.length) - goneCount;
}

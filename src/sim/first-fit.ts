import type { Group } from '../model/group.ts';
import type { MachineId, SliceId } from '../model/ids.ts';
import type { Resources } from '../model/resources.ts';
import { must } from '../support/assert.ts';

/** A machine on which the scheduler's agent runs. */
export interface AgentHost {
  readonly machineId: MachineId;
  readonly sliceId: SliceId;
  readonly group: Group;
  readonly hostIndex: number;
}

/** A host as its scheduler keeps it. */
export interface HostState extends AgentHost {
  free: Readonly<Record<string, number>>;
  readonly running: Set<string>;
  /** When it was last reported; null when something changed since. */
  reportedMs: number | null;
}

/** Whole idle slices for a gang, one task to a host. */
export function takeSlices(
  hosts: readonly HostState[],
  tasks: number,
): readonly HostState[] | null {
  const slices = new Map<SliceId, HostState[]>();
  for (const host of hosts) {
    if (host.running.size > 0) continue;
    const list = slices.get(host.sliceId);
    if (list === undefined) slices.set(host.sliceId, [host]);
    else list.push(host);
  }
  const taken: HostState[] = [];
  for (const slice of slices.values()) {
    if (slice.length < must(slice[0], 'a slice has hosts').group.hostsPerSlice) continue;
    taken.push(...slice);
    if (taken.length >= tasks) return taken.slice(0, tasks);
  }
  return null;
}

/** The first hosts that hold so many tasks; one host more than once where several fit. */
export function takeHosts(
  hosts: readonly HostState[],
  need: Resources,
  tasks: number,
): readonly HostState[] | null {
  const taken: HostState[] = [];
  for (const host of hosts) {
    let fit = Infinity;
    for (const name in need) {
      if ((need[name] ?? 0) > 0) {
        fit = Math.min(fit, Math.floor((host.free[name] ?? 0) / (need[name] ?? 1)));
      }
    }
    for (let n = 0; n < fit && taken.length < tasks; n++) taken.push(host);
    if (taken.length === tasks) return taken;
  }
  return null;
}

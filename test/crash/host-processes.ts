import { readdirSync, readFileSync } from 'node:fs';

/** A process that belongs to a host of ours. */
export interface HostProcess {
  readonly pid: number;
  readonly slice: string;
  readonly hostIndex: number;
  /** The host itself, not what runs on it. */
  readonly isHost: boolean;
}

/** All living processes whose environment names a host directory below `dataDir`. */
export function findHostProcesses(dataDir: string): readonly HostProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name): readonly HostProcess[] => {
      try {
        const variables = readFileSync(`/proc/${name}/environ`, 'utf8').split('\0');
        const valueOf = (key: string): string =>
          variables.find((one) => one.startsWith(`${key}=`))?.slice(key.length + 1) ?? '';
        if (!valueOf('BELLOWS_HOST_DIR').startsWith(dataDir)) return [];
        return [
          {
            pid: Number(name),
            slice: valueOf('BELLOWS_SLICE'),
            hostIndex: Number(valueOf('BELLOWS_HOST_INDEX')),
            isHost: readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('host-main'),
          },
        ];
      } catch {
        // It ended while we looked.
        return [];
      }
    });
}

/** Hosts that run more than once: `slice/index`. A process that is just about to find out counts not. */
export function findDoubled(before: readonly HostProcess[], now: readonly HostProcess[]) {
  const known = new Set(before.map(({ pid }) => pid));
  const counts = new Map<string, number>();
  for (const { pid, slice, hostIndex, isHost } of now) {
    if (!isHost || !known.has(pid)) continue;
    const key = `${slice}/${hostIndex}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].flatMap(([key, count]) => (count > 1 ? [key] : []));
}

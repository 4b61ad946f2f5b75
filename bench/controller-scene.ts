import type { Control } from '../src/model/control.ts';
import type { Fleet } from '../src/model/fleet.ts';
import type { HostReport } from '../src/model/host-report.ts';
import { type EpochMs, epochMs, machineId } from '../src/model/ids.ts';
import type { Machine } from '../src/model/machine.ts';
import type { SliceRecord } from '../src/model/slice-record.ts';
import type { Slice } from '../src/model/slice.ts';
import type { Provider } from '../src/ports/provider.ts';
import type { Store } from '../src/ports/store.ts';
import { systemClock } from '../src/wiring/system-clock.ts';

type ControlOver = Partial<Pick<Control, 'mode' | 'evaluationIntervalMs' | 'reconcileIntervalMs'>>;

/** How a fleet is run: nothing times out within a benchmark. */
export function toControl(fleet: Fleet, over: ControlOver = {}): Control {
  const hourMs = 3_600_000;
  return {
    fleet,
    groups: fleet.groups.map(({ name }) => ({
      group: name,
      idleTimeoutMs: hourMs,
      timeouts: {
        requestingMs: hourMs,
        bootingMs: hourMs,
        initializingMs: hourMs,
        drainingMs: hourMs,
        gangAssemblyMs: hourMs,
        registrationGraceMs: fleet.registrationGraceMs,
      },
      onChange: 'keep',
      concurrentLaunchesMax: null,
      shape: 'bench',
      launch: {},
      bootstrap: null,
      unreported: 'busy',
    })),
    providers: [{ name: 'simulated', callTimeoutMs: 30_000, concurrentCalls: 8 }],
    retired: [],
    calendars: [],
    blastRadius: { terminationsPerMinute: null, drainingRatio: null },
    evaluationIntervalMs: 10_000,
    reconcileIntervalMs: 15_000,
    mode: 'active',
    ...over,
  };
}

const machineOf = (slice: Slice, hostIndex: number) => machineId(`m-${slice.id}-${hostIndex}`);

/** What a controller would remember of these slices, which have been there for an hour. */
export function toRecords(fleet: Fleet, slices: readonly Slice[], nowMs: EpochMs): SliceRecord[] {
  const groups = new Map(fleet.groups.map((group) => [group.name, group]));
  const sinceMs = epochMs(nowMs - 60_000);
  return slices.map((slice): SliceRecord => {
    const group = groups.get(slice.group);
    const hostCount = group?.hostsPerSlice ?? 1;
    const isReady = slice.status === 'ready';
    return {
      id: slice.id,
      group: slice.group,
      provider: 'simulated',
      hostCount,
      status: slice.status,
      statusSinceMs: sinceMs,
      reservedFor: null,
      reservedSinceMs: null,
      priceMicroUsdPerHour: group?.priceMicroUsdPerHour ?? null,
      shape: 'bench',
      fallbackFor: [],
      machines: Array.from({ length: hostCount }, (_, n) => machineOf(slice, n)),
      requestedAtMs: epochMs(nowMs - 300_000),
      readyAtMs: isReady ? sinceMs : null,
      idleSinceMs: null,
      isReported: isReady,
      isProtected: false,
      drain: null,
      history: [{ atMs: sinceMs, event: 'hosts-ready', status: slice.status, cause: null }],
    };
  });
}

/** A cloud that has these machines, answers at once and never changes; launches never come up. */
export function createStillCloud(records: readonly SliceRecord[]): Provider {
  const machines = records.flatMap((record) =>
    record.machines.map((id, hostIndex): Machine => {
      return {
        machineId: id ?? machineId(`m-${record.id}`),
        sliceId: record.id,
        group: record.group,
        hostIndex,
        state: record.status === 'ready' ? 'ready' : 'starting',
        interruptionAtMs: null,
      };
    }),
  );
  return {
    listLagMs: 30_000,
    launch: async (batch) =>
      batch.map(({ sliceId }) => ({ kind: 'accepted', sliceId, machineIds: [] })),
    terminate: async () => {},
    // New objects each time, as a client that parses an answer gives them.
    list: async () => machines.map((machine) => ({ ...machine })),
    close: async () => {},
  };
}

/** Puts records into a store, as an earlier life of the controller would have. */
export async function fillStore(store: Store, records: readonly SliceRecord[]): Promise<void> {
  const lease = { holder: 'bench', nowMs: systemClock.wallMs(), ttlMs: 60_000, epoch: null };
  const answer = await store.acquireLease(lease);
  if (answer.kind !== 'granted') throw new Error('a new store has no holder');
  const documents = records.map((record) => {
    return { kind: 'slice' as const, id: record.id, text: JSON.stringify(record) };
  });
  await store.commit({ epoch: answer.epoch, documents, tick: null, events: [] });
  await store.releaseLease(answer.epoch);
}

/** One report for every host of these slices, as they are. */
export function toReports(slices: readonly Slice[], atMs: EpochMs): HostReport[] {
  return slices.flatMap(({ id, hosts }) =>
    hosts.map(({ free }, hostIndex): HostReport => {
      return { sliceId: id, hostIndex, free: { ...free }, isBusy: true, drain: 'none', atMs };
    }),
  );
}

import { type HostSight, type SliceSight, unseen } from '../src/lifecycle/sight.ts';
import type { Control, GroupControl, Timeouts } from '../src/model/control.ts';
import type { Ask, DemandClass, Entry, EntryForm } from '../src/model/demand.ts';
import type { Fleet } from '../src/model/fleet.ts';
import type { Group } from '../src/model/group.ts';
import type { HostReport } from '../src/model/host-report.ts';
import { entryId, epochMs, groupName, machineId, sliceId } from '../src/model/ids.ts';
import type { SliceRecord, TrackedHost, TrackedSlice } from '../src/model/slice-record.ts';
import type { Slice } from '../src/model/slice.ts';
import type { Snapshot } from '../src/model/snapshot.ts';
import type { TickInput } from '../src/model/tick.ts';
import { classify } from '../src/policy/demand/classes.ts';
import { findInvalid } from '../src/policy/demand/validity.ts';

// Plain values with everything said that a test does not care about.

export function aGroup(over: Partial<Omit<Group, 'name'>> & { name?: string } = {}): Group {
  return {
    provider: 'local',
    device: { type: 'cpu', variant: null },
    host: { cpu: 16_000 },
    hostsPerSlice: 1,
    min: 0,
    spare: 0,
    max: 10,
    priority: 100,
    priceMicroUsdPerHour: 1_000_000,
    preemptible: false,
    attributes: {},
    quotaPool: null,
    ...over,
    name: groupName(over.name ?? 'group'),
  };
}

export const anAsk = (over: Partial<Ask> = {}): Ask => {
  return { device: null, preemptible: null, constraints: [], resources: { cpu: 1_000 }, ...over };
};

type EntryOver = Partial<Omit<Entry, 'id' | 'submittedAtMs'>> & { id?: string; ageMs?: number };

export function anEntry(over: EntryOver = {}): Entry {
  const form: EntryForm = over.form ?? { kind: 'single', ask: anAsk() };
  return {
    count: 1,
    priority: 0,
    owner: null,
    taskIds: [],
    invalid: findInvalid(form),
    ...over,
    form,
    id: entryId(over.id ?? 'entry'),
    submittedAtMs: epochMs(-(over.ageMs ?? 0)),
  };
}

export function aSlice(
  over: Partial<Omit<Slice, 'id' | 'group'>> & { id: string; group: string },
): Slice {
  return {
    status: 'ready',
    statusSinceMs: epochMs(-3_600_000),
    hosts: [],
    reservedFor: null,
    ...over,
    id: sliceId(over.id),
    group: groupName(over.group),
  };
}

export const noLimits: Fleet['limits'] = {
  slicesMax: null,
  spendMaxMicroUsdPerHour: null,
  createsPerMinute: null,
  concurrentLaunches: null,
  upscalingSpeed: null,
};

interface SnapshotOver extends Partial<Omit<Snapshot, 'fleet' | 'demand'>> {
  readonly fleet?: Partial<Fleet>;
  readonly entries?: readonly Entry[];
  readonly demand?: readonly DemandClass[];
}

export function aSnapshot({ fleet, entries, demand, ...over }: SnapshotOver = {}): Snapshot {
  return {
    atMs: epochMs(0),
    slices: [],
    conditions: [],
    floors: [],
    ...over,
    fleet: {
      name: 'test',
      strategy: 'cost',
      limits: noLimits,
      registrationGraceMs: 60_000,
      groups: [aGroup()],
      quotaPools: [],
      ...fleet,
    },
    demand: demand ?? classify(entries ?? []),
  };
}

/** An hour before the time at which most tests look. */
const longAgoMs = epochMs(-3_600_000);

type RecordOver = Partial<Omit<SliceRecord, 'id' | 'group'>> & { id?: string; group?: string };

/** A ready slice of one host that nobody has reported on. */
export function aRecord(over: RecordOver = {}): SliceRecord {
  const hostCount = over.hostCount ?? 1;
  return {
    provider: 'local',
    status: 'ready',
    statusSinceMs: longAgoMs,
    reservedFor: null,
    reservedSinceMs: null,
    priceMicroUsdPerHour: 1_000_000,
    shape: 'shape',
    fallbackFor: [],
    machines: Array.from({ length: hostCount }, () => null),
    requestedAtMs: longAgoMs,
    readyAtMs: longAgoMs,
    idleSinceMs: null,
    isReported: false,
    isProtected: false,
    drain: null,
    history: [],
    ...over,
    hostCount,
    id: sliceId(over.id ?? 'slice'),
    group: groupName(over.group ?? 'group'),
  };
}

export const idleHost: TrackedHost = { free: { cpu: 16_000 }, isBusy: false };
export const busyHost: TrackedHost = { free: {}, isBusy: true };
export const silentHost: TrackedHost = { free: null, isBusy: null };

/** A ready slice without work for ten minutes, as one tick sees it. */
export function aTrackedSlice(
  over: RecordOver & { hosts?: readonly TrackedHost[] } = {},
): TrackedSlice {
  const hosts = over.hosts ?? [idleHost];
  const idleSinceMs = epochMs(-600_000);
  const { history: _, ...record } = aRecord({ hostCount: hosts.length, idleSinceMs, ...over });
  return { ...record, hosts };
}

export const aTimeouts: Timeouts = {
  requestingMs: 120_000,
  bootingMs: 600_000,
  initializingMs: 600_000,
  drainingMs: 1_800_000,
  gangAssemblyMs: 900_000,
  registrationGraceMs: 60_000,
};

interface ControlOver extends Partial<Omit<Control, 'fleet' | 'groups'>> {
  readonly fleet?: Partial<Fleet>;
  /** How every group is run. */
  readonly own?: Partial<GroupControl>;
}

export function aControl({ fleet, own, ...over }: ControlOver = {}): Control {
  const whole = aSnapshot(fleet === undefined ? {} : { fleet }).fleet;
  return {
    fleet: whole,
    groups: whole.groups.map(({ name }) => {
      return {
        group: name,
        idleTimeoutMs: 600_000,
        timeouts: aTimeouts,
        onChange: 'keep',
        concurrentLaunchesMax: null,
        shape: 'shape',
        launch: {},
        bootstrap: null,
        unreported: 'busy',
        ...own,
      };
    }),
    providers: [{ name: 'local', callTimeoutMs: 30_000, concurrentCalls: 4 }],
    retired: [],
    calendars: [],
    blastRadius: { terminationsPerMinute: null, drainingRatio: null },
    evaluationIntervalMs: 10_000,
    reconcileIntervalMs: 15_000,
    mode: 'active',
    ...over,
  };
}

interface TickOver extends Partial<Omit<TickInput, 'control' | 'demand'>> {
  readonly control?: ControlOver;
  readonly entries?: readonly Entry[];
}

/** A tick at time 0; gangs that slices are held for are told apart as the controller does. */
export function aTickInput({ control, entries = [], slices = [], ...over }: TickOver = {}) {
  const reserved = new Set(slices.flatMap(({ reservedFor }) => reservedFor ?? []));
  const input: TickInput = {
    atMs: epochMs(0),
    epoch: 1,
    seq: 1,
    floors: [],
    pauses: [],
    troubles: [],
    health: [],
    learned: [],
    unlisted: [],
    launchedAtMs: [],
    releasedAtMs: [],
    ...over,
    control: aControl(control),
    slices,
    demand: classify(entries, reserved),
  };
  return input;
}

export function aReport(over: Partial<Omit<HostReport, 'sliceId'>> = {}): HostReport {
  return {
    sliceId: sliceId('slice'),
    hostIndex: 0,
    free: { cpu: 16_000 },
    isBusy: false,
    drain: 'none',
    atMs: epochMs(0),
    ...over,
  };
}

/** A host in this state, shown by a list that began at time 0. */
export function aHost(state: HostSight['state'], over: Partial<HostSight> = {}): HostSight {
  return {
    machineId: machineId('m0'),
    state,
    lastSeenMs: epochMs(0),
    interruptionAtMs: null,
    ...over,
  };
}

/** What is seen of a slice; its machines are counted from its hosts. */
export function aSight(over: Partial<SliceSight> = {}): SliceSight {
  const hosts = over.hosts ?? [null];
  const machineCount = hosts.filter((host) => host !== null && host.state !== 'gone').length;
  return { ...unseen(hosts.length), machineCount, ...over, hosts };
}

import type { Ask, DemandClass, Entry, EntryForm } from '../src/model/demand.ts';
import type { Fleet } from '../src/model/fleet.ts';
import type { Group } from '../src/model/group.ts';
import { entryId, epochMs, groupName, sliceId } from '../src/model/ids.ts';
import type { Slice } from '../src/model/slice.ts';
import type { Snapshot } from '../src/model/snapshot.ts';
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

import type { Control, GroupControl } from '../model/control.ts';
import type { Group } from '../model/group.ts';
import { isLive, type SliceRecord } from '../model/slice-record.ts';

/**
 * A configuration with the groups that it dropped but that still have slices: they can be neither
 * forgotten nor grown, so they are kept as they were last known, with nothing to launch.
 */
export function withRetired(
  next: Control,
  before: Control | null,
  records: Iterable<SliceRecord>,
): Control {
  const named = new Set<string>(next.fleet.groups.map(({ name }) => name));
  const left = new Map<string, SliceRecord>();
  for (const record of records) {
    if (isLive(record) && !named.has(record.group)) left.set(record.group, record);
  }
  if (left.size === 0) return next.retired.length === 0 ? next : { ...next, retired: [] };
  const retired = [...left.values()].map((record) => {
    const index = before?.fleet.groups.findIndex(({ name }) => name === record.group) ?? -1;
    const known = before?.fleet.groups[index];
    const own = before?.groups[index];
    return known !== undefined && own !== undefined
      ? { group: { ...known, min: 0, spare: 0, max: 0, quotaPool: poolOf(known, next) }, own }
      : unknownGroup(record, next);
  });
  return {
    ...next,
    fleet: {
      ...next.fleet,
      groups: [...next.fleet.groups, ...retired.map(({ group }) => group)],
    },
    groups: [...next.groups, ...retired.map(({ own }) => own)],
    retired: retired.map(({ group }) => group.name),
  };
}

/** Its slices draw on their pool until they are gone, as long as there is such a pool. */
const poolOf = ({ quotaPool }: Group, { fleet }: Control): string | null =>
  fleet.quotaPools.some(({ name }) => name === quotaPool) ? quotaPool : null;

/** Without the retired groups whose last slice has gone; the same object when there is none. */
export function withoutEmptied(control: Control, records: Iterable<SliceRecord>): Control {
  if (control.retired.length === 0) return control;
  const live = new Set<string>();
  for (const record of records) if (isLive(record)) live.add(record.group);
  const gone = new Set<string>(control.retired.filter((name) => !live.has(name)));
  if (gone.size === 0) return control;
  return {
    ...control,
    fleet: { ...control.fleet, groups: control.fleet.groups.filter(({ name }) => !gone.has(name)) },
    groups: control.groups.filter(({ group }) => !gone.has(group)),
    retired: control.retired.filter((name) => !gone.has(name)),
  };
}

/** A group of which nothing is known but that a slice of it is there. */
function unknownGroup(
  record: SliceRecord,
  next: Control,
): { readonly group: Group; readonly own: GroupControl } {
  const group: Group = {
    name: record.group,
    provider: record.provider,
    device: { type: 'cpu', variant: null },
    host: {},
    hostsPerSlice: record.hostCount,
    min: 0,
    spare: 0,
    max: 0,
    priority: 0,
    priceMicroUsdPerHour: record.priceMicroUsdPerHour ?? 0,
    preemptible: false,
    attributes: {},
    quotaPool: null,
  };
  const own: GroupControl = {
    group: record.group,
    idleTimeoutMs: 600_000,
    timeouts: next.groups[0]?.timeouts ?? {
      requestingMs: 120_000,
      bootingMs: 600_000,
      initializingMs: 600_000,
      drainingMs: 1_800_000,
      gangAssemblyMs: 900_000,
      registrationGraceMs: 60_000,
    },
    onChange: 'keep',
    concurrentLaunchesMax: null,
    shape: record.shape,
    launch: {},
    bootstrap: null,
    unreported: 'busy',
  };
  return { group, own };
}

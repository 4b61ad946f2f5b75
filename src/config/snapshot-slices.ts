import { formatQuantity } from '../api/format.ts';
import type { Fleet } from '../model/fleet.ts';
import type { Group } from '../model/group.ts';
import { entryId, type EpochMs, epochMs, groupName, sliceId } from '../model/ids.ts';
import type { Host, Slice } from '../model/slice.ts';
import type { GroupCondition } from '../model/snapshot.ts';
import { finding, findDuplicateIds, unknownName } from './finding.ts';
import { SLICES_MAX } from './group-schema.ts';
import { type Finding, type Path, PROBLEMS_SOUGHT_MAX } from './problem.ts';
import type { Placed } from './salvage.ts';
import type { ConditionRow, SliceRow } from './snapshot-schema.ts';

/** Rows as the model has them, and what is wrong with them. */
export interface Converted<T> {
  readonly items: readonly T[];
  readonly findings: readonly Finding[];
}

/** Slices, their counts multiplied out. */
export function toSlices(
  rows: readonly Placed<SliceRow>[],
  fleet: Fleet,
  atMs: EpochMs,
): Converted<Slice> {
  const groups = new Map<string, Group>(fleet.groups.map((group) => [group.name, group]));
  const names = [...groups.keys()];
  const findings: Finding[] = [
    ...findDuplicateIds(rows.map(({ path, item }) => ({ path, id: item.id, count: item.count }))),
  ];
  const total = rows.reduce((sum, { item }) => sum + item.count, 0);
  if (total > SLICES_MAX) {
    const message = `${total} slices are above the limit of ${SLICES_MAX}`;
    findings.push(finding(['slices'], total, message, 'lower the counts'));
    return { items: [], findings };
  }
  const items: Slice[] = [];
  for (const { path, item: row } of rows) {
    if (findings.length >= PROBLEMS_SOUGHT_MAX) break;
    const group = groups.get(row.group);
    if (group === undefined) {
      findings.push(unknownName([...path, 'group'], 'group', row.group, names, 'groups'));
      continue;
    }
    findings.push(...findHostProblems(path, row, group));
    const slice = {
      group: group.name,
      status: row.status,
      statusSinceMs: epochMs(atMs - row.for),
      hosts: toHosts(row, group),
      reservedFor: row.reservedFor === undefined ? null : entryId(row.reservedFor),
    };
    for (let index = 0; index < row.count; index++) {
      const id = sliceId(row.count === 1 ? row.id : `${row.id}/${index}`);
      items.push({ id, ...slice });
    }
  }
  return { items, findings };
}

/** Hosts that a row does not list are there all the same, unreported. */
function toHosts(row: SliceRow, group: Group): readonly Host[] {
  if (row.hosts === undefined) return [];
  const hosts = row.hosts.flatMap(({ free, count }) =>
    Array.from({ length: count }, (): Host => ({ free: free ?? null })),
  );
  while (hosts.length < group.hostsPerSlice) hosts.push({ free: null });
  return hosts;
}

function findHostProblems(path: Path, row: SliceRow, group: Group): readonly Finding[] {
  const hosts = row.hosts ?? [];
  const found: Finding[] = [];
  const listed = hosts.reduce((sum, { count }) => sum + count, 0);
  if (listed > group.hostsPerSlice) {
    const { hostsPerSlice, name } = group;
    const message = `${listed} hosts are above the ${hostsPerSlice} that a slice of ${name} has`;
    found.push(finding([...path, 'hosts'], listed, message, 'list fewer or lower their count'));
  }
  for (const [index, { free }] of hosts.entries()) {
    for (const [resource, value] of Object.entries(free ?? {})) {
      const have = group.host[resource] ?? 0;
      if (value <= have) continue;
      const seen = formatQuantity(resource, value);
      const whole = formatQuantity(resource, have);
      const message = `${seen} free is above ${whole}, all that a host of ${group.name} has`;
      const at = [...path, 'hosts', index, 'free', resource];
      found.push(finding(at, seen, message, `lower it, or raise host.${resource} of the group`));
    }
  }
  return found;
}

/** Why groups cannot launch now. */
export function toConditions(
  rows: readonly Placed<ConditionRow>[],
  fleet: Fleet,
  atMs: EpochMs,
): Converted<GroupCondition> {
  const names: readonly string[] = fleet.groups.map((group) => group.name);
  const findings: Finding[] = [];
  const items: GroupCondition[] = [];
  for (const { path, item: row } of rows) {
    if (findings.length >= PROBLEMS_SOUGHT_MAX) break;
    if (!names.includes(row.group)) {
      findings.push(unknownName([...path, 'group'], 'group', row.group, names, 'groups'));
    }
    const until = row.for === undefined ? row.until : atMs + row.for;
    if (row.for !== undefined && row.until !== undefined) {
      const message = 'until and for both say when it ends';
      findings.push(finding([...path, 'for'], undefined, message, 'keep one'));
    }
    if (until !== undefined && until <= atMs) {
      const key = row.for === undefined ? 'until' : 'for';
      const message = 'it has ended by the time of the snapshot';
      findings.push(finding([...path, key], undefined, message, 'remove the condition'));
    }
    const group = groupName(row.group);
    if (row.kind !== 'draining') {
      items.push({ kind: row.kind, group, untilMs: until === undefined ? null : epochMs(until) });
    } else if (until === undefined) {
      items.push({ kind: 'draining', group });
    } else {
      const message = 'a draining group has no end time';
      findings.push(finding([...path, 'kind'], row.kind, message, 'remove until and for'));
    }
  }
  return { items, findings };
}

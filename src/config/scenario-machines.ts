import type { Group } from '../model/group.ts';
import { groupName } from '../model/ids.ts';
import { finding, unknownName } from './finding.ts';
import type { Finding } from './problem.ts';
import type { MachineTraits } from './scenario.ts';
import type { MachinesRow } from './scenario-schema.ts';

/** What machines are like, by group. */
export function toMachines(
  rows: Readonly<Record<string, MachinesRow>>,
  groups: ReadonlyMap<string, Group>,
  findings: Finding[],
): readonly MachineTraits[] {
  return Object.entries(rows).map(([name, row]) => {
    const path = ['machines', name];
    const group = groups.get(name);
    if (group === undefined) {
      const known = [...groups.keys()];
      findings.push({ ...unknownName(path, 'group', name, known, 'groups'), at: 'key' });
    }
    const perHour = row.preemptionsPerHour ?? 0;
    if (perHour > 0 && group?.preemptible === false) {
      const message = `${name} is not preemptible`;
      const at = [...path, 'preemptionsPerHour'];
      findings.push(finding(at, perHour, message, 'set preemptible: true in its configuration'));
    }
    for (const key of ['queue', 'start', 'bootstrap', 'stop'] as const) {
      const spread = row[key];
      if (spread === undefined || spread.from <= spread.to) continue;
      findings.push(finding([...path, key], undefined, '`to` is shorter than `from`', 'swap them'));
    }
    return toTraits(name, row);
  });
}

function toTraits(name: string, row: MachinesRow): MachineTraits {
  const span = ({ from, to }: { readonly from: number; readonly to: number }) => {
    return { fromMs: from, toMs: to };
  };
  return {
    group: groupName(name),
    ...(row.queue && { queue: span(row.queue) }),
    ...(row.start && { start: span(row.start) }),
    ...(row.bootstrap && { bootstrap: span(row.bootstrap) }),
    ...(row.stop && { stop: span(row.stop) }),
    ...(row.stockouts && { stockouts: row.stockouts.map(span) }),
    ...(row.notice !== undefined && { noticeMs: row.notice }),
    ...(row.preemptionsPerHour !== undefined && { preemptionsPerHour: row.preemptionsPerHour }),
    ...(row.stockoutRatio !== undefined && { stockoutRatio: row.stockoutRatio }),
  };
}

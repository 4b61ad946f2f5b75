import type { Group } from '../model/group.ts';
import { groupName } from '../model/ids.ts';
import { unreachable } from '../support/assert.ts';
import type { Config } from './config-file.ts';
import { unknownName } from './finding.ts';
import type { Finding, Path } from './problem.ts';
import type { ScenarioEvent } from './scenario.ts';
import type { EventRow } from './scenario-schema.ts';

/** Names in an event that nothing has. */
export function checkEvent(
  path: Path,
  row: EventRow,
  { config, groups }: { readonly config: Config; readonly groups: ReadonlyMap<string, Group> },
  findings: Finding[],
): void {
  if ('group' in row && row.group !== undefined && !groups.has(row.group)) {
    const known = [...groups.keys()];
    findings.push(unknownName([...path, 'group'], 'group', row.group, known, 'groups'));
  }
  if ('provider' in row && row.provider !== undefined) {
    const known = [...new Set([...groups.values()].map(({ provider }) => provider))];
    const at = [...path, 'provider'];
    if (!known.includes(row.provider) && config.fleet.groups.length > 0) {
      findings.push(unknownName(at, 'provider', row.provider, known, 'providers'));
    }
  }
}

/** An event as the simulator takes it; null where its configuration is no good. */
export function toEvent(
  row: EventRow,
  change: { readonly name: string; readonly to: Config | null } | null,
): ScenarioEvent | null {
  const atMs = row.at;
  switch (row.kind) {
    case 'stockout':
    case 'fail-boots':
      return { atMs, kind: row.kind, group: groupName(row.group), forMs: row.for };
    case 'preempt': {
      const { count = null, notice: noticeMs } = row;
      return { atMs, kind: row.kind, group: groupName(row.group), count, noticeMs };
    }
    case 'lose-hosts':
      return { atMs, kind: row.kind, group: groupName(row.group), count: row.count };
    case 'hang':
    case 'throttle':
      return { atMs, kind: row.kind, provider: row.provider ?? null, forMs: row.for };
    case 'pause': {
      const group = row.group === undefined ? null : groupName(row.group);
      return { atMs, kind: row.kind, what: row.what, group, forMs: row.for ?? null };
    }
    case 'config':
      if (change?.to == null) return null;
      return { atMs, kind: row.kind, control: change.to.control, name: change.name };
    case 'kill-controller':
      return { atMs, kind: row.kind };
    default:
      return unreachable(row);
  }
}

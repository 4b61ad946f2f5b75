import type { GroupStatus } from '../../api/gen/bellows/v1/status_pb.ts';
import { formatUsd } from '../../api/format.ts';
import { onItsWay, sliceStatuses } from '../../model/slice.ts';
import { fitLast } from './fit.ts';
import type { StatusView } from './status-view.ts';
import { type Column, renderTable } from './table.ts';
import { joinWords, moreLine, oneLine } from './words.ts';

const columns: readonly Column[] = [
  { title: 'group' },
  { title: 'ready', align: 'right' },
  { title: 'idle', align: 'right' },
  { title: 'coming', align: 'right' },
  { title: 'going', align: 'right' },
  { title: 'min', align: 'right' },
  { title: 'spare', align: 'right' },
  { title: 'max', align: 'right' },
  { title: '$/h', align: 'right' },
  { title: 'work', align: 'right' },
  { title: 'new', align: 'right' },
  { title: 'state' },
];

export interface SliceCounts {
  readonly ready: number;
  readonly coming: number;
  readonly leaving: number;
}

/** Slices by where they are in life; a status that is not known counts as leaving. */
export function countSlices({ slices }: Pick<GroupStatus, 'slices'>): SliceCounts {
  const counts = { ready: 0, coming: 0, leaving: 0 };
  for (const [status, count] of Object.entries(slices)) {
    const known = sliceStatuses.find((name) => name === status);
    if (known === 'ready') counts.ready += count;
    else if (known !== undefined && onItsWay.has(known)) counts.coming += count;
    else counts.leaving += count;
  }
  return counts;
}

/** A row for each group; where there are many, those with nothing to tell are counted. */
export function renderGroups(groups: readonly GroupStatus[], view: StatusView): string {
  const { style, limits } = view;
  const total = groups.reduce((sum, group) => sum + sliceTotal(group), 0);
  const title = `${style.bold('GROUPS')}  ${groups.length}, ${total} ${total === 1 ? 'slice' : 'slices'}\n`;
  const shown = groups.length <= limits.groups ? groups : pickGroups(groups, limits.groups);
  const rows = shown.map((group) => groupRow(group, view));
  const left = moreLine(groups.length - shown.length, 'group');
  return title + renderTable(columns, fitLast(columns, rows, view.columns), style.dim) + left;
}

function sliceTotal(group: GroupStatus): number {
  const { ready, coming, leaving } = countSlices(group);
  return ready + coming + leaving;
}

/** In the order of the configuration, those with something to tell before the others. */
function pickGroups(groups: readonly GroupStatus[], limit: number): readonly GroupStatus[] {
  const telling = groups.filter(
    (group) =>
      sliceTotal(group) > 0 ||
      group.launch > 0 ||
      group.assignedEntries > 0n ||
      group.shortfall !== '' ||
      group.availability !== 'available',
  );
  const quiet = groups.filter((group) => !telling.includes(group));
  const picked = new Set([...telling, ...quiet].slice(0, limit));
  return groups.filter((group) => picked.has(group));
}

function groupRow(group: GroupStatus, view: StatusView): readonly string[] {
  const { ready, coming, leaving } = countSlices(group);
  const { priceUsdPerHour: price } = group;
  return [
    oneLine(group.name),
    String(ready),
    String(group.idle),
    String(coming),
    String(leaving),
    String(group.min),
    String(group.spare),
    String(group.max),
    price === undefined ? '-' : formatUsd(Math.round(price * 1e6)).slice(1),
    String(group.assignedEntries),
    String(group.launch),
    stateText(group, view),
  ];
}

/** Availability with its end, what waits, what is missing, and why. */
function stateText(group: GroupStatus, { moments }: StatusView): string {
  const { availability, availabilityUntil, verdict, deferred, health, retired } = group;
  const waiting = deferred.map(
    ({ count, by, until }) => `${count} deferred by ${by} until ${moments.clock(until)}`,
  );
  const parts = [
    joinWords(
      [availability, availabilityUntil && `until ${moments.clock(availabilityUntil)}`],
      ' ',
    ),
    retired ? 'no longer configured' : null,
    ...waiting,
    group.shortfall,
    health > 0 && health < 0.995 ? `health ${health.toFixed(2)}` : null,
    isNews(group) ? verdict?.text : null,
  ];
  return oneLine(joinWords(parts, '; '));
}

/** A verdict that says more than the availability does. */
function isNews({ availability, verdict }: GroupStatus): boolean {
  if (verdict?.kind === 'selected') return true;
  return verdict?.kind === 'blocked' && ['available', 'requesting'].includes(availability);
}

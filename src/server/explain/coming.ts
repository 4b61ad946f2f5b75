import { plural } from '../../api/format.ts';
import { deferralText } from '../../api/verdict-text.ts';
import { timeoutConsequences, timeoutOf } from '../../lifecycle/timeouts.ts';
import { type EntryId, epochMs, type GroupName, type SliceId } from '../../model/ids.ts';
import { isLive, type SliceRecord } from '../../model/slice-record.ts';
import { onItsWay } from '../../model/slice.ts';
import type { SliceVerdict } from '../../model/tick.ts';
import { byText } from '../../support/order.ts';
import { happened, holds, type Link } from './answer.ts';
import { type FleetView, groupOf } from './fleet-view.ts';
import type { Awaited } from './next-look.ts';
import { leftText } from './phrases.ts';

/** Slices that are named; of the others only the number is told. */
const SLICES_SHOWN = 5;

/** Why a slice stays or leaves, by the last decision; null when that did not know it. */
export function verdictOn({ last }: FleetView, id: SliceId): SliceVerdict | null {
  return last?.output.verdicts.find(({ sliceIds }) => sliceIds.includes(id))?.verdict ?? null;
}

/** Slices of a group that are on their way and that work without a claim of its own may use. */
export function comingSlices({ records }: FleetView, group: GroupName): readonly SliceRecord[] {
  return records.filter(
    (record) =>
      record.group === group && onItsWay.has(record.status) && record.reservedFor === null,
  );
}

/** Slices that are held for a gang, wherever they stand. */
export function slicesHeldFor({ records }: FleetView, gang: EntryId): readonly SliceRecord[] {
  return records.filter((record) => record.reservedFor === gang && isLive(record));
}

/** A link for each, furthest along first. */
export function sliceLinks(slices: readonly SliceRecord[]): readonly Link[] {
  const order = [...onItsWay];
  const sorted = slices.toSorted(
    (a, b) => order.indexOf(b.status) - order.indexOf(a.status) || byText(a.id, b.id),
  );
  const shown = sorted.slice(0, SLICES_SHOWN).map(({ id, group, status, statusSinceMs }) => {
    return happened(statusSinceMs, status, `slice ${id} of ${group} is ${status}`);
  });
  const more = sorted.length - shown.length;
  return more > 0 ? [...shown, holds('on-its-way', `and ${plural(more, 'slice')} more`)] : shown;
}

/** When a slice has been in its status for too long, and what happens then. */
export function timeoutOn(view: FleetView, record: SliceRecord): Awaited | null {
  const { status, statusSinceMs, id, group } = record;
  const own = groupOf(view, group)?.own;
  const limitMs = own === undefined ? null : timeoutOf(status, own.timeouts);
  // A drain has a deadline of its own.
  if (limitMs === null || status === 'draining') return null;
  const consequence = timeoutConsequences[status] ?? 'looked at again';
  return {
    untilMs: epochMs(statusSinceMs + limitMs),
    text: `if slice ${id} is still ${status}: ${consequence}`,
  };
}

/** Launches of a group that wait for their turn. */
export function deferralsOf(view: FleetView, group: GroupName): readonly Deferred[] {
  const { last, nowMs } = view;
  return (last?.output.deferrals ?? [])
    .filter((deferral) => deferral.group === group)
    .map(({ by, count, untilMs }) => {
      const launches = plural(count, 'launch', 'launches');
      const waits = `${launches} of ${group} ${count === 1 ? 'waits' : 'wait'} for a turn`;
      const until = leftText(untilMs, nowMs);
      return {
        link: holds('deferred', `${waits}, ${until} at most: ${deferralText(by)}`),
        end: { untilMs, text: `launches of ${group} that wait are looked at again` },
        remedy: deferralRemedies[by],
      };
    });
}

export interface Deferred {
  readonly link: Link;
  readonly end: Awaited;
  readonly remedy: string;
}

export const deferralRemedies = {
  'creates-per-minute': 'raise limits.createsPerMinute',
  'concurrent-launches': 'raise limits.concurrentLaunches, or that of the group',
  'upscaling-speed': 'raise limits.upscalingSpeed',
  probing: '',
} as const;

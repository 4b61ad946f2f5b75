import { type HistoryStep, isLive, type SliceRecord } from '../../model/slice-record.ts';
import type { SliceVerdict } from '../../model/tick.ts';
import { isPaused } from '../../planner/conditions.ts';
import { unreachable } from '../../support/assert.ts';
import { deferralRemedies } from './coming.ts';
import type { FleetView } from './fleet-view.ts';

/** What a person would do who wants another answer; empty where waiting is all there is. */
export function remedyFor(
  view: FleetView,
  record: SliceRecord,
  verdict: SliceVerdict | null,
): string {
  if (!isLive(record) || record.status === 'terminating') return afterEnd(record);
  if (verdict === null) return '';
  const { id, group } = record;
  switch (verdict.kind) {
    case 'unreported':
      return `report on its hosts, or set unreported: idle for ${group}`;
    case 'min':
      return `to let it go, lower min of ${group}`;
    case 'spare':
      return `to let it go, lower spare of ${group}`;
    case 'floor':
      return 'to let it go, drop the floor it is kept for';
    case 'protected':
      return `to let it go: bellows protect ${id} --undo`;
    case 'paused':
      return resumeText(view, record);
    case 'blast-radius':
      return 'to let more go at a time, raise limits.terminationsPerMinute or drainingPercent';
    case 'deferred':
      return deferralRemedies[verdict.by];
    case 'idle-grace':
      return `to let it go now: bellows drain ${id}; to keep it: bellows protect ${id}`;
    case 'busy':
    case 'needed':
    case 'reserved':
    case 'drain-called-off':
    case 'waiting':
    case 'draining':
    case 'cancelled':
    case 'ending':
      return '';
    default:
      return unreachable(verdict);
  }
}

function resumeText({ held }: FleetView, { group }: SliceRecord): string {
  const pauses = held.pauses.filter((pause) => isPaused(pause, 'terminations', { name: group }));
  return pauses.map(({ id }) => `end the pause: bellows resume ${id}`).join('; ');
}

/** The step that a slice ends or ended by; asking the provider again is none. */
export const endingOf = ({ history }: SliceRecord): HistoryStep | undefined =>
  history.findLast(
    ({ cause }) =>
      cause !== null &&
      cause.kind !== 'launched-for' &&
      !(cause.kind === 'timeout' && cause.status === 'terminating'),
  );

/** What to mend so that the next one does not end the same way. */
function afterEnd(record: SliceRecord): string {
  const cause = endingOf(record)?.cause ?? null;
  if (cause?.kind === 'bootstrap-failed') return `mend the bootstrap of ${record.group}`;
  if (cause?.kind === 'timeout' && cause.status !== 'draining') {
    return `see why machines of ${record.group} take so long, or raise its timeouts`;
  }
  if (cause?.kind === 'refused' && cause.refusal.kind === 'permanent') {
    return `mend what the provider complains about: ${cause.refusal.detail}`;
  }
  return '';
}

import { formatDuration } from '../../api/format.ts';
import { type EpochMs, epochMs } from '../../model/ids.ts';
import type { SliceRecord } from '../../model/slice-record.ts';
import { onItsWay, type SliceStatus } from '../../model/slice.ts';
import type { SliceVerdict } from '../../model/tick.ts';
import { timeoutOn } from './coming.ts';
import { type FleetView, type KnownGroup, groupOf } from './fleet-view.ts';
import type { Awaited } from './next-look.ts';

/** What a status waits for. */
const hopes: Readonly<Partial<Record<SliceStatus, string>>> = {
  queued: 'its turn to be asked of the provider',
  requesting: 'its machines to appear in a list of the provider',
  booting: 'all its hosts to be up',
  initializing: 'all its hosts to be ready for work',
  draining: 'its scheduler to say that all its hosts are drained',
  terminating: 'a list of the provider without its machines',
};

export const hopeOf = ({ status }: SliceRecord): string => hopes[status] ?? 'nothing';

/** What will happen to a slice by itself, and when. */
export function outlookOn(
  view: FleetView,
  record: SliceRecord,
  verdict: SliceVerdict | null,
): { readonly awaited: readonly Awaited[]; readonly hope: string | null } {
  const known = groupOf(view, record.group);
  const candidates: readonly (Awaited | null)[] = [
    timeoutOn(view, record),
    drainEnd(record),
    known === null ? null : idleEnd(record, known, verdict),
    known === null ? null : assemblyEnd(record, known),
    verdictEnd(verdict),
  ];
  const awaited = candidates.filter((one) => one !== null);
  return { awaited, hope: hopes[record.status] ?? null };
}

/** After its deadline work is ended only by an operator's or the provider's word. */
function drainEnd({ status, drain, isReported }: SliceRecord): Awaited | null {
  if (status !== 'draining' || drain === null) return null;
  const { why, deadlineMs } = drain;
  if (why.kind === 'interrupted')
    return { untilMs: deadlineMs, text: 'the provider takes it away' };
  const isForced = why.kind === 'operator' || !isReported;
  const text = isForced
    ? 'the drain is at its deadline: it is released, whatever runs there'
    : 'the drain is at its deadline: if work still runs there, it stays';
  return { untilMs: deadlineMs, text };
}

function idleEnd(
  { idleSinceMs, status, reservedFor }: SliceRecord,
  { own }: KnownGroup,
  verdict: SliceVerdict | null,
): Awaited | null {
  if (idleSinceMs === null || reservedFor !== null) return null;
  const untilMs: EpochMs = epochMs(idleSinceMs + own.idleTimeoutMs);
  const limit = formatDuration(own.idleTimeoutMs);
  if (status === 'ready' && verdict?.kind === 'idle-grace') {
    return { untilMs, text: `it has been without work for ${limit} and drains, if still so` };
  }
  if (onItsWay.has(status)) {
    return { untilMs, text: `nobody has needed it for ${limit}: given up, if still so` };
  }
  return null;
}

function assemblyEnd(
  { reservedFor, reservedSinceMs }: SliceRecord,
  { own }: KnownGroup,
): Awaited | null {
  if (reservedFor === null || reservedSinceMs === null) return null;
  const untilMs = epochMs(reservedSinceMs + own.timeouts.gangAssemblyMs);
  return { untilMs, text: `if gang ${reservedFor} has not started by then, it is held no longer` };
}

function verdictEnd(verdict: SliceVerdict | null): Awaited | null {
  if (verdict?.kind === 'drain-called-off') {
    return { untilMs: verdict.untilMs, text: 'it may be asked to drain again' };
  }
  if (verdict?.kind === 'deferred') {
    return { untilMs: verdict.untilMs, text: 'its turn is looked at again' };
  }
  return null;
}

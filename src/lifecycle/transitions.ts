import type { EpochMs } from '../model/ids.ts';
import type { HistoryStep, SliceEvent, SliceRecord } from '../model/slice-record.ts';
import type { SliceStatus } from '../model/slice.ts';

type Row = Readonly<Partial<Record<SliceEvent, SliceStatus>>>;

/** The one truth about the life of a slice: `step` reads it, docs draw it, tests walk it. */
export const transitions: Readonly<Record<SliceStatus, Row>> = {
  // Nothing has been asked of a provider yet, so nothing can be left behind.
  queued: { 'launch-sent': 'requesting', cancelled: 'terminated', 'timed-out': 'terminated' },
  // A request that timed out may still yield machines, so we terminate (by slice id), never forget.
  requesting: {
    'machines-seen': 'booting',
    refused: 'failed',
    cancelled: 'terminating',
    'timed-out': 'terminating',
  },
  booting: {
    'hosts-up': 'initializing',
    'host-lost': 'terminating',
    cancelled: 'terminating',
    'timed-out': 'terminating',
  },
  initializing: {
    'hosts-ready': 'ready',
    'host-lost': 'terminating',
    cancelled: 'terminating',
    'timed-out': 'terminating',
  },
  ready: { 'drain-started': 'draining', 'host-lost': 'terminating' }, // its other hosts cost money
  draining: {
    'drain-cancelled': 'ready', // work that returns mid-drain is cheapest to serve right here
    'drain-finished': 'terminating',
    'timed-out': 'terminating',
    'host-lost': 'terminating',
  },
  terminating: { 'all-gone': 'terminated', 'timed-out': 'terminating' }, // time is up: ask again
  terminated: {},
  failed: {}, // like terminated: no machine is left
};

export type Step =
  | { readonly kind: 'moved'; readonly record: SliceRecord; readonly from: SliceStatus }
  /** The event means nothing in this status: late, repeated, or overtaken. */
  | { readonly kind: 'refused'; readonly from: SliceStatus; readonly event: SliceEvent };

/** Steps kept of a slice that is asked to end again and again; the first ones are never dropped. */
const HISTORY_MAX = 64;

/** Total: every event in every status has an answer. */
export function step(
  record: SliceRecord,
  { event, cause, atMs }: Omit<HistoryStep, 'status'>,
): Step {
  const from = record.status;
  const status = transitions[from][event];
  if (status === undefined) return { kind: 'refused', from, event };
  const history = remember(record.history, { atMs, event, status, cause });
  const moved = {
    ...record,
    status,
    statusSinceMs: atMs,
    history,
    ...marksOf(record, event, atMs),
  };
  return { kind: 'moved', from, record: moved };
}

/** What an event says beside the status. */
function marksOf(
  record: SliceRecord,
  event: SliceEvent,
  atMs: EpochMs,
): Partial<Pick<SliceRecord, 'requestedAtMs' | 'readyAtMs' | 'drain' | 'idleSinceMs'>> {
  switch (event) {
    case 'launch-sent':
      return { requestedAtMs: record.requestedAtMs ?? atMs };
    case 'hosts-ready':
      // Whether it idles is not known before somebody reports on it.
      return { readyAtMs: atMs, idleSinceMs: null };
    case 'drain-cancelled':
      // Somebody wants it: the time without work begins anew, or it would be asked to go at once.
      return { drain: null, idleSinceMs: null };
    default:
      return {};
  }
}

/** The newest steps go over the middle ones: how it began and how it stands both matter. */
function remember(history: readonly HistoryStep[], next: HistoryStep): readonly HistoryStep[] {
  if (history.length < HISTORY_MAX) return [...history, next];
  return [...history.slice(0, HISTORY_MAX / 2), ...history.slice(HISTORY_MAX / 2 + 1), next];
}

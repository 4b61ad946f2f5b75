import { create } from '@bufbuild/protobuf';
import { type Slice, SliceSchema } from '../../api/gen/bellows/v1/status_pb.ts';
import type { Reason } from '../../api/gen/bellows/v1/status_pb.ts';
import { causeText, sliceVerdictText } from '../../api/verdict-text.ts';
import type { EpochMs } from '../../model/ids.ts';
import type { SliceRecord, TrackedHost, TrackedSlice } from '../../model/slice-record.ts';
import type { SliceVerdict } from '../../model/tick.ts';
import { toAmounts, toReason, toTimestamp, toUsdOrNone } from './wire-values.ts';

/** A slice as the last decision saw it, with its word on it. */
export interface SeenSlice {
  readonly slice: TrackedSlice;
  readonly verdict: SliceVerdict;
}

export function toSlice(
  record: SliceRecord,
  seen: SeenSlice | undefined,
  { nowMs, withHistory }: { readonly nowMs: EpochMs; readonly withHistory: boolean },
): Slice {
  return create(SliceSchema, {
    id: record.id,
    group: record.group,
    provider: record.provider,
    status: record.status,
    statusSince: toTimestamp(record.statusSinceMs),
    verdict: reasonOf(record, seen, nowMs),
    hosts: record.machines.map((machineId, index) => {
      const host = seen?.slice.hosts[index];
      return {
        index,
        machineId: machineId ?? '',
        free: toAmounts(host?.free ?? {}),
        use: useOf(host),
      };
    }),
    reservedFor: record.reservedFor ?? '',
    protected: record.isProtected,
    // Of a slice on its way the same mark means that nobody needs it.
    idleSince: record.status === 'ready' ? toTimestamp(record.idleSinceMs) : undefined,
    readyAt: toTimestamp(record.readyAtMs),
    priceUsdPerHour: toUsdOrNone(record.priceMicroUsdPerHour),
    drainDeadline: toTimestamp(record.drain?.deadlineMs),
    history: withHistory ? record.history.map(toStep) : [],
  });
}

const useOf = (host: TrackedHost | undefined): string =>
  host?.isBusy == null ? 'unreported' : host.isBusy ? 'busy' : 'idle';

const toStep = ({ atMs, event, status, cause }: SliceRecord['history'][number]) => {
  return {
    at: toTimestamp(atMs),
    event,
    status,
    cause: cause === null ? '' : causeText(cause, atMs),
  };
};

/** The last decision's word, unless the slice has moved on since: then what moved it. */
function reasonOf(record: SliceRecord, seen: SeenSlice | undefined, nowMs: EpochMs): Reason {
  if (seen?.slice.status === record.status) return ofVerdict(seen.verdict, nowMs);
  if (record.status === 'draining' && record.drain !== null) {
    return ofVerdict({ kind: 'draining', why: record.drain.why }, nowMs);
  }
  const caused = record.history.findLast(({ cause }) => cause !== null);
  if (caused?.cause != null) {
    const { cause, atMs } = caused;
    const text = causeText(cause, atMs);
    return toReason(cause.kind, cause.kind === 'launched-for' ? `launched ${text}` : text);
  }
  return toReason(record.status, `${record.status}; nothing is known of why`);
}

const ofVerdict = (verdict: SliceVerdict, nowMs: EpochMs): Reason =>
  toReason(verdict.kind, sliceVerdictText(verdict, nowMs));

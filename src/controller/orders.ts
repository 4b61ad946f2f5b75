import type { HostOrder, HostReport } from '../model/host-report.ts';
import type { SliceRecord } from '../model/slice-record.ts';

/** What a host's scheduler is to do with it. */
export function orderFor(record: SliceRecord, report: HostReport): HostOrder | null {
  if (record.status === 'draining') {
    const deadlineMs = record.drain?.deadlineMs ?? null;
    return { sliceId: record.id, order: 'drain', deadlineMs };
  }
  if (record.status === 'ready' && report.drain !== 'none') {
    return { sliceId: record.id, order: 'resume', deadlineMs: null };
  }
  return record.status === 'terminating'
    ? { sliceId: record.id, order: 'drain', deadlineMs: record.statusSinceMs }
    : null;
}

import type { HostOrder, HostReport } from '../model/host-report.ts';
import type { SliceId } from '../model/ids.ts';
import type { Memory } from './memory.ts';
import { orderFor } from './orders.ts';
import type { Sights } from './sights.ts';

/** What a scheduler is told in reply to its reports. */
export interface ReportAnswer {
  readonly orders: readonly HostOrder[];
  /** Slices, or hosts of them, that are not there. */
  readonly unknownIds: readonly SliceId[];
  /** Something was said that was not known. */
  readonly isNews: boolean;
}

/** Takes reports in and says what their hosts shall do. */
export function takeReports(
  reports: readonly HostReport[],
  { memory, sights }: { readonly memory: Memory; readonly sights: Sights },
): ReportAnswer {
  const orders = new Map<SliceId, HostOrder>();
  const unknown = new Set<SliceId>();
  let isNews = false;
  for (const report of reports) {
    const record = memory.slices.get(report.sliceId);
    if (record === undefined || report.hostIndex >= record.hostCount) {
      unknown.add(report.sliceId);
      continue;
    }
    if (sights.report(record, report)) isNews = true;
    // Nothing is asked of a host before it is recorded.
    const recorded = memory.slices.kept(record.id);
    const order = recorded === undefined ? null : orderFor(recorded, report);
    if (order !== null) orders.set(record.id, order);
  }
  return { orders: [...orders.values()], unknownIds: [...unknown], isNews };
}

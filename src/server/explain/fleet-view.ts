import type { Standing } from '../../controller/controller-options.ts';
import type { Held } from '../../controller/memory.ts';
import type { Control, GroupControl } from '../../model/control.ts';
import type { Group } from '../../model/group.ts';
import type { EpochMs } from '../../model/ids.ts';
import { isLive, type SliceRecord } from '../../model/slice-record.ts';
import { sliceStatuses } from '../../model/slice.ts';
import { applyCalendars } from '../../policy/calendar.ts';
import type { DecidedTick, NumberedEvent } from '../fleet-feed.ts';
import type { ServedFleet } from '../served-fleet.ts';

/** All that an answer is made from, read at one instant. */
export interface FleetView {
  readonly nowMs: EpochMs;
  /** Null before the first decision. */
  readonly last: DecidedTick | null;
  readonly held: Held;
  /** Also slices that ended lately. */
  readonly records: readonly SliceRecord[];
  readonly standing: Standing;
  readonly nextDecisionMs: EpochMs;
  /** Newest first. */
  readonly recentEvents: readonly NumberedEvent[];
}

export function viewOf({ controller, feed }: ServedFleet): FleetView {
  return {
    nowMs: controller.now,
    last: controller.last,
    held: controller.held,
    records: [...controller.slices()],
    standing: controller.standing,
    nextDecisionMs: controller.nextDecisionMs,
    recentEvents: feed.recentEvents,
  };
}

/** A group, and how it is run. */
export interface KnownGroup {
  /** With min and spare as calendars have them now. */
  readonly group: Group;
  readonly own: GroupControl;
  readonly isRetired: boolean;
}

/** Null: the last decision knew no group of this name, or there was none yet. */
export function groupOf({ last, nowMs }: FleetView, name: string): KnownGroup | null {
  if (last === null) return null;
  const control: Control = applyCalendars(last.input.control, nowMs);
  const index = control.fleet.groups.findIndex((group) => group.name === name);
  const [group, own] = [control.fleet.groups[index], control.groups[index]];
  if (group === undefined || own === undefined) return null;
  return { group, own, isRetired: control.retired.includes(group.name) };
}

/** The slices of a group by status, in the order of life: `1 booting, 3 ready`. */
export function slicesText({ records }: FleetView, name: string): string {
  const own = records.filter((record) => record.group === name && isLive(record));
  const counts = sliceStatuses.flatMap((status) => {
    const count = own.filter((record) => record.status === status).length;
    return count === 0 ? [] : [`${count} ${status}`];
  });
  return counts.length === 0 ? 'no slice' : counts.join(', ');
}

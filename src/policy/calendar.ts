import type { CalendarEntry, Control } from '../model/control.ts';
import type { Group } from '../model/group.ts';
import { type EpochMs, epochMs } from '../model/ids.ts';
import { groupBy } from '../support/group-by.ts';
import {
  DAY_MINUTES,
  MINUTE_MS,
  toWeekMinute,
  WEEK_MINUTES,
  weekMinuteAt,
  type ZonePeriod,
  zonePeriods,
} from '../support/week-time.ts';

// Entries are read off the clock on the wall. Where it is put forward, hours that it skips do not
// come; where it is put back, an hour that it shows twice counts twice.

/** Every entry's week comes round in seven days; one more, because a clock may be put back. */
const AHEAD_MS = 8 * DAY_MINUTES * MINUTE_MS;

/**
 * The control with min and spare of its groups as the calendars have them at this time: the highest
 * of a group's own and those of its active entries, raised to max at most. The same object when
 * that changes nothing.
 */
export function applyCalendars(control: Control, atMs: EpochMs): Control {
  const active = findActive(control.calendars, atMs);
  if (active.length === 0) return control;
  const byGroup = groupBy(active, ({ group }) => group);
  const { fleet } = control;
  const groups = fleet.groups.map((group) => raise(group, byGroup.get(group.name) ?? []));
  if (groups.every((group, index) => group === fleet.groups[index])) return control;
  return { ...control, fleet: { ...fleet, groups } };
}

/**
 * When the set of active entries is next another one, so that the loop can wake up: a whole minute
 * after `atMs`. Null when it stays as it is for the eight days looked at.
 */
export function nextChangeMs(control: Control, atMs: EpochMs): EpochMs | null {
  const fromMs = Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
  const span = { fromMs, untilMs: fromMs + AHEAD_MS };
  let next: number | null = null;
  for (const [timeZone, entries] of groupBy(control.calendars, (entry) => entry.timeZone)) {
    const periods = zonePeriods(timeZone, span);
    for (const entry of entries) {
      const changeMs = findChange(entry, periods);
      if (changeMs !== null && (next === null || changeMs < next)) next = changeMs;
    }
  }
  return next === null ? null : epochMs(next);
}

/** True when the entry holds at this minute of the week in its own zone; 0 is Sunday 00:00. */
export function isActive(entry: CalendarEntry, weekMinute: number): boolean {
  const duration = durationOf(entry);
  return startsOf(entry).some((start) => toWeekMinute(weekMinute - start) < duration);
}

/** The minutes of the week, in its own zone, at which the entry begins to hold. */
export function startsOf({ days, fromMinute }: CalendarEntry): readonly number[] {
  return days.map((day) => toWeekMinute(day * DAY_MINUTES + fromMinute));
}

/** In minutes on the wall clock, across midnight where `to` is not after `from`. */
export const durationOf = ({ fromMinute, toMinute }: CalendarEntry): number =>
  toMinute > fromMinute ? toMinute - fromMinute : toMinute - fromMinute + DAY_MINUTES;

function findActive(calendars: readonly CalendarEntry[], atMs: EpochMs): readonly CalendarEntry[] {
  return [...groupBy(calendars, (entry) => entry.timeZone)].flatMap(([timeZone, entries]) => {
    const weekMinute = weekMinuteAt(timeZone, atMs);
    return entries.filter((entry) => isActive(entry, weekMinute));
  });
}

function raise(group: Group, active: readonly CalendarEntry[]): Group {
  let { min, spare } = group;
  for (const entry of active) {
    // Its own spare may lie above max (bounds see to it), so only what is raised is held to max.
    if (entry.min !== null) min = Math.max(min, Math.min(entry.min, group.max));
    if (entry.spare !== null) spare = Math.max(spare, Math.min(entry.spare, group.max));
  }
  return min === group.min && spare === group.spare ? group : { ...group, min, spare };
}

/** When the entry begins or ceases to hold, whichever it does first. */
function findChange(entry: CalendarEntry, periods: readonly ZonePeriod[]): number | null {
  const starts = startsOf(entry);
  const edges = [...starts, ...starts.map((start) => toWeekMinute(start + durationOf(entry)))];
  let was: boolean | null = null;
  for (const { fromMs, untilMs, weekMinute } of periods) {
    was ??= isActive(entry, weekMinute);
    // Wait 0 is the start of the period: the clock may have jumped into the entry or out of it.
    // Edges of adjoining days change nothing, so each is asked what holds there.
    let waitMinutes = WEEK_MINUTES;
    for (const wait of [0, ...edges.map((edge) => toWeekMinute(edge - weekMinute))]) {
      const holds = isActive(entry, toWeekMinute(weekMinute + wait));
      if (holds !== was) waitMinutes = Math.min(waitMinutes, wait);
    }
    const changeMs = fromMs + waitMinutes * MINUTE_MS;
    if (waitMinutes < WEEK_MINUTES && changeMs < untilMs) return changeMs;
  }
  return null;
}

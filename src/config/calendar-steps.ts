import type { CalendarEntry } from '../model/control.ts';
import { durationOf, startsOf } from '../policy/calendar.ts';
import { groupBy } from '../support/group-by.ts';
import { byNumber } from '../support/order.ts';
import { toWeekMinute, WEEK_MINUTES, zoneOffset } from '../support/week-time.ts';
import type { GroupSettings } from './schema.ts';

/** At this minute of the week, UTC, the calendars change a group's min by so many slices. */
export interface MinStep {
  readonly weekMinute: number;
  readonly group: GroupSettings;
  readonly change: number;
}

// Zones put their clocks forward and back on different days, which moves their entries against
// each other. These days see every combination of Europe, America and Australia. Any year will do.
const seasons = [
  Date.UTC(2026, 0, 15),
  Date.UTC(2026, 2, 20),
  Date.UTC(2026, 6, 15),
  Date.UTC(2026, 9, 15),
];

/**
 * How calendars raise and lower min over a week, once per season that differs: the steps in order,
 * from the groups' own min on. A group that an entry names and the list lacks is passed over.
 */
export function listMinSteps(
  groups: readonly GroupSettings[],
  calendars: readonly CalendarEntry[],
): readonly (readonly MinStep[])[] {
  const entries = calendars.filter(({ min }) => min !== null);
  const byGroup = groupBy(entries, ({ group }) => String(group));
  const zones = [...new Set(entries.map(({ timeZone }) => timeZone))];
  const weeks = new Map<string, ReadonlyMap<string, number>>();
  for (const atMs of seasons) {
    const offsets = zones.map((zone) => zoneOffset(zone, atMs));
    weeks.set(offsets.join(), new Map(zones.map((zone, index) => [zone, offsets[index] ?? 0])));
  }
  return [...weeks.values()].map((offsets) =>
    groups
      .flatMap((group) => stepsOf(group, byGroup.get(group.name) ?? [], offsets))
      .sort(byNumber(({ weekMinute }) => weekMinute)),
  );
}

function stepsOf(
  group: GroupSettings,
  entries: readonly CalendarEntry[],
  offsets: ReadonlyMap<string, number>,
): readonly MinStep[] {
  const higher = entries.filter(({ min }) => min !== null && min > group.min);
  if (higher.length === 0) return [];
  const mins = new Int32Array(WEEK_MINUTES).fill(group.min);
  // The highest is written last, over the others.
  for (const entry of higher.sort(byNumber(({ min }) => min ?? 0))) {
    const min = Math.min(entry.min ?? 0, group.max);
    for (const start of startsOf(entry)) {
      const from = toWeekMinute(start - (offsets.get(entry.timeZone) ?? 0));
      const to = from + durationOf(entry);
      mins.fill(min, from, to);
      if (to > WEEK_MINUTES) mins.fill(min, 0, to - WEEK_MINUTES);
    }
  }
  const steps: MinStep[] = [];
  let before = group.min;
  for (let weekMinute = 0; weekMinute < WEEK_MINUTES; weekMinute++) {
    const min = mins[weekMinute] ?? 0;
    if (min !== before) steps.push({ weekMinute, group, change: min - before });
    before = min;
  }
  return steps;
}

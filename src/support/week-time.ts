import { must } from './assert.ts';

// Time of the week in a time zone, in minutes: 0 is Sunday 00:00. Intl knows when clocks are put
// forward or back; it takes instants as plain numbers.

export const MINUTE_MS = 60_000;
export const DAY_MINUTES = 1_440;
export const WEEK_MINUTES = 7 * DAY_MINUTES;

/** The first instant we count from, 1970-01-01T00:00Z, was a Thursday. */
const EPOCH_WEEK_MINUTE = 4 * DAY_MINUTES;

const dayNames = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

/** A stretch of time in which a zone's clock runs evenly. */
export interface ZonePeriod {
  readonly fromMs: number;
  readonly untilMs: number;
  /** What the clock shows at `fromMs`. */
  readonly weekMinute: number;
}

/** Any number of minutes as a minute of the week. */
export const toWeekMinute = (minutes: number): number =>
  ((minutes % WEEK_MINUTES) + WEEK_MINUTES) % WEEK_MINUTES;

/** `Mon 08:00`. */
export function formatWeekMinute(weekMinute: number): string {
  const day = must(dayNames[Math.floor(weekMinute / DAY_MINUTES)], 'the day of a minute');
  const two = (value: number): string => String(value).padStart(2, '0');
  const minute = weekMinute % DAY_MINUTES;
  return `${day} ${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
}

/** What a clock in the zone shows. */
export function weekMinuteAt(timeZone: string, atMs: number): number {
  const parts = new Map(
    formatterOf(timeZone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  );
  const day = dayNames.findIndex((name) => name === parts.get('weekday'));
  return day * DAY_MINUTES + Number(parts.get('hour')) * 60 + Number(parts.get('minute'));
}

/** Minutes the zone is ahead of UTC, as a minute of the week: one hour behind is a week less 60. */
export function zoneOffset(timeZone: string, atMs: number): number {
  const utc = Math.floor(atMs / MINUTE_MS) + EPOCH_WEEK_MINUTE;
  return toWeekMinute(weekMinuteAt(timeZone, atMs) - utc);
}

/**
 * The time from `fromMs`, a whole minute, until `untilMs`, cut where the zone's clock jumps. Two
 * jumps within a day that undo each other are not seen; no zone has them.
 */
export function zonePeriods(
  timeZone: string,
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
): readonly ZonePeriod[] {
  const periods: ZonePeriod[] = [];
  const begin = (ms: number): void => {
    periods.push({ fromMs: ms, untilMs, weekMinute: weekMinuteAt(timeZone, ms) });
  };
  begin(fromMs);
  for (let ms = fromMs; ms < untilMs;) {
    const next = Math.min(ms + DAY_MINUTES * MINUTE_MS, untilMs);
    const jumpMs = findJump(timeZone, ms, next);
    if (jumpMs !== null && jumpMs < untilMs) begin(jumpMs);
    ms = next;
  }
  return periods.map((period, index) => {
    return { ...period, untilMs: periods[index + 1]?.fromMs ?? untilMs };
  });
}

/** The first whole minute, after the first and up to the last, with the last one's offset. */
function findJump(timeZone: string, firstMs: number, lastMs: number): number | null {
  const after = zoneOffset(timeZone, lastMs);
  if (zoneOffset(timeZone, firstMs) === after) return null;
  let [low, high] = [firstMs / MINUTE_MS, Math.ceil(lastMs / MINUTE_MS)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (zoneOffset(timeZone, middle * MINUTE_MS) === after) high = middle;
    else low = middle;
  }
  return high * MINUTE_MS;
}

/** Zones are a few hundred, but texts that name one are not: beyond this we start anew. */
const FORMATTERS_MAX = 1_000;
// Making one takes a thousand times as long as using it. Nobody can tell by the answers that it
// is kept: a zone's formatter is always the same.
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const kept = formatters.get(timeZone);
  if (kept !== undefined) return kept;
  const formatter = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  if (formatters.size >= FORMATTERS_MAX) formatters.clear();
  formatters.set(timeZone, formatter);
  return formatter;
}

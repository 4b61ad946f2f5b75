import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  DAY_MINUTES,
  formatWeekMinute,
  MINUTE_MS,
  toWeekMinute,
  weekMinuteAt,
  zoneOffset,
  zonePeriods,
} from './week-time.ts';

test.each([
  ['UTC', '1970-01-01T00:00:00Z', 'Thu 00:00'],
  ['UTC', '2026-11-15T23:59:59Z', 'Sun 23:59'],
  ['Europe/Paris', '2026-03-29T00:59:00Z', 'Sun 01:59'],
  ['Europe/Paris', '2026-03-29T01:00:00Z', 'Sun 03:00'],
  ['Europe/Paris', '2026-10-25T00:59:00Z', 'Sun 02:59'],
  ['Europe/Paris', '2026-10-25T01:00:00Z', 'Sun 02:00'],
  ['America/New_York', '2026-07-06T03:00:00Z', 'Sun 23:00'],
  ['Asia/Kolkata', '2026-07-04T19:00:00Z', 'Sun 00:30'],
  ['Asia/Kathmandu', '2026-07-05T18:15:00Z', 'Mon 00:00'],
])('in %s, %s is %s', (zone, instant, shown) => {
  expect(formatWeekMinute(weekMinuteAt(zone, Date.parse(instant)))).toBe(shown);
});

test('an offset west of Greenwich is a week less', () => {
  const atMs = Date.parse('2026-01-15T12:00:00Z');
  expect(zoneOffset('America/New_York', atMs)).toBe(toWeekMinute(-300));
  expect(zoneOffset('Europe/Paris', atMs)).toBe(60);
});

const week = (start: string): { fromMs: number; untilMs: number } => {
  const fromMs = Date.parse(start);
  return { fromMs, untilMs: fromMs + 7 * DAY_MINUTES * MINUTE_MS };
};

test.each([
  ['UTC', '2026-03-25T10:07:00Z', []],
  ['Europe/Paris', '2026-03-25T10:07:00Z', ['2026-03-29T01:00:00.000Z']],
  ['Europe/Paris', '2026-10-19T01:00:00Z', ['2026-10-25T01:00:00.000Z']],
  ['Europe/Paris', '2026-10-18T01:00:00Z', []],
  ['Europe/Paris', '2026-10-25T01:00:00Z', []],
  ['America/New_York', '2026-03-05T00:00:00Z', ['2026-03-08T07:00:00.000Z']],
  ['Australia/Lord_Howe', '2026-10-01T00:00:00Z', ['2026-10-03T15:30:00.000Z']],
])('the clock of %s jumps in the week from %s at %j', (zone, start, jumps) => {
  const periods = zonePeriods(zone, week(start));
  expect(periods.slice(1).map(({ fromMs }) => new Date(fromMs).toISOString())).toEqual(jumps);
});

test('within a period the clock runs evenly, and periods leave no gap', () => {
  const zone = fc.constantFrom('Europe/Paris', 'America/New_York', 'Australia/Lord_Howe');
  const minutes = fc.integer({ min: 29_000_000, max: 31_000_000 });
  fc.assert(
    fc.property(zone, minutes, fc.nat(7 * DAY_MINUTES - 1), (timeZone, first, later) => {
      const fromMs = first * MINUTE_MS;
      const periods = zonePeriods(timeZone, { fromMs, untilMs: fromMs + 7 * DAY_MINUTES * 60_000 });
      const atMs = fromMs + later * MINUTE_MS;
      const holding = periods.filter((period) => period.fromMs <= atMs && atMs < period.untilMs);
      expect(holding).toHaveLength(1);
      for (const period of holding) {
        const shown = toWeekMinute(period.weekMinute + (atMs - period.fromMs) / MINUTE_MS);
        expect(weekMinuteAt(timeZone, atMs)).toBe(shown);
      }
    }),
  );
});

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aGroup, noLimits } from '../../test/builders.ts';
import type { CalendarEntry, Control } from '../model/control.ts';
import type { Group } from '../model/group.ts';
import { type EpochMs, epochMs, groupName } from '../model/ids.ts';
import { weekMinuteAt } from '../support/week-time.ts';
import { applyCalendars, isActive, nextChangeMs } from './calendar.ts';

const everyDay = [0, 1, 2, 3, 4, 5, 6];
const weekdays = [1, 2, 3, 4, 5];

function anEntry(over: Partial<CalendarEntry> = {}): CalendarEntry {
  return {
    calendar: 'office',
    timeZone: 'UTC',
    group: groupName('group'),
    days: everyDay,
    fromMinute: 0,
    toMinute: 1_440,
    min: null,
    spare: null,
    ...over,
  };
}

function aControl(calendars: readonly CalendarEntry[], groups: readonly Group[] = [aGroup()]) {
  const control: Control = {
    fleet: {
      name: 'test',
      strategy: 'cost',
      limits: noLimits,
      registrationGraceMs: 60_000,
      groups,
      quotaPools: [],
    },
    groups: [],
    providers: [],
    retired: [],
    calendars,
    blastRadius: { terminationsPerMinute: null, drainingRatio: null },
    evaluationIntervalMs: 10_000,
    reconcileIntervalMs: 15_000,
    mode: 'active',
  };
  return control;
}

const at = (instant: string): EpochMs => epochMs(Date.parse(instant));
const hour = (hours: number, minutes = 0): number => hours * 60 + minutes;

const office = { days: weekdays, fromMinute: hour(8), toMinute: hour(18), min: 3 };
const night = { days: [5], fromMinute: hour(22), toMinute: hour(6), min: 3 };
const saturdayNight = { days: [6], fromMinute: hour(22), toMinute: hour(6), min: 3 };
const paris = { ...office, timeZone: 'Europe/Paris' };
const early = { timeZone: 'Europe/Paris', fromMinute: hour(2), toMinute: hour(3), min: 3 };
const tokyo = { ...office, timeZone: 'Asia/Tokyo' };

describe('an entry', () => {
  // 2026-11-16 is a Monday. Paris: +02:00 until 2026-10-25T01:00Z, +01:00 after it.
  test.each([
    ['before it begins', office, '2026-11-16T07:59:59.999Z', 0],
    ['as it begins', office, '2026-11-16T08:00:00Z', 3],
    ['in its last minute', office, '2026-11-20T17:59:59Z', 3],
    ['as it ends', office, '2026-11-20T18:00:00Z', 0],
    ['on a day it does not name', office, '2026-11-21T12:00:00Z', 0],
    ['all day', { min: 3 }, '2026-11-21T23:59:00Z', 3],
    ['before a night', night, '2026-11-20T21:59:00Z', 0],
    ['before midnight', night, '2026-11-20T23:59:00Z', 3],
    ['after midnight', night, '2026-11-21T00:00:00Z', 3],
    ['at the end of a night', night, '2026-11-21T06:00:00Z', 0],
    ['in the morning of the day it names', night, '2026-11-20T03:00:00Z', 0],
    ['across the end of the week', saturdayNight, '2026-11-22T05:59:00Z', 3],
    [
      'from and to alike: a whole day on',
      { ...night, toMinute: hour(22) },
      '2026-11-21T21:59:00Z',
      3,
    ],
    ['and no more than that', { ...night, toMinute: hour(22) }, '2026-11-21T22:00:00Z', 0],
    ['in summer, Paris is two hours ahead', paris, '2026-10-23T06:00:00Z', 3],
    ['in winter, one', paris, '2026-10-26T06:59:00Z', 0],
    ['and begins an hour later', paris, '2026-10-26T07:00:00Z', 3],
    ['the hour before one is skipped', early, '2026-03-29T00:59:00Z', 0],
    ['the hour skipped does not come', early, '2026-03-29T01:00:00Z', 0],
    ['the hour shown twice, first', early, '2026-10-25T00:30:00Z', 3],
    ['the hour shown twice, again', early, '2026-10-25T01:30:00Z', 3],
    ['and then it is over', early, '2026-10-25T02:00:00Z', 0],
    ['Monday begins on Sunday in Tokyo', tokyo, '2026-11-15T23:00:00Z', 3],
    ['and Friday evening is over', tokyo, '2026-11-20T09:00:00Z', 0],
  ])('%s', (_name, entry, instant, min) => {
    const applied = applyCalendars(aControl([anEntry(entry)]), at(instant));
    expect(applied.fleet.groups[0]?.min).toBe(min);
  });
});

describe('what holds', () => {
  const monday = at('2026-11-16T09:00:00Z');
  test.each([
    [
      'the highest of own and active',
      { min: 2, spare: 1, max: 9 },
      [{ min: 4 }, { min: 3, spare: 5 }],
      4,
      5,
    ],
    ['its own where that is higher', { min: 5, spare: 2, max: 9 }, [{ min: 4, spare: 1 }], 5, 2],
    ['never more than max', { min: 1, spare: 0, max: 3 }, [{ min: 9, spare: 9 }], 3, 3],
    ['its own spare above max', { min: 0, spare: 7, max: 3 }, [{ min: 1, spare: 5 }], 1, 7],
    ['of an absent value its own', { min: 2, spare: 1, max: 9 }, [{ spare: 3 }], 2, 3],
    [
      'nothing of other hours',
      { min: 0, spare: 0, max: 9 },
      [{ min: 1 }, { min: 5, days: [2] }],
      1,
      0,
    ],
    [
      'nothing of other groups',
      { min: 0, spare: 0, max: 9 },
      [{ min: 4, group: groupName('b') }],
      0,
      0,
    ],
  ])('%s', (_name, group, entries, min, spare) => {
    const control = aControl(entries.map(anEntry), [aGroup(group)]);
    expect(applyCalendars(control, monday).fleet.groups[0]).toEqual(
      aGroup({ ...group, min, spare }),
    );
  });

  test('only the groups concerned are new', () => {
    const [a, b] = [aGroup({ name: 'a' }), aGroup({ name: 'b' })];
    const control = aControl([anEntry({ group: b.name, min: 1 })], [a, b]);
    const applied = applyCalendars(control, monday);
    expect(applied.fleet.groups[0]).toBe(a);
    expect(applied).toEqual({
      ...control,
      fleet: { ...control.fleet, groups: [a, { ...b, min: 1 }] },
    });
  });

  test.each([
    ['there are no calendars', []],
    ['nothing is active', [{ min: 5, days: [2] }]],
    ['nothing is raised', [{ min: 2, spare: 0 }]],
    ['max is reached already', [{ min: 9 }]],
  ])('the control is the same object when %s', (_name, entries) => {
    const max = entries[0]?.min === 9 ? 2 : 10;
    const control = aControl(entries.map(anEntry), [aGroup({ min: 2, max })]);
    expect(applyCalendars(control, monday)).toBe(control);
  });
});

describe('the next change', () => {
  const sunday = { days: [0], toMinute: hour(1) };
  const skipped = { ...early, fromMinute: hour(2, 15), toMinute: hour(2, 45) };
  test.each([
    ['none without calendars', [], '2026-11-16T07:00:00Z', null],
    ['none for all week', [{}], '2026-11-16T07:00:00Z', null],
    ['a beginning', [office], '2026-11-16T07:00:12.345Z', '2026-11-16T08:00:00.000Z'],
    ['an end, from the beginning on', [office], '2026-11-16T08:00:00Z', '2026-11-16T18:00:00.000Z'],
    ['a minute before', [office], '2026-11-16T07:59:59.999Z', '2026-11-16T08:00:00.000Z'],
    ['over the weekend', [office], '2026-11-20T18:00:00Z', '2026-11-23T08:00:00.000Z'],
    ['across midnight', [night], '2026-11-20T22:00:00Z', '2026-11-21T06:00:00.000Z'],
    [
      'adjoining days are one',
      [{ days: [1, 2] }],
      '2026-11-16T07:00:00Z',
      '2026-11-18T00:00:00.000Z',
    ],
    ['almost a week ahead', [sunday], '2026-11-15T01:00:00Z', '2026-11-22T00:00:00.000Z'],
    ['the first of several', [office, tokyo], '2026-11-16T08:30:00Z', '2026-11-16T09:00:00.000Z'],
    ['in Paris, in summer', [paris], '2026-10-23T16:00:00Z', '2026-10-26T07:00:00.000Z'],
    ['in Paris, into summer', [paris], '2026-03-27T17:00:00Z', '2026-03-30T06:00:00.000Z'],
    [
      'a clock put forward ends it',
      [{ ...early, fromMinute: hour(1) }],
      '2026-03-29T00:10:00Z',
      '2026-03-29T01:00:00.000Z',
    ],
    [
      'a clock put forward begins it',
      [{ ...early, fromMinute: hour(2, 30), toMinute: hour(9) }],
      '2026-03-29T00:10:00Z',
      '2026-03-29T01:00:00.000Z',
    ],
    [
      'hours skipped are passed over',
      [skipped],
      '2026-03-28T02:00:00Z',
      '2026-03-30T00:15:00.000Z',
    ],
    [
      'a clock put back begins it anew',
      [{ ...early, toMinute: hour(2, 30) }],
      '2026-10-25T00:40:00Z',
      '2026-10-25T01:00:00.000Z',
    ],
  ])('%s', (_name, entries, instant, expected) => {
    const next = nextChangeMs(aControl(entries.map(anEntry)), at(instant));
    expect(next === null ? null : new Date(next).toISOString()).toBe(expected);
  });

  test('is the first minute with another set of active entries', () => {
    const entry = fc
      .record({
        timeZone: fc.constantFrom('UTC', 'Europe/Paris', 'America/New_York', 'Australia/Lord_Howe'),
        days: fc.subarray(everyDay, { minLength: 1 }),
        fromMinute: fc.nat(1_440),
        toMinute: fc.nat(1_440),
      })
      .map(anEntry);
    // Half an hour to two days before clocks are put forward or back, where it is hard.
    const start = fc
      .tuple(
        fc.constantFrom('2026-03-29T01:00:00Z', '2026-10-25T01:00:00Z', '2026-03-08T07:00:00Z'),
        fc.integer({ min: -2_880, max: 30 }),
      )
      .map(([instant, minutes]) => Date.parse(instant) + minutes * 60_000);
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 3 }), start, (entries, startMs) => {
        const activeAt = (ms: number): string =>
          entries
            .map((candidate) => isActive(candidate, weekMinuteAt(candidate.timeZone, ms)))
            .join();
        const untilMs = startMs + 8 * 1_440 * 60_000;
        let expected: number | null = null;
        for (let ms = startMs; ms < untilMs && expected === null; ms += 60_000) {
          if (activeAt(ms) !== activeAt(startMs)) expected = ms;
        }
        expect(nextChangeMs(aControl(entries), epochMs(startMs))).toBe(expected);
      }),
      { numRuns: 60 },
    );
  });
});

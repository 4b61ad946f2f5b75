import { describe, expect, test } from 'vitest';
import { entryId, epochMs } from '../model/ids.ts';
import type { TrackedSlice } from '../model/slice-record.ts';
import {
  aGroup,
  aTickInput,
  aTrackedSlice,
  anAsk,
  anEntry,
  silentHost,
} from '../../test/builders.ts';
import { tellSteps, tellVerdicts } from '../../test/plan-words.ts';

type Over = Parameters<typeof aTrackedSlice>[0];
const coming = (id: string, status: TrackedSlice['status'], over: Over = {}) =>
  aTrackedSlice({ id, status, idleSinceMs: null, hosts: [silentHost], ...over });

type Given = NonNullable<Parameters<typeof aTickInput>[0]>;
const tick = (slices: readonly TrackedSlice[], group = {}, given: Given = {}) =>
  aTickInput({
    slices,
    ...given,
    control: { ...given.control, fleet: { groups: [aGroup(group)], ...given.control?.fleet } },
  });
const ask = anAsk({ resources: { cpu: 16_000 } });
const tasks = (count: number) => ({ entries: [anEntry({ count, form: { kind: 'single', ask } })] });
const ago = (ms: number) => ({ idleSinceMs: epochMs(-ms) });

describe('a slice on its way that nobody needs', () => {
  test.each([
    ['is given up at once when it was never sent', coming('c', 'queued'), ['cancel c not-needed']],
    ['is marked when it costs money already', coming('c', 'requesting'), ['mark-unneeded c']],
    ['is given its time, as demand comes and goes', coming('c', 'booting', ago(599_999)), []],
    [
      'is given up when its time is over',
      coming('c', 'booting', ago(600_000)),
      ['cancel c not-needed'],
    ],
    ['up to its last moment', coming('c', 'initializing', ago(600_000)), ['cancel c not-needed']],
    ['stays when an operator protects it', coming('c', 'queued', { isProtected: true }), []],
  ] as const)('%s', (_name, slice, steps) => {
    expect(tellSteps(tick([slice]))).toEqual(steps);
  });

  test('tells how long it may wait', () => {
    expect(tellVerdicts(tick([coming('c', 'booting')]))).toEqual(['c waiting']);
  });

  test('is needed again when work returns', () => {
    const slices = [coming('c', 'booting', ago(599_999))];
    expect(tellSteps(tick(slices, {}, tasks(1)))).toEqual(['mark-needed c']);
  });

  test.each([
    ['min', { min: 1 }],
    ['spare', { spare: 1 }],
  ] as const)('is kept for %s', (_name, group) => {
    expect(tellSteps(tick([coming('c', 'queued')], group))).toEqual([]);
  });

  test('is not kept for a spare that is there', () => {
    const slices = [coming('c', 'queued'), aTrackedSlice({ id: 's' })];
    expect(tellSteps(tick(slices, { spare: 1 }))).toEqual(['cancel c not-needed']);
  });
});

describe('of several', () => {
  const slices = [
    coming('a', 'initializing', ago(600_000)),
    coming('b', 'booting', ago(600_000)),
    coming('c', 'requesting', ago(600_000)),
    coming('d', 'queued'),
  ];

  test('those that cost least so far are given up first', () => {
    expect(tellSteps(tick(slices, {}, tasks(2)))).toEqual([
      'cancel d not-needed',
      'cancel c not-needed',
      'mark-needed b',
      'mark-needed a',
    ]);
  });

  test('those that were never sent count against no limit on releases', () => {
    const blastRadius = { terminationsPerMinute: 1, drainingRatio: null };
    const input = tick(slices, {}, { control: { blastRadius } });
    expect(tellSteps(input)).toEqual(['cancel d not-needed', 'cancel c not-needed']);
    expect(tellVerdicts(input)).toEqual([
      'a blast-radius',
      'b blast-radius',
      'c cancelled',
      'd cancelled',
    ]);
  });

  test('capacity on its way is capacity: nothing is launched twice', () => {
    expect(tellSteps(tick(slices.slice(1), { max: 4 }, tasks(3)))).toEqual([
      'mark-needed c',
      'mark-needed b',
    ]);
    expect(tellSteps(tick([coming('a', 'queued')], {}, tasks(2)))).toEqual(['launch group demand']);
  });
});

test('slices that a floor is held with are not given up for those that it lacks', () => {
  const floors = [{ id: entryId('f'), ask, count: 3 }];
  const input = tick([coming('a', 'queued')], {}, { floors });
  expect(tellSteps(input)).toEqual(['launch group floor', 'launch group floor']);
});

test('slices held for a gang wait for it', () => {
  const held = { reservedFor: entryId('g'), reservedSinceMs: epochMs(-1) };
  const entries = [anEntry({ id: 'g', form: { kind: 'gang', ask, taskCount: 2 } })];
  const slices = [coming('a', 'booting', held), coming('b', 'queued', held)];
  expect(tellVerdicts(tick(slices, {}, { entries }))).toEqual(['a reserved', 'b reserved']);
});

import { describe, expect, test } from 'vitest';
import { epochMs, groupName, machineId, type SliceId, sliceId } from '../model/ids.ts';
import type { Machine } from '../model/machine.ts';
import { aRecord, aReport } from '../../test/builders.ts';
import { Sights } from './sights.ts';

const aMachine = (id: string, over: Partial<Machine> = {}): Machine => {
  return {
    machineId: machineId(`${id}-m${over.hostIndex ?? 0}`),
    sliceId: sliceId(id),
    group: groupName('group'),
    hostIndex: 0,
    state: 'ready',
    interruptionAtMs: null,
    ...over,
  };
};
const none = (): boolean => false;
const list = (
  sights: Sights,
  startedMs: number,
  machines: readonly Machine[],
  isLeaving: (id: SliceId) => boolean = none,
): boolean => sights.list('local', { startedMs: epochMs(startedMs), machines }, isLeaving);

const ids = ['a', 'b', 'c', 'd', 'e'];
const all = ids.map((id) => aMachine(id));

describe('what lists show', () => {
  test('a host is seen when a list shows it, and known after it vanished', () => {
    const sights = new Sights(epochMs(0));
    const record = aRecord({ id: 'a' });
    expect(sights.of(record).hosts).toEqual([null]);
    list(sights, 5, [aMachine('a', { state: 'starting' })]);
    list(sights, 9, []);
    expect(sights.of(record)).toMatchObject({
      hosts: [{ machineId: 'a-m0', state: 'starting', lastSeenMs: 5 }],
      machineCount: 0,
    });
    expect(sights.listedMs('local')).toBe(9);
  });

  test('a slice that is asked for after the list still finds its machines', () => {
    const sights = new Sights(epochMs(0));
    list(sights, 5, all);
    expect(sights.of(aRecord({ id: 'b' })).hosts).toMatchObject([{ lastSeenMs: 5 }]);
  });

  test('another machine in the place of a host does not stand for it', () => {
    const sights = new Sights(epochMs(0));
    const record = aRecord({ id: 'a' });
    sights.of(record);
    list(sights, 5, [aMachine('a')]);
    list(sights, 9, [aMachine('a', { machineId: machineId('other') })]);
    expect(sights.of(record)).toMatchObject({
      hosts: [{ machineId: 'a-m0', lastSeenMs: 5 }],
      machineCount: 1,
    });
  });

  test('a machine said to be gone is not counted, one that stops is', () => {
    const sights = new Sights(epochMs(0));
    const record = aRecord({ id: 'a', hostCount: 2 });
    const gone = aMachine('a', { state: 'gone' });
    list(sights, 5, [gone, aMachine('a', { hostIndex: 1, state: 'stopping' })]);
    expect(sights.of(record).machineCount).toBe(1);
  });

  test('a machine listed twice is one machine', () => {
    const sights = new Sights(epochMs(0));
    list(sights, 5, [aMachine('a'), aMachine('a')]);
    expect(sights.of(aRecord({ id: 'a' })).machineCount).toBe(1);
  });

  test('a machine beyond the hosts of its slice is counted', () => {
    const sights = new Sights(epochMs(0));
    list(sights, 5, [aMachine('a'), aMachine('a', { hostIndex: 7 })]);
    expect(sights.of(aRecord({ id: 'a' })).machineCount).toBe(2);
  });

  test('after a restart, remembered machines count as seen when watching began', () => {
    const sights = new Sights(epochMs(100));
    const record = aRecord({ id: 'a', machines: [machineId('a-m0')] });
    expect(sights.of(record).hosts).toMatchObject([{ machineId: 'a-m0', lastSeenMs: 100 }]);
  });

  test('a host keeps the time of the last list that showed it, its neighbours go on', () => {
    const sights = new Sights(epochMs(0));
    const [record, other] = [aRecord({ id: 'a', hostCount: 2 }), aRecord({ id: 'b' })];
    const [zero, one, b] = [aMachine('a'), aMachine('a', { hostIndex: 1 }), aMachine('b')];
    const seenMs = () =>
      [record, other].map((each) => sights.of(each).hosts.map((host) => host?.lastSeenMs ?? null));
    list(sights, 5, [zero, one, b]);
    expect(seenMs()).toEqual([[5, 5], [5]]);
    list(sights, 6, [zero, one, b]);
    expect(seenMs()).toEqual([[6, 6], [6]]);
    list(sights, 7, [one, b]);
    expect(seenMs()).toEqual([[6, 7], [7]]);
    list(sights, 8, [one]);
    expect(seenMs()).toEqual([[6, 8], [7]]);
    list(sights, 9, [one]);
    expect(seenMs()).toEqual([[6, 9], [7]]);
    list(sights, 10, [zero, one, b]);
    expect(seenMs()).toEqual([[10, 10], [10]]);
  });

  test('what is forgotten is looked up anew', () => {
    const sights = new Sights(epochMs(0));
    const record = aRecord({ id: 'a' });
    sights.answer(record, { kind: 'accepted', atMs: epochMs(0) });
    sights.forget(record.id);
    expect(sights.of(record).launch).toEqual({ kind: 'none' });
  });
});

describe('a list that lacks most of what there was', () => {
  const seen = (): Sights => {
    const sights = new Sights(epochMs(0));
    for (const id of ids) sights.of(aRecord({ id }));
    list(sights, 1, all);
    return sights;
  };

  test('is believed the third time', () => {
    const sights = seen();
    expect([list(sights, 2, []), list(sights, 3, [])]).toEqual([false, false]);
    expect(sights.listedMs('local')).toBe(1);
    expect(list(sights, 4, [])).toBe(true);
    expect(sights.listedMs('local')).toBe(4);
  });

  test('counts anew after one that showed them', () => {
    const sights = seen();
    list(sights, 2, []);
    list(sights, 3, []);
    expect(list(sights, 4, all)).toBe(true);
    expect(list(sights, 5, [])).toBe(false);
  });

  test('is believed at once where those were leaving', () => {
    expect(list(seen(), 2, [], () => true)).toBe(true);
  });

  test.each([
    ['few are missing', all.slice(3), true],
    ['half are there', all.slice(2), true],
    ['all but one are missing', all.slice(4), false],
  ] as const)('%s: believed %s', (_name, machines, isBelieved) => {
    expect(list(seen(), 2, machines)).toBe(isBelieved);
  });

  test('is as suspect when it is the first after a restart', () => {
    const sights = new Sights(epochMs(0));
    for (const id of ids) sights.of(aRecord({ id, machines: [machineId(`${id}-m0`)] }));
    expect(list(sights, 2, [])).toBe(false);
    expect(sights.listedMs('local')).toBeNull();
    expect(list(sights, 3, all)).toBe(true);
  });

  test('is no surprise when the slices never had a machine', () => {
    const sights = new Sights(epochMs(0));
    for (const id of ids) sights.of(aRecord({ id, status: 'requesting' }));
    expect(list(sights, 2, [])).toBe(true);
  });
});

describe('silence', () => {
  test('is dated by its beginning and ends with a list', () => {
    const sights = new Sights(epochMs(0));
    sights.listFailed('local', epochMs(5));
    sights.listFailed('local', epochMs(9));
    expect(sights.silentSinceMs('local')).toBe(5);
    list(sights, 12, []);
    expect(sights.silentSinceMs('local')).toBeNull();
  });
});

test.each([
  ['the same again', {}, false],
  ['later, the same', { atMs: epochMs(9) }, false],
  ['work', { isBusy: true }, true],
  ['other room', { free: { cpu: 1 } }, true],
  ['an answer to a drain', { drain: 'drained' }, true],
] as const)('a report is news when it says something new: %s', (_name, over, isNews) => {
  const sights = new Sights(epochMs(0));
  const record = aRecord();
  expect(sights.report(record, aReport())).toBe(true);
  expect(sights.report(record, aReport(over))).toBe(isNews);
  expect(sights.of(record).reports).toEqual([aReport(over)]);
});

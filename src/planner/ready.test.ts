import { describe, expect, test } from 'vitest';
import { entryId, epochMs, groupName } from '../model/ids.ts';
import type { TrackedHost, TrackedSlice } from '../model/slice-record.ts';
import {
  aGroup,
  aTickInput,
  aTrackedSlice,
  anAsk,
  anEntry,
  busyHost,
  idleHost,
  silentHost,
} from '../../test/builders.ts';
import { tellSteps, tellVerdicts } from '../../test/plan-words.ts';

const whole = anAsk({ resources: { cpu: 16_000 } });
const tasks = (count: number) => [anEntry({ count, form: { kind: 'single', ask: whole } })];

type Over = Parameters<typeof aTrackedSlice>[0];
/** Slices s0, s1, ... without work: the first for longest. The timeout is ten minutes. */
const idles = (count: number, over: Over = {}): readonly TrackedSlice[] =>
  Array.from({ length: count }, (_, n) =>
    aTrackedSlice({ id: `s${n}`, idleSinceMs: epochMs(-700_000 + n), ...over }),
  );
const busy = (id: string, over: Over = {}) =>
  aTrackedSlice({ id, idleSinceMs: null, hosts: [busyHost], ...over });

type Group = Parameters<typeof aGroup>[0];
type Given = NonNullable<Parameters<typeof aTickInput>[0]>;
const tick = (slices: readonly TrackedSlice[], group: Group = {}, given: Given = {}) =>
  aTickInput({
    slices,
    ...given,
    control: { ...given.control, fleet: { groups: [aGroup(group)], ...given.control?.fleet } },
  });

describe('a slice without work', () => {
  const since = (ms: number | null) => idles(1, { idleSinceMs: ms === null ? null : epochMs(ms) });
  test.each([
    ['goes when its time is up', since(-600_000), ['s0 draining'], ['drain s0 idle']],
    ['is given its time', since(-599_999), ['s0 idle-grace'], []],
    ['begins its time when it is first seen idle', since(null), ['s0 idle-grace'], []],
    [
      'stays while one of its hosts works',
      [aTrackedSlice({ id: 's0', hosts: [idleHost, busyHost] })],
      ['s0 busy'],
      [],
    ],
    [
      'stays while one of its hosts says nothing',
      [aTrackedSlice({ id: 's0', hosts: [idleHost, silentHost] })],
      ['s0 unreported'],
      [],
    ],
    [
      'stays when nobody reports on it',
      [aTrackedSlice({ id: 's0', hosts: [silentHost] })],
      ['s0 unreported'],
      [],
    ],
    ['stays when an operator protects it', idles(1, { isProtected: true }), ['s0 protected'], []],
  ] as const)('%s', (_name, slices, verdicts, steps) => {
    const input = tick(slices, { hostsPerSlice: slices[0]?.hosts.length ?? 1 });
    expect(tellVerdicts(input)).toEqual(verdicts);
    expect(tellSteps(input)).toEqual(steps);
  });

  test('goes with all its hosts', () => {
    const four = [idleHost, idleHost, idleHost, idleHost];
    const oneWorks: readonly TrackedHost[] = [idleHost, idleHost, busyHost, idleHost];
    const slices = [...idles(1, { hosts: four }), busy('s1', { hosts: oneWorks })];
    expect(tellSteps(tick(slices, { hostsPerSlice: 4 }))).toEqual(['drain s0 idle']);
  });

  test('that is newly ready is kept, and no second one is bought for work about to land', () => {
    const fresh = aTrackedSlice({ id: 's0', hosts: [silentHost], statusSinceMs: epochMs(-5_000) });
    expect(tellVerdicts(tick([fresh]))).toEqual(['s0 unreported']);
    expect(tellSteps(tick([fresh], {}, { entries: tasks(1) }))).toEqual([]);
    const old = { ...fresh, statusSinceMs: epochMs(-60_000) };
    expect(tellSteps(tick([old], {}, { entries: tasks(1) }))).toEqual(['launch group demand']);
  });
});

describe('of several', () => {
  test.each([
    [
      'the longest idle go first, down to min',
      { min: 2 },
      4,
      ['s0 draining', 's1 draining', 's2 min', 's3 min'],
    ],
    ['one that min needs stays', { min: 1 }, 1, ['s0 min']],
    [
      'those idle for the shortest time are the spare ones',
      { spare: 2 },
      3,
      ['s0 draining', 's1 spare', 's2 spare'],
    ],
    [
      'spare and min are not added up',
      { min: 2, spare: 2 },
      3,
      ['s0 draining', 's1 spare', 's2 spare'],
    ],
  ] as const)('%s', (_name, group, count, verdicts) => {
    expect(tellVerdicts(tick(idles(count), group))).toEqual(verdicts);
  });

  test('spare is kept free beside busy ones, min is not', () => {
    const slices = [...idles(1), busy('s1'), busy('s2')];
    expect(tellVerdicts(tick(slices, { spare: 1 }))[0]).toBe('s0 spare');
    expect(tellVerdicts(tick(slices, { min: 2 }))[0]).toBe('s0 draining');
  });

  test('one newly ready and not reported on is a spare one too', () => {
    const fresh = aTrackedSlice({ id: 's9', hosts: [silentHost], statusSinceMs: epochMs(-5_000) });
    expect(tellVerdicts(tick([...idles(1), fresh], { spare: 1 }))).toEqual([
      's0 draining',
      's9 unreported',
    ]);
  });

  test('work of the same tick keeps what it needs, and nothing is launched for it', () => {
    const input = tick(idles(3), {}, { entries: tasks(1) });
    expect(tellVerdicts(input)).toEqual(['s0 draining', 's1 draining', 's2 needed']);
    expect(tellSteps(input)).toEqual(['drain s0 idle', 'drain s1 idle']);
  });

  test('work on reported room keeps every slice that is empty in part', () => {
    const part: TrackedHost = { free: { cpu: 9_000 }, isBusy: false };
    const slices = idles(2, { hosts: [part] });
    const small = [anEntry({ form: { kind: 'single', ask: anAsk() } })];
    expect(tellSteps(tick(slices, {}, { entries: small }))).toEqual([]);
    expect(tellSteps(tick(slices))).toEqual(['drain s0 idle', 'drain s1 idle']);
  });

  test('a floor keeps what it is held with', () => {
    const floors = [{ id: entryId('f'), ask: whole, count: 2 }];
    expect(tellVerdicts(tick(idles(3), {}, { floors }))).toEqual([
      's0 draining',
      's1 floor',
      's2 floor',
    ]);
  });

  test('slices held for a gang stay, and are not room for others', () => {
    const gang = entryId('g');
    const held = { reservedFor: gang, reservedSinceMs: epochMs(-1) };
    const entries = [anEntry({ id: 'g', form: { kind: 'gang', ask: whole, taskCount: 2 } })];
    const input = tick(idles(2, held), {}, { entries });
    expect(tellVerdicts(input)).toEqual(['s0 reserved', 's1 reserved']);
    expect(tellSteps(input)).toEqual([]);
  });

  test('slices of a gang that waits no longer are let go, and judged in the next tick', () => {
    const held = { reservedFor: entryId('g'), reservedSinceMs: epochMs(-1) };
    const input = tick(idles(1, held));
    expect(tellSteps(input)).toEqual(['unreserve s0']);
    expect(tellVerdicts(input)).toEqual(['s0 reserved']);
  });
});

describe('a drain', () => {
  const why = { kind: 'idle', idleForMs: 600_000 } as const;
  const drain = { why, deadlineMs: epochMs(900_000) };
  const draining = (count: number, over: Over = {}) =>
    idles(count, { status: 'draining', drain, ...over });

  test('is called off when work returns: what was let go last comes back first', () => {
    const input = tick(draining(3), {}, { entries: tasks(1) });
    expect(tellSteps(input)).toEqual(['cancel-drain s2']);
    expect(tellVerdicts(input)).toEqual(['s0 draining', 's1 draining', 's2 needed']);
  });

  test('is called off only for what those that stay cannot hold', () => {
    const slices = [...draining(2), aTrackedSlice({ id: 't' })];
    expect(tellSteps(tick(slices, {}, { entries: tasks(1) }))).toEqual([]);
    expect(tellSteps(tick(slices, {}, { entries: tasks(2) }))).toEqual(['cancel-drain s1']);
  });

  test.each([
    ['spare', { spare: 1 }],
    ['min', { min: 2 }],
  ] as const)('is called off rather than to buy what %s lacks', (_name, group) => {
    const input = tick([...draining(2), busy('b')], group);
    expect(tellSteps(input)).toEqual(['cancel-drain s1']);
  });

  test('is called off for a floor that is held with it', () => {
    const floors = [{ id: entryId('f'), ask: whole, count: 1 }];
    expect(tellSteps(tick(draining(2), {}, { floors }))).toEqual(['cancel-drain s1']);
  });

  test('of slices that are empty in part is called off when work was placed on their room', () => {
    const hosts = [{ free: { cpu: 9_000 }, isBusy: false }];
    const small = [anEntry({ form: { kind: 'single', ask: anAsk() } })];
    const slices = draining(1, { hosts });
    expect(tellSteps(tick(slices, {}, { entries: small }))).toEqual(['cancel-drain s0']);
    expect(tellSteps(tick(slices))).toEqual([]);
  });

  test('for another reason is not called off: the work gets a new slice', () => {
    const order = { why: { kind: 'outdated' }, deadlineMs: epochMs(9) } as const;
    const input = tick(draining(1, { drain: order }), {}, { entries: tasks(1) });
    expect(tellSteps(input)).toEqual(['launch group demand']);
  });
});

describe('a slice whose scheduler refused to drain it', () => {
  const returned = (agoMs: number, idleForMs: number) =>
    idles(1, { statusSinceMs: epochMs(-agoMs), idleSinceMs: epochMs(-idleForMs) });

  test('has its whole time without work before it is asked again', () => {
    expect(tellVerdicts(tick(returned(1_000, 1_000)))).toEqual(['s0 idle-grace']);
    expect(tellSteps(tick(returned(600_000, 600_000)))).toEqual(['drain s0 idle']);
  });

  test.each([
    ['above max', {}, { max: 0 }, {}],
    [
      'outdated',
      { hosts: [busyHost] },
      {},
      { control: { own: { onChange: 'roll', shape: 'new' } } },
    ],
    ['of a group that was dropped', {}, {}, { control: { retired: [groupName('group')] } }],
  ] as const)('is left alone for ten minutes when it is %s', (_name, over, group, given) => {
    const told = (agoMs: number) =>
      tellVerdicts(tick([{ ...returned(agoMs, 1_000)[0]!, ...over }], group, given));
    expect(told(599_999)).toEqual(['s0 drain-called-off']);
    expect(told(600_000)).toEqual(['s0 draining']);
  });
});

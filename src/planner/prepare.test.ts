import { describe, expect, test } from 'vitest';
import { entryId, epochMs, groupName } from '../model/ids.ts';
import type { Pause } from '../model/pause.ts';
import type { GroupCondition } from '../model/snapshot.ts';
import type { PlanStep, TickInput } from '../model/tick.ts';
import {
  aGroup,
  aTickInput,
  aTimeouts,
  aTrackedSlice,
  anAsk,
  anEntry,
  busyHost,
  idleHost,
  silentHost,
} from '../../test/builders.ts';
import { isRecallable, prepare, toSnapshot } from './prepare.ts';

const gang = entryId('gang');
const aGang = anEntry({ id: 'gang', form: { kind: 'gang', ask: anAsk(), taskCount: 2 } });
const late = { reservedFor: gang, reservedSinceMs: epochMs(-900_000) };
const inTime = { reservedFor: gang, reservedSinceMs: epochMs(-899_999) };
const noTerminations: Pause = {
  id: 'p',
  what: 'terminations',
  group: null,
  author: 'ann',
  reason: '',
  sinceMs: epochMs(-1),
  untilMs: null,
};

const coming = (over: Parameters<typeof aTrackedSlice>[0] = {}) =>
  aTrackedSlice({ status: 'booting', idleSinceMs: null, hosts: [silentHost], ...over });

const describeStep = (step: PlanStep): string => {
  const why = 'why' in step ? (typeof step.why === 'string' ? step.why : step.why.kind) : '';
  return `${step.kind} ${step.sliceId} ${why}`;
};
const stepsOf = (input: TickInput, conditions: readonly GroupCondition[] = []) =>
  prepare(input, conditions).steps.map(describeStep);

describe('a gang that does not come together in time', () => {
  const slices = [coming({ id: 's1', ...late }), aTrackedSlice({ id: 's2', ...late })];

  test('is rolled back: what is on its way is given up, what is there is let go', () => {
    expect(stepsOf(aTickInput({ slices, entries: [aGang] }))).toEqual([
      'cancel s1 gang-rolled-back',
      'unreserve s2 timed-out',
    ]);
  });

  test('is not tried again in the same group in this tick', () => {
    const { conditions } = prepare(aTickInput({ slices, entries: [aGang] }), []);
    expect(conditions).toEqual([{ kind: 'backoff', group: 'group', untilMs: null }]);
  });

  test('goes as a whole when one of its slices has waited too long', () => {
    const mixed = [coming({ id: 's1', ...inTime }), aTrackedSlice({ id: 's2', ...late })];
    expect(stepsOf(aTickInput({ slices: mixed, entries: [aGang] }))).toHaveLength(2);
  });

  test('has until its time is up', () => {
    const early = [coming({ id: 's1', ...inTime }), aTrackedSlice({ id: 's2', ...inTime })];
    expect(stepsOf(aTickInput({ slices: early, entries: [aGang] }))).toEqual([]);
  });

  test('keeps its ready slices where running work is pushed too', () => {
    const ready = ['s1', 's2'].map((id) => aTrackedSlice({ id, ...late, isReported: false }));
    const control = { own: { unreported: 'idle' as const } };
    expect(stepsOf(aTickInput({ slices: ready, entries: [aGang], control }))).toEqual([]);
    // Reported on by somebody, its gang would be said to run.
    const reported = ready.map((slice) => ({ ...slice, isReported: true }));
    expect(stepsOf(aTickInput({ slices: reported, entries: [aGang], control }))).toHaveLength(2);
  });

  test('only sees its slices let go while terminations are paused', () => {
    const input = aTickInput({ slices, entries: [aGang], pauses: [noTerminations] });
    expect(stepsOf(input)).toEqual(['unreserve s1 timed-out', 'unreserve s2 timed-out']);
  });
});

test('slices of a gang that waits no longer are free for others', () => {
  const slices = [coming({ id: 's1', ...late }), aTrackedSlice({ id: 's2', ...inTime })];
  const input = aTickInput({ slices });
  expect(stepsOf(input)).toEqual(['unreserve s1 placed', 'unreserve s2 placed']);
  const snapshot = toSnapshot(input, prepare(input, []));
  expect(snapshot.slices.map(({ reservedFor }) => reservedFor)).toEqual([null, null]);
});

describe('a group in trouble', () => {
  const troubled: GroupCondition = {
    kind: 'stockout',
    group: groupName('group'),
    untilMs: epochMs(9),
  };

  test('gives up what was not sent, so that the work goes elsewhere', () => {
    const slices = [
      coming({ id: 's1', status: 'queued' }),
      coming({ id: 's2', status: 'requesting' }),
    ];
    const input = aTickInput({ slices });
    const prepared = prepare(input, [troubled]);
    expect(prepared.steps.map(describeStep)).toEqual(['cancel s1 group-troubled']);
    expect(toSnapshot(input, prepared).slices.map(({ id }) => id)).toEqual(['s2']);
  });

  test('gives up nothing for a pause', () => {
    const slices = [coming({ status: 'queued' })];
    const paused: GroupCondition = { ...troubled, kind: 'paused' };
    expect(stepsOf(aTickInput({ slices }), [paused])).toEqual([]);
  });
});

describe('a group that was dropped', () => {
  const slices = [
    coming({ id: 's1', status: 'queued' }),
    coming({ id: 's2' }),
    aTrackedSlice({ id: 's3' }),
  ];
  const control = { retired: [groupName('group')] };

  test('gives up at once what was never sent, even while terminations are paused', () => {
    const input = aTickInput({ slices, control, pauses: [noTerminations] });
    expect(stepsOf(input)).toEqual(['cancel s1 group-removed']);
  });

  test('counts what was sent until it is given up within the limits', () => {
    const input = aTickInput({ slices, control });
    const left = toSnapshot(input, prepare(input, [])).slices;
    expect(left.map(({ id, status }) => `${id} ${status}`)).toEqual(['s2 booting', 's3 ready']);
  });
});

describe('a drain can be called back', () => {
  const order = (kind: 'idle' | 'outdated' | 'fallback-ended') => {
    const why =
      kind === 'idle'
        ? { kind, idleForMs: 1 }
        : kind === 'outdated'
          ? { kind }
          : { kind, preferred: groupName('a') };
    return { why, deadlineMs: epochMs(9) };
  };
  const draining = (kind: Parameters<typeof order>[0], hosts = [idleHost]) =>
    aTrackedSlice({ status: 'draining', drain: order(kind), hosts });

  test.each([
    ['for want of work', draining('idle'), true],
    ['for the end of a fallback', draining('fallback-ended'), true],
    ['not one with another reason', draining('outdated'), false],
    ['not one with work on it', draining('idle', [busyHost]), false],
    ['not one that nobody reports on', draining('idle', [silentHost]), false],
    ['not what does not drain', aTrackedSlice(), false],
  ] as const)('%s', (_name, slice, expected) => {
    expect(isRecallable(slice)).toBe(expected);
    const input = aTickInput({ slices: [slice] });
    const [seen] = toSnapshot(input, prepare(input, [])).slices;
    expect(seen?.status === 'ready').toBe(expected || slice.status === 'ready');
  });
});

describe('the grace of a group', () => {
  const seen = (ownMs: number, ageMs: number) => {
    const fresh = aTrackedSlice({
      statusSinceMs: epochMs(-ageMs),
      hosts: [silentHost, silentHost],
    });
    const fleet = { groups: [aGroup({ hostsPerSlice: 2 })], registrationGraceMs: 60_000 };
    const own = { timeouts: { ...aTimeouts, registrationGraceMs: ownMs } };
    const input = aTickInput({ slices: [fresh], control: { fleet, own } });
    return toSnapshot(input, prepare(input, [])).slices[0]?.hosts.map(({ free }) => free);
  };
  const all = { cpu: 16_000 };

  test.each([
    ['is told by the fleet where it has none of its own', 60_000, 45_000, [null, null]],
    ['shorter than the fleet: over', 30_000, 45_000, [{}, {}]],
    ['shorter than the fleet: running', 30_000, 15_000, [all, all]],
    ['longer than the fleet: running', 120_000, 90_000, [all, all]],
    ['longer than the fleet: over', 120_000, 120_000, [{}, {}]],
  ] as const)('%s', (_name, ownMs, ageMs, free) => {
    expect(seen(ownMs, ageMs)).toEqual(free);
  });
});

import { describe, expect, test } from 'vitest';
import { epochMs, groupName } from '../model/ids.ts';
import type { Pause } from '../model/pause.ts';
import type { Trouble } from '../model/trouble.ts';
import { aGroup, aTickInput } from '../../test/builders.ts';
import { findConditions, isPaused, nextEndMs } from './conditions.ts';

const groups = [
  aGroup({ name: 'a', provider: 'aws', quotaPool: 'gpus' }),
  aGroup({ name: 'b', provider: 'aws' }),
  aGroup({ name: 'c', provider: 'gcp', quotaPool: 'gpus' }),
];

const aTrouble = (scope: Trouble['scope'], kind: Trouble['kind'], untilMs: number): Trouble => {
  return { scope, kind, attempts: 1, sinceMs: epochMs(-1), untilMs: epochMs(untilMs), detail: '' };
};

const aPause = (over: Partial<Pause> = {}): Pause => {
  const words = { id: 'p', author: 'ann', reason: '', sinceMs: epochMs(-1) };
  return { ...words, what: 'both', group: null, untilMs: null, ...over };
};

type Given = Parameters<typeof aTickInput>[0];
const told = (given: Given): readonly string[] =>
  findConditions(aTickInput({ ...given, control: { fleet: { groups }, ...given?.control } })).map(
    (each) => `${each.group} ${each.kind} ${'untilMs' in each ? each.untilMs : ''}`,
  );

const group = (name: string): Trouble['scope'] => ({ kind: 'group', name });

describe('a group cannot launch', () => {
  test.each([
    ['while stock is short there', [aTrouble(group('a'), 'stockout', 9)], ['a stockout 9']],
    [
      'while the quota it shares is used up',
      [aTrouble({ kind: 'quota-pool', name: 'gpus' }, 'quota-exceeded', 9)],
      ['a quota-exceeded 9', 'c quota-exceeded 9'],
    ],
    [
      'while its provider is throttling',
      [aTrouble({ kind: 'provider', name: 'aws' }, 'throttled', 9)],
      ['a backoff 9', 'b backoff 9'],
    ],
    [
      'while something there must be repaired',
      [aTrouble(group('b'), 'permanent', 9)],
      ['b backoff 9'],
    ],
    ['while its machines vanish', [aTrouble(group('b'), 'churn', 9)], ['b backoff 9']],
    [
      'for as long as the longest of its troubles',
      [
        aTrouble(group('a'), 'stockout', 9),
        aTrouble(group('a'), 'unknown', 12),
        aTrouble(group('a'), 'throttled', 3),
      ],
      ['a backoff 12'],
    ],
    ['no longer than its trouble', [aTrouble(group('a'), 'stockout', 0)], []],
  ] as const)('%s', (_name, troubles, conditions) => {
    expect(told({ troubles })).toEqual(conditions);
  });

  test('before its provider has said what is there', () => {
    expect(told({ unlisted: ['gcp'] })).toEqual(['c backoff null']);
  });

  test('when it was dropped from the configuration, whatever else there is', () => {
    const given = { troubles: [aTrouble(group('a'), 'stockout', 9)], pauses: [aPause()] };
    const conditions = told({ ...given, control: { retired: [groupName('a')] } });
    expect(conditions[0]).toBe('a draining ');
  });

  test.each([
    ['all groups', aPause(), ['a paused null', 'b paused null', 'c paused null']],
    ['one group', aPause({ group: groupName('b'), untilMs: epochMs(7) }), ['b paused 7']],
    ['launches alone', aPause({ what: 'launches', group: groupName('b') }), ['b paused null']],
    ['terminations alone stop no launch', aPause({ what: 'terminations' }), []],
  ] as const)('while it is paused: %s', (_name, pause, conditions) => {
    expect(told({ pauses: [pause] })).toEqual(conditions);
  });

  test('until the last of its pauses ends', () => {
    const one = (untilMs: number | null) =>
      aPause({ group: groupName('a'), untilMs: untilMs === null ? null : epochMs(untilMs) });
    expect(told({ pauses: [one(5), one(9), one(7)] })).toEqual(['a paused 9']);
    expect(told({ pauses: [one(5), one(null)] })).toEqual(['a paused null']);
  });

  test('by a pause rather than by a trouble: it would not help to wait for the provider', () => {
    const troubles = [aTrouble(group('a'), 'stockout', 9_999)];
    expect(told({ troubles, pauses: [aPause({ group: groupName('a') })] })).toEqual([
      'a paused null',
    ]);
  });
});

test.each([
  ['launches', 'launches', true],
  ['launches', 'terminations', false],
  ['terminations', 'terminations', true],
  ['both', 'launches', true],
  ['both', 'terminations', true],
] as const)('a pause of %s stops %s: %s', (what, action, stops) => {
  const [name, other] = [groupName('a'), groupName('b')];
  expect(isPaused(aPause({ what }), action, { name })).toBe(stops);
  expect(isPaused(aPause({ what, group: name }), action, { name })).toBe(stops);
  expect(isPaused(aPause({ what, group: other }), action, { name })).toBe(false);
});

test('the next end is the first one to come', () => {
  const troubles = [aTrouble(group('a'), 'stockout', 9), aTrouble(group('b'), 'stockout', -3)];
  const pauses = [aPause(), aPause({ untilMs: epochMs(7) })];
  expect(nextEndMs(aTickInput({ troubles, pauses }))).toBe(7);
  expect(nextEndMs(aTickInput({ pauses: [aPause()] }))).toBeNull();
});

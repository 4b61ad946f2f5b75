import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitrarySnapshot } from '../../test/arbitraries.ts';
import { epochMs, groupName } from '../model/ids.ts';
import type { Exclusion, Unmet } from '../model/reason.ts';
import { decideDemand } from '../policy/demand/decide.ts';
import { unmetText } from './unmet-text.ts';

const a = groupName('a');
const b = groupName('b');
const c = groupName('c');
const d = groupName('d');
const device: Exclusion = { kind: 'device', need: 'gpu', have: 'cpu' };
const atMax: Exclusion = { kind: 'at-max', need: 1, have: 0, max: 6 };
const paused: Exclusion = { kind: 'paused', untilMs: epochMs(61_000) };

const base: Unmet = {
  code: 'no-capacity',
  invalid: null,
  part: 0,
  groups: [],
  isEverAdmitted: true,
  change: null,
  changeAdmits: 0,
  nearest: null,
  hints: [],
};

test.each<readonly [string, Partial<Unmet>, string]>([
  ['no group at all', {}, 'there is no group'],
  [
    'the request is wrong',
    { code: 'invalid-demand', invalid: { kind: 'zero-tasks' } },
    'it has no tasks',
  ],
  [
    'one group',
    { groups: [{ group: a, exclusion: atMax }] },
    'closest is a: at max: needs 1 slice, 0 left of 6',
  ],
  [
    'the last rule is the closest, the others are counted in the order of checking',
    {
      groups: [
        { group: a, exclusion: atMax },
        { group: b, exclusion: device },
        { group: c, exclusion: paused },
        { group: d, exclusion: device },
      ],
    },
    'closest is c: paused for 1m more; 3 other groups: device 2, at-max 1',
  ],
  [
    'what the remedy is about comes before the last rule',
    {
      groups: [
        { group: a, exclusion: atMax },
        { group: c, exclusion: paused },
      ],
      change: { kind: 'raise-max', group: a, from: 6, to: 7 },
    },
    'closest is a: at max: needs 1 slice, 0 left of 6; 1 other group: paused 1',
  ],
  [
    'no single change is enough',
    {
      groups: [
        { group: a, exclusion: device },
        { group: b, exclusion: device },
      ],
      nearest: { group: b, rules: [device, atMax] },
    },
    'closest is b: device: needs gpu, has cpu; and at max: needs 1 slice, 0 left of 6; 1 other group: device 1',
  ],
  [
    'a name looks like another',
    {
      groups: [{ group: a, exclusion: device }],
      hints: [{ kind: 'unknown-key', key: 'zoen', known: 'zone' }],
    },
    'closest is a: device: needs gpu, has cpu; no group has an attribute zoen; did you mean zone?',
  ],
])('%s', (_, over, text) => {
  expect(unmetText({ ...base, ...over }, epochMs(1_000))).toBe(text);
});

test('everything that waits has one line of words', () => {
  fc.assert(
    fc.property(arbitrarySnapshot(), (snapshot) => {
      const texts = decideDemand(snapshot).classes.flatMap(({ unmet }) =>
        unmet === null ? [] : [unmetText(unmet, snapshot.atMs)],
      );
      expect(texts.filter((text) => /^$|\n|undefined|NaN|\[object/.test(text))).toEqual([]);
    }),
  );
});

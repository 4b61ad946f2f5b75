import { expect, test } from 'vitest';
import type { Entry } from '../model/demand.ts';
import { entryId, epochMs } from '../model/ids.ts';
import type { DemandPush } from '../model/push.ts';
import { takePush } from './demand-push.ts';

const anEntry = (id: string, atMs = 0): Entry => ({
  id: entryId(id),
  count: 1,
  form: {
    kind: 'single',
    ask: { device: null, preemptible: null, constraints: [], resources: { cpu: 1_000 } },
  },
  priority: 0,
  submittedAtMs: epochMs(atMs),
  owner: null,
  taskIds: [],
  invalid: null,
});

const aPush = (generation: number, ids: readonly string[], digest?: string): DemandPush => ({
  source: 'slurm',
  generation,
  entries: ids.map((id) => anEntry(id)),
  expiresAtMs: epochMs(60_000),
  ...(digest === undefined ? {} : { digest }),
});

const delta = (baseGeneration: number, ...removed: readonly string[]) => {
  return { delta: { baseGeneration, removedIds: removed.map(entryId) } };
};

const idsOf = (outcome: ReturnType<typeof takePush>): unknown =>
  outcome.kind === 'taken' ? outcome.push.entries.map(({ id }) => id).join(' ') : outcome;

const before = aPush(7, ['a', 'b', 'c'], 'x');

// prettier-ignore: a table is read by column
test.each([
  ['a first set', undefined, { push: aPush(1, ['a'], 'x') }, 'a'],
  ['a newer set replaces', before, { push: aPush(8, ['d'], 'y') }, 'd'],
  [
    'an older one is refused',
    before,
    { push: aPush(6, ['d'], 'y') },
    { kind: 'stale-generation', generation: 7 },
  ],
  ['the same again changes nothing', before, { push: aPush(7, ['a', 'b', 'c'], 'x') }, 'a b c'],
  [
    'the same number with other content is refused',
    before,
    { push: aPush(7, ['d'], 'y') },
    { kind: 'generation-reused', generation: 7 },
  ],
  ['a delta adds and removes', before, { push: aPush(8, ['d'], 'y'), ...delta(7, 'b') }, 'a c d'],
  ['a delta replaces in place', before, { push: aPush(8, ['b'], 'y'), ...delta(7) }, 'a b c'],
  [
    'a delta that was applied already is acknowledged',
    before,
    { push: aPush(7, ['c'], 'x'), ...delta(6) },
    'a b c',
  ],
  [
    'a delta on another base is refused',
    before,
    { push: aPush(9, ['d'], 'y'), ...delta(8) },
    { kind: 'wrong-base', generation: 7 },
  ],
  [
    'a delta on nothing is refused',
    undefined,
    { push: aPush(2, ['d'], 'y'), ...delta(1) },
    { kind: 'wrong-base', generation: null },
  ],
] as const)('%s', (_name, known, arriving, expected) => {
  expect(idsOf(takePush(known, arriving))).toEqual(expected);
});

test('an empty delta keeps the list itself and moves the expiry', () => {
  const push = { ...aPush(8, [], 'y'), expiresAtMs: epochMs(90_000) };
  const outcome = takePush(before, { push, ...delta(7) });
  expect(outcome).toMatchObject({ kind: 'taken', push: { generation: 8, expiresAtMs: 90_000 } });
  expect(outcome.kind === 'taken' && outcome.push.entries).toBe(before.entries);
});

test('an entry without a time keeps the one of its first push', () => {
  const push = { ...aPush(8, [], 'y'), entries: [anEntry('a', 500), anEntry('z', 500)] };
  const undated = new Set([entryId('a'), entryId('z')]);
  const outcome = takePush(before, { push, undated });
  if (outcome.kind !== 'taken') throw new Error(outcome.kind);
  expect(outcome.push.entries.map(({ submittedAtMs }) => submittedAtMs)).toEqual([0, 500]);
});

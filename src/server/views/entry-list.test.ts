import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitraryTick } from '../../../test/arbitrary-tick.ts';
import { aGroup, anAsk, anEntry, aTickInput } from '../../../test/builders.ts';
import { decideTick } from '../../controller/decide-tick.ts';
import type { Entry } from '../../model/demand.ts';
import { listRoster } from '../../policy/demand/roster.ts';
import type { DecidedTick } from '../fleet-feed.ts';
import { classId } from './class-id.ts';
import { listEntries } from './entry-list.ts';

const all = { classId: '', outcome: '', pageSize: 0, pageToken: '' };

/** Page after page; never more pages than entries. */
function readAll(last: DecidedTick, over: Partial<typeof all> = {}) {
  const entries = [];
  let pageToken = '';
  do {
    const page = listEntries(last, { ...all, ...over, pageToken });
    entries.push(...page.entries);
    pageToken = page.nextPageToken;
    expect(pageToken === '' || page.entries.length > 0).toBe(true);
  } while (pageToken !== '');
  return entries;
}

const spotWords = (spots: readonly { readonly group: string; readonly room: string }[]): string =>
  spots.map(({ group, room }) => `${group} ${room}`).join();

/** The same told by the roster, which the plan is drawn from. */
function tellRoster({ input, output }: DecidedTick): ReadonlyMap<string, string> {
  const rows = listRoster(
    { ...input, fleet: input.control.fleet, conditions: [] },
    output.decision,
  );
  return new Map(
    rows.flatMap(({ demand, batch, from, to, outcome }) =>
      Array.from({ length: to - from }, (_, n) => {
        const id = batch.count === 1 ? batch.id : `${batch.id}/${from + n}`;
        const spots = outcome.kind === 'placed' ? outcome.placement.spots : [];
        const words = `${outcome.kind} ${spotWords(spots)}`;
        return [`${id} of ${classId(demand)}`, words] as const;
      }),
    ),
  );
}

describe('pages', () => {
  test('have every entry once, with the outcome that the roster gives it', () => {
    fc.assert(
      fc.property(arbitraryTick, fc.integer({ min: 1, max: 7 }), ({ input }, pageSize) => {
        const last = { input, output: decideTick(input) };
        const listed = readAll(last, { pageSize });
        const told = listed.map(({ id, classId: of, outcome, spots }) => {
          const words = `${outcome} ${spotWords(spots)}`;
          return [`${id} of ${of}`, words] as const;
        });
        expect(told).toHaveLength(input.demand.reduce((sum, { count }) => sum + count, 0));
        expect(new Map(told)).toEqual(tellRoster(last));
      }),
      { numRuns: 60 },
    );
  });

  test('a filter shows what the whole list has of it', () => {
    fc.assert(
      fc.property(arbitraryTick, fc.integer({ min: 1, max: 7 }), ({ input }, pageSize) => {
        const last = { input, output: decideTick(input) };
        const whole = readAll(last);
        for (const outcome of ['placed', 'unmet']) {
          const some = whole.filter((entry) => entry.outcome === outcome);
          expect(readAll(last, { outcome, pageSize })).toEqual(some);
        }
        for (const demand of input.demand) {
          const own = whole.filter((entry) => entry.classId === classId(demand));
          expect(readAll(last, { classId: classId(demand), pageSize })).toEqual(own);
        }
      }),
      { numRuns: 40 },
    );
  });
});

const single = (cpu: number): Entry['form'] => {
  return { kind: 'single', ask: anAsk({ resources: { cpu } }) };
};

function decide(entries: readonly Entry[]): DecidedTick {
  const input = aTickInput({ control: { fleet: { groups: [aGroup()] } }, entries });
  return { input, output: decideTick(input) };
}

describe('between two ticks', () => {
  const a = ['a1', 'a2', 'a3', 'a4'].map((id) => anEntry({ id, form: single(1_000) }));
  const b = ['b1', 'b2'].map((id) => anEntry({ id, form: single(2_000) }));
  const before = decide([...a, ...b]);
  const { nextPageToken: pageToken } = listEntries(before, { ...all, pageSize: 2 });
  const restOf = (entries: readonly Entry[]): readonly string[] =>
    listEntries(decide(entries), { ...all, pageToken }).entries.map(({ id }) => id);

  test.each([
    ['nothing changed', [...a, ...b], ['a3', 'a4', 'b1', 'b2']],
    ['what was shown is gone', [...a.slice(2), ...b], ['a3', 'a4', 'b1', 'b2']],
    ['the next entry is gone', [...a.slice(0, 2), ...a.slice(3), ...b], ['a4', 'b1', 'b2']],
    [
      'one came in between',
      [...a, anEntry({ id: 'a5', form: single(1_000) }), ...b],
      ['a3', 'a4', 'a5', 'b1', 'b2'],
    ],
    ['the class is gone: its place is taken by the next', b, ['b1', 'b2']],
    ['all is gone', [], []],
  ])('%s', (_, entries, rest) => expect(restOf(entries)).toEqual(rest));

  test('a class that is read alone and is gone has come to its end', () => {
    const id = classId(before.input.demand[0] ?? expect.fail('a class'));
    const first = listEntries(before, { ...all, classId: id, pageSize: 2 });
    const next = { ...all, classId: id, pageToken: first.nextPageToken };
    expect(listEntries(decide(b), next).entries).toEqual([]);
  });
});

test('names of tasks, owner and time are told of each', () => {
  const form: Entry['form'] = { kind: 'gang', ask: anAsk(), taskCount: 2 };
  const gang = anEntry({ id: 'g', form, taskIds: ['g-x', 'g-y'], owner: 'ann', ageMs: -1_500 });
  expect(listEntries(decide([gang]), all).entries).toMatchObject([
    {
      id: 'g',
      owner: 'ann',
      taskIds: ['g-x', 'g-y'],
      submittedAt: { seconds: 1n, nanos: 500_000_000 },
    },
  ]);
});

describe('is refused with a sentence', () => {
  const last = decide([anEntry()]);
  test.each([
    [{ pageSize: 1_001 }, 'page_size is 1001; it may be 1000 at most'],
    [{ outcome: 'waiting' }, 'outcome is "waiting"; it may be placed or unmet'],
    [{ classId: 'nope' }, 'class_id is "nope", and nothing pending is of that class'],
    [{ pageToken: 'rubbish' }, 'page_token "rubbish" is none that was given here; leave it out'],
    [{ pageToken: 'W10' }, 'page_token "W10" is none that was given here'],
    [{ pageToken: 'x'.repeat(10_000) }, 'is none that was given here'],
  ])('%j', (over, message) => {
    expect(() => listEntries(last, { ...all, ...over })).toThrow(message);
  });
});

test('before the first decision there is nothing to show', () => {
  expect(listEntries(null, all).entries).toEqual([]);
});

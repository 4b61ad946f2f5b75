import { beforeAll, expect, test } from 'vitest';
import { HOUR_MS, runDay } from '../../test/e2e/replay-day.ts';
import { type EpochMs, epochMs } from '../model/ids.ts';
import { StoreError } from '../ports/store.ts';
import type { MemoryStore } from '../store/memory/store.ts';
import { must } from '../support/assert.ts';
import { hashOf } from '../controller/journal.ts';
import { checkIdentity, findDifference } from './identity.ts';
import { type JournalSource, openStoreSource } from './source.ts';

const everything = { sinceMs: epochMs(0), untilMs: epochMs(Number.MAX_SAFE_INTEGER) };
const quiet = (): void => {};

let store: MemoryStore;
let source: JournalSource;
beforeAll(async () => {
  ({ store } = await runDay({ forMs: HOUR_MS / 2 }));
  source = openStoreSource({ ...store, fleet: 'research' });
}, 120_000);

/** Ticks are counted from the second of the first: here the first of the simulated year. */
const tick = (n: number): number => 1_767_225_600 + n;

/** The same journal with the text of one part of one tick replaced. */
function withPart(seq: number, name: string, change: (text: string) => string | null) {
  const texts = new Map<string, string>();
  return openStoreSource({
    ...store,
    fleet: 'research',
    readTicks: async (ask) =>
      Promise.all(
        (await store.readTicks(ask)).map(async (row) => {
          if (row.seq !== seq) return row;
          const parts = row.parts.map(async (part) => {
            if (part.name !== name) return part;
            const text = change(must((await store.readParts([part.hash])).get(part.hash), name));
            const hash = text === null ? 'gone' : hashOf(text);
            if (text !== null) texts.set(hash, text);
            return { name, hash };
          });
          return { ...row, parts: await Promise.all(parts) };
        }),
      ),
    readParts: async (hashes) => {
      const found = new Map(await store.readParts(hashes));
      for (const hash of hashes) {
        const text = texts.get(hash);
        if (text !== undefined) found.set(hash, text);
      }
      return found;
    },
  });
}

test('recorded ticks come out the same, and are counted', async () => {
  const seen: EpochMs[] = [];
  const report = await checkIdentity(source, everything, (_, atMs) => seen.push(atMs));
  expect(report.ticks).toBeGreaterThan(100);
  expect(report).toMatchObject({ identical: report.ticks, different: 0, missing: 0, gaps: 0 });
  expect(report.faults).toEqual([]);
  expect([seen[0], seen.at(-1), seen.length]).toEqual([
    report.firstMs,
    report.lastMs,
    report.ticks,
  ]);
});

test('both ends of a range are included', async () => {
  const all = await checkIdentity(source, everything, quiet);
  const firstMs = must(all.firstMs, 'a first tick');
  const range = { sinceMs: firstMs, untilMs: firstMs };
  expect(await checkIdentity(source, range, quiet)).toMatchObject({ ticks: 1, lastMs: firstMs });
  const later = { ...everything, sinceMs: epochMs(firstMs + 1) };
  expect((await checkIdentity(source, later, quiet)).ticks).toBe(all.ticks - 1);
});

test('a conclusion that was changed is found, with its place', async () => {
  const changed = withPart(tick(7), 'output', (text) => text.replace('"launch":', '"launch":1'));
  const report = await checkIdentity(changed, everything, quiet);
  expect(report).toMatchObject({ identical: report.ticks - 1, different: 1, missing: 0 });
  expect(report.faults).toMatchObject([
    {
      seq: tick(7),
      fault: { kind: 'different', difference: { path: ['decision', 'groups', 0, 'launch'] } },
    },
  ]);
});

test('an input that was changed is found by what follows from it', async () => {
  const changed = withPart(tick(7), 'control', (text) => text.replaceAll('"max":40', '"max":0'));
  const report = await checkIdentity(changed, everything, quiet);
  expect(report).toMatchObject({ different: 1, faults: [{ seq: tick(7) }] });
});

test('an input that cannot be decided is a finding, not a crash', async () => {
  const changed = withPart(tick(7), 'control', () => '{}');
  const { faults } = await checkIdentity(changed, everything, quiet);
  expect(faults).toMatchObject([{ seq: tick(7), fault: { kind: 'failed' } }]);
});

test('what is equal but written in another order is told apart', async () => {
  const turned = withPart(tick(7), 'output', (text) => {
    const { decision, ...rest } = JSON.parse(text);
    return JSON.stringify({ ...rest, decision });
  });
  const { faults } = await checkIdentity(turned, everything, quiet);
  expect(faults).toMatchObject([{ seq: tick(7), fault: { kind: 'reordered' } }]);
});

test('a tick whose parts are gone is named and not run', async () => {
  const holed = withPart(tick(7), 'control', () => null);
  const report = await checkIdentity(holed, everything, quiet);
  expect(report).toMatchObject({ different: 0, missing: 1 });
  expect(report.faults).toMatchObject([
    { seq: tick(7), fault: { kind: 'missing', parts: ['control'] } },
  ]);
});

test('one spoilt part does not hide the other ticks', async () => {
  const [row] = await store.readTicks({ sinceMs: epochMs(0), afterSeq: 6, limit: 1 });
  const bad = must(
    row?.parts.find(({ name }) => name === 'state'),
    'a state',
  ).hash;
  const spoilt = openStoreSource({
    ...store,
    fleet: 'research',
    readParts: async (hashes) => {
      if (hashes.includes(bad)) throw new StoreError('corrupt', 'a flipped bit');
      return store.readParts(hashes);
    },
  });
  const report = await checkIdentity(spoilt, everything, quiet);
  expect(report.missing).toBeGreaterThan(0);
  expect(report.identical).toBe(report.ticks - report.missing);
});

test('a tick that its controller drops meanwhile is no fault', async () => {
  let reads = 0;
  const dropping = openStoreSource({
    ...store,
    fleet: 'research',
    // In the first page the first tick is still there; its parts are gone when they are asked for.
    readTicks: async (ask) => {
      const rows = await store.readTicks(ask);
      if (reads++ > 0) return rows.filter(({ seq }) => seq !== tick(1));
      return rows.map((row) =>
        row.seq === tick(1) ? { ...row, parts: [{ name: 'state', hash: 'dropped' }] } : row,
      );
    },
  });
  const all = await checkIdentity(source, everything, quiet);
  const report = await checkIdentity(dropping, everything, quiet);
  expect(report).toMatchObject({ ticks: all.ticks - 1, missing: 0, different: 0, gaps: 0 });
});

// prettier-ignore: a table is read by column
test.each([
  ['equal values', { a: [1, { b: null }] }, { a: [1, { b: null }] }, null],
  ['another order', { a: 1, b: 2 }, { b: 2, a: 1 }, null],
  ['a number', { a: [1, 2] }, { a: [1, 3] }, { path: ['a', 1], was: 2, is: 3 }],
  ['one that is gone', { a: { b: 1 } }, { a: {} }, { path: ['a', 'b'], was: 1, is: undefined }],
  ['one that is new', [], [0], { path: [0], was: undefined, is: 0 }],
  ['another sort', { a: [] }, { a: {} }, { path: ['a'], was: [], is: {} }],
  ['the first of several', { a: 1, b: 1 }, { a: 1, b: 2, c: 3 }, { path: ['b'], was: 1, is: 2 }],
])('the difference between %s', (_, was, is, expected) => {
  expect(findDifference(was, is)).toEqual(expected);
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOUR_MS, runDay } from '../../test/e2e/replay-day.ts';
import { epochMs } from '../model/ids.ts';
import { detectForm, openJournalFile, writeJournalFile } from './file.ts';
import { type JournalSource, openStoreSource, type RawTick } from './source.ts';

const everything = { sinceMs: epochMs(0), untilMs: epochMs(Number.MAX_SAFE_INTEGER) };
const folder = mkdtempSync(join(tmpdir(), 'bellows-journal-'));
afterAll(() => rmSync(folder, { recursive: true }));

let source: JournalSource;
let ticks: readonly RawTick[];
beforeAll(async () => {
  const { store } = await runDay({ forMs: HOUR_MS / 4 });
  source = openStoreSource({ ...store, fleet: 'research' });
  ticks = await all(source);
}, 120_000);

async function all(from: JournalSource, range = everything): Promise<readonly RawTick[]> {
  const found: RawTick[] = [];
  for await (const tick of from.ticks(range)) found.push(tick);
  return found;
}

const at = (name: string): string => join(folder, name);

test.each(['plain.jsonl', 'packed.jsonl.gz'])('%s reads back as it was', async (name) => {
  expect(await writeJournalFile(at(name), source, everything)).toEqual({ ticks: ticks.length });
  const read = await openJournalFile(at(name));
  expect(read.fleet).toBe('research');
  expect(await all(read)).toEqual(ticks);
  expect(await all(read)).toEqual(ticks); // again, as a comparison does
  expect(detectForm(at(name))).toBe(name.endsWith('gz') ? 'gzip' : 'text');
});

test('a part is told once while it does not change', async () => {
  await writeJournalFile(at('once.jsonl'), source, everything);
  const text = readFileSync(at('once.jsonl'), 'utf8');
  const [, first = '', second = ''] = text.split('\n');
  expect(JSON.parse(first).parts[0].text).toContain('"fleet"');
  expect(JSON.parse(second).parts[0]).toMatchObject({ name: 'control', text: null });
});

test('a range is cut out, and its first tick is whole', async () => {
  const middle = ticks[5];
  const range = { sinceMs: middle?.atMs ?? epochMs(0), untilMs: ticks[9]?.atMs ?? epochMs(0) };
  await writeJournalFile(at('range.jsonl.gz'), source, range);
  expect(await all(await openJournalFile(at('range.jsonl.gz')))).toEqual(ticks.slice(5, 10));
  expect(gunzipSync(readFileSync(at('range.jsonl.gz'))).toString()).toMatch(/^\{"format"/);
});

test('a text that was edited no longer counts as the part', async () => {
  await writeJournalFile(at('edited.jsonl'), source, everything);
  const text = readFileSync(at('edited.jsonl'), 'utf8');
  writeFileSync(at('edited.jsonl'), text.replace(String.raw`\"max\":40`, String.raw`\"max\":41`));
  const [first, second] = await all(await openJournalFile(at('edited.jsonl')));
  expect(first?.parts[0]).toMatchObject({ name: 'control', text: null });
  expect(second?.parts[0]).toMatchObject({ name: 'control', text: null });
});

test('a file that is there is never written over', async () => {
  writeFileSync(at('mine.txt'), 'mine');
  await expect(writeJournalFile(at('mine.txt'), source, everything)).rejects.toMatchObject({
    code: 'EEXIST',
  });
  expect(readFileSync(at('mine.txt'), 'utf8')).toBe('mine');
});

test('a journal that cannot be read to its end leaves no half file', async () => {
  const failing: JournalSource = {
    ...source,
    async *ticks(range) {
      yield* source.ticks({ ...range, untilMs: ticks[3]?.atMs ?? range.untilMs });
      throw new Error('the disk is gone');
    },
  };
  await expect(writeJournalFile(at('half.jsonl'), failing, everything)).rejects.toThrow('disk');
  expect(() => readFileSync(at('half.jsonl'))).toThrow('ENOENT');
});

test.each([
  ['cut in a line', (text: Buffer) => text.subarray(0, text.length / 2), /:\d+: not JSON/],
  ['with a line of another kind', () => Buffer.from(`${head}\n{"seq":1}\n`), /:2: no tick/],
])('a journal %s is refused', async (name, change, message) => {
  await writeJournalFile(at(`${name}.1`), source, everything);
  writeFileSync(at(name), change(readFileSync(at(`${name}.1`))));
  await expect(all(await openJournalFile(at(name)))).rejects.toThrow(message);
});

test('a packed journal that was cut is refused', async () => {
  await writeJournalFile(at('whole.gz'), source, everything);
  const bytes = readFileSync(at('whole.gz'));
  writeFileSync(at('cut.gz'), bytes.subarray(0, bytes.length - 100));
  const read = openJournalFile(at('cut.gz')).then(all);
  await expect(read).rejects.toThrow(/cannot be read to its end|not JSON/);
});

const head = '{"format":"bellows-journal/1","fleet":"research"}';

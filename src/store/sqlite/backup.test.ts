import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect, test } from 'vitest';
import { everything } from '../../../test/contract/store-subject.ts';
import { useStoreFolder } from '../../../test/contract/store-folder.ts';
import { epochMs } from '../../model/ids.ts';
import type { Store } from '../../ports/store.ts';
import { backupDatabase, restoreDatabase } from './backup.ts';

const folder = useStoreFolder();
const at = { nowMs: 1_800_000_000_000, holder: 'a test' };

async function lead(store: Store): Promise<number> {
  const ask = { holder: 'a test', nowMs: epochMs(0), ttlMs: 1_000, epoch: null };
  const answer = await store.acquireLease(ask);
  if (answer.kind !== 'granted') throw new Error('the lease is held');
  return answer.epoch;
}

async function put(store: Store, epoch: number, id: string, seq: number): Promise<void> {
  const documents = [{ kind: 'slice', id, text: `{"id":"${id}"}` } as const];
  const events = [{ seq, atMs: epochMs(seq), text: `{"n":${seq}}` }];
  await store.commit({ epoch, documents, tick: null, events });
}

test('a backup of a file in use has all that was acknowledged, and can be put back', async () => {
  const path = folder.fresh();
  const target = `${folder.fresh()}.backup`;
  const store = await folder.open(path);
  const epoch = await lead(store);
  await put(store, epoch, 'a', 0);
  const report = backupDatabase(path, target);
  expect(report).toMatchObject({ path: target, fleet: 'research', sliceCount: 1, tickCount: 0 });

  await put(store, epoch, 'b', 1);
  expect(() => restoreDatabase(target, path, at)).toThrow(/is in use by/);
  await store.close();

  const restored = restoreDatabase(target, path, at);
  expect(restored.replaced).toMatch(/\.replaced-20270115T080000Z$/);
  expect(existsSync(restored.replaced ?? '')).toBe(true);
  const again = await folder.open(path);
  expect((await again.load()).map(({ id }) => id)).toEqual(['a']);
  expect(await again.readEvents(everything)).toHaveLength(1);
  // Above every epoch that the replaced file could have had.
  expect(await lead(again)).toBeGreaterThan(at.nowMs / 1_000);
});

test('a restore needs no database to be there', async () => {
  const path = folder.fresh();
  const store = await folder.open(path);
  await put(store, await lead(store), 'a', 0);
  await store.close();
  const target = `${path}.copy`;
  backupDatabase(path, target);
  const fresh = folder.fresh();
  expect(restoreDatabase(target, fresh, at)).toMatchObject({ replaced: null, sliceCount: 1 });
});

test('a target that is there, no source, a damaged or foreign backup are refused', async () => {
  const path = folder.fresh();
  const store = await folder.open(path);
  await put(store, await lead(store), 'a', 0);
  await store.close();
  expect(() => backupDatabase(path, path)).toThrow(/is there already; name a new file/);
  expect(() => backupDatabase(`${path}.none`, `${path}.copy`)).toThrow(/there is no database at/);
  expect(() => backupDatabase(path, '/nowhere/at/all')).toThrow(/does not exist/);
  const bad = `${path}.bad`;
  writeFileSync(bad, 'this is no database, not at all'.repeat(200));
  const before = readFileSync(path);
  expect(() => restoreDatabase(bad, path, at)).toThrow(/not a database|is damaged/);
  const torn = `${path}.torn`;
  const bytes = Buffer.from(before);
  bytes.fill(0xa5, 8_192, 20_000);
  writeFileSync(torn, bytes);
  expect(() => restoreDatabase(torn, path, at)).toThrow(/damaged/);
  expect(readFileSync(path).equals(before)).toBe(true);
  const left = readdirSync(dirname(path)).filter((name) => name.startsWith(basename(path)));
  expect(left.filter((name) => /part|restored|replaced/.test(name))).toEqual([]);
});

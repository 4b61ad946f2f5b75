import { copyFileSync, existsSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { useStoreFolder } from '../../../test/contract/store-folder.ts';
import {
  aCommit,
  aPart,
  anEvent,
  byKey,
  everything,
  hashOf,
  lease,
  noise,
  take,
} from '../../../test/contract/store-subject.ts';
import { storeContract } from '../../../test/contract/store.ts';
import { epochMs } from '../../model/ids.ts';

const folder = useStoreFolder();

storeContract('sqlite', async (caps) => {
  const path = folder.fresh();
  return { store: await folder.open(path, caps), reopen: () => folder.open(path, caps) };
});

const aTick = (seq: number, text: string) => ({
  seq,
  atMs: epochMs(seq),
  parts: [aPart('a', text)],
});

describe('the file', () => {
  test('is alone after closing, but for the empty lock', async () => {
    const path = folder.fresh();
    const store = await folder.open(path);
    const epoch = await take(store, 0);
    await store.commit(aCommit(epoch, { tick: aTick(0, 'x') }));
    await store.readTicks(everything);
    await store.close();
    const left = ['-wal', '-shm', '.holder', '.lock'].filter((end) => existsSync(path + end));
    expect(left).toEqual(['.lock']);
    expect(statSync(`${path}.lock`).size).toBe(0);
  });

  test('holds equal texts once and large ones packed', async () => {
    const path = folder.fresh();
    const store = await folder.open(path);
    const epoch = await take(store, 0);
    const text = JSON.stringify(Array.from({ length: 40_000 }, (_, n) => ({ id: `slice-${n}` })));
    for (let seq = 0; seq < 20; seq++) {
      await store.commit(aCommit(epoch, { tick: aTick(seq, text) }));
    }
    await store.close();
    expect(text.length).toBeGreaterThan(800_000);
    expect(statSync(path).size).toBeLessThan(text.length / 2);
  });

  test('does not grow past its cap by much, however long it is written', async () => {
    const path = folder.fresh();
    const store = await folder.open(path, { journalSizeMax: 1_000_000 });
    const epoch = await take(store, 0);
    const ticks = Array.from({ length: 300 }, (_, seq) => aTick(seq, noise(seq, 20_000)));
    await Promise.all(ticks.map((tick) => store.commit(aCommit(epoch, { tick }))));
    await store.close();
    expect(statSync(path).size).toBeLessThan(1_500_000);
  });

  test('reaches lowered caps step by step', async () => {
    const path = folder.fresh();
    const ample = await folder.open(path);
    let epoch = await take(ample, 0);
    const ticks = Array.from({ length: 500 }, (_, seq) => aTick(seq, `${seq}`));
    await Promise.all(ticks.map((tick) => ample.commit(aCommit(epoch, { tick }))));
    await ample.close();
    const scant = await folder.open(path, { journalAgeMaxMs: 10 });
    epoch = await take(scant, 0);
    const counts: number[] = [];
    for (let seq = 500; seq < 510; seq++) {
      await scant.commit(aCommit(epoch, { tick: aTick(seq, `${seq}`) }));
      counts.push((await scant.readTicks(everything)).length);
    }
    expect(counts[0]).toBeGreaterThan(400);
    expect(counts.at(-1)).toBe(11);
  });

  test('frees the lease of a process that is gone: whoever opens it is alone', async () => {
    const path = folder.fresh();
    const first = await folder.open(path);
    const epoch = await take(first, 0);
    await first.close();
    const second = await folder.open(path);
    await expect(second.commit(aCommit(epoch))).rejects.toMatchObject({ kind: 'fenced' });
    expect(await second.acquireLease(lease('next', 1))).toEqual({
      kind: 'granted',
      epoch: epoch + 1,
    });
  });

  test('belongs to one fleet', async () => {
    const path = folder.fresh();
    await (await folder.open(path)).close();
    const other = folder.open(path, { fleet: 'staging' });
    await expect(other).rejects.toThrow(/belongs to the fleet "research", not to "staging"; set /);
    await folder.open(path);
  });
});

describe('a reader', () => {
  test('sees what a running controller has committed, and nothing else changes', async () => {
    const path = folder.fresh();
    const store = await folder.open(path);
    const epoch = await take(store, 0);
    const reader = await folder.read(path);
    expect(reader.fleet).toBe('research');
    expect(await reader.readTicks(everything)).toEqual([]);
    const documents = [{ kind: 'slice', id: 'a', text: '1' }] as const;
    await store.commit(aCommit(epoch, { documents, tick: aTick(0, 'x'), events: [anEvent(0)] }));
    expect(await reader.readTicks(everything)).toHaveLength(1);
    expect([...(await reader.readParts([hashOf('x')])).values()]).toEqual(['x']);
    expect(await reader.readEvents(everything)).toEqual([anEvent(0)]);
    expect(await reader.load()).toEqual(documents);
    // It has not taken over anything: the lease is as it was.
    await store.commit(aCommit(epoch));
  });

  test('reads a copy, with its log or after closing', async () => {
    const path = folder.fresh();
    const store = await folder.open(path);
    const epoch = await take(store, 0);
    await store.commit(aCommit(epoch, { tick: aTick(0, 'x') }));
    const live = folder.fresh();
    for (const end of ['', '-wal']) copyFileSync(path + end, live + end);
    await store.close();
    const still = folder.fresh();
    copyFileSync(path, still);
    for (const copy of [live, still]) {
      const reader = await folder.read(copy);
      expect((await reader.readTicks(everything)).map(({ seq }) => seq)).toEqual([0]);
    }
  });

  test('says what is wrong with a path', async () => {
    const missing = folder.fresh();
    await expect(folder.read(missing)).rejects.toThrow(`there is no database at ${missing}`);
    expect(existsSync(missing)).toBe(false);
  });
});

test('a path with signs that mean something in an address is taken as it is', async () => {
  const plain = folder.fresh();
  const path = `${dirname(plain)}/100% ?mode=ro#${basename(plain)}`;
  const store = await folder.open(path);
  const epoch = await take(store, 0);
  await store.commit(aCommit(epoch, { documents: [{ kind: 'slice', id: 'a', text: '1' }] }));
  expect(await store.readTicks(everything)).toEqual([]);
  expect(existsSync(path)).toBe(true);
  const reader = await folder.read(path);
  expect(await reader.load()).toHaveLength(1);
  expect(await byKey(store)).toEqual({ 'slice/a': '1' });
});

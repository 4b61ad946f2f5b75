import { expect, test } from 'vitest';
import { epochMs } from '../../src/model/ids.ts';
import type { Store, TickAsk, TickPart, TickRow } from '../../src/ports/store.ts';
import {
  type Begin,
  aCommit,
  aPart,
  anEvent,
  everything,
  hashOf,
  kept,
  noise,
} from './store-subject.ts';

const tickAt = (seq: number, atMs: number, parts: readonly TickPart[] = []) =>
  ({ seq, atMs: epochMs(atMs), parts }) as const;

const seqs = (rows: readonly { readonly seq: number }[]): readonly number[] =>
  rows.map(({ seq }) => seq);

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, n) => from + n);

/** Texts of all parts of these ticks; fails when one is missing. */
async function expectParts(store: Store, ticks: readonly TickRow[]): Promise<void> {
  const hashes = new Set(ticks.flatMap(({ parts }) => parts.map(({ hash }) => hash)));
  const found = await store.readParts([...hashes]);
  expect([...found.keys()].sort()).toEqual([...hashes].sort());
  for (const [hash, text] of found) expect(hashOf(text)).toBe(hash);
}

/** The journal: ticks, their parts, events, and how they end. */
export function journalContract(begin: Begin): void {
  partContract(begin);
  pagingContract(begin);
  capContract(begin);
}

function partContract(begin: Begin): void {
  test('ticks come back with their parts in order, of whatever name', async () => {
    const { store, epoch } = await begin();
    const parts = [aPart('b', 'one'), aPart('a', 'two'), aPart('ü', 'one'), kept('c', 'one')];
    await store.commit(aCommit(epoch, { tick: tickAt(3, 42, parts) }));
    expect(await store.readTicks(everything)).toEqual([
      { seq: 3, epoch, atMs: 42, parts: parts.map(({ name, hash }) => ({ name, hash })) },
    ]);
  });

  test('a part may be left out when the tick before had it', async () => {
    const { store, epoch } = await begin();
    const add = (seq: number, parts: readonly TickPart[]): Promise<void> =>
      store.commit(aCommit(epoch, { tick: tickAt(seq, seq, parts) }));
    await add(0, [aPart('a', 'one'), aPart('b', 'two')]);
    await add(1, [kept('a', 'one'), aPart('b', 'three')]);
    await add(2, [kept('b', 'three'), kept('a', 'one'), aPart('c', 'two')]);
    const ticks = await store.readTicks(everything);
    expect(ticks.map(({ parts }) => parts.map(({ name }) => name))).toEqual([
      ['a', 'b'],
      ['a', 'b'],
      ['b', 'a', 'c'],
    ]);
    await expectParts(store, ticks);
  });

  test('a part that is left out and not there is refused by name and hash', async () => {
    const { store, epoch } = await begin();
    const commit = aCommit(epoch, { tick: tickAt(9, 0, [kept('demand', 'never')]) });
    const hash = hashOf('never');
    const message = `tick 9 refers to a part "demand" that the journal does not hold (${hash})`;
    await expect(store.commit(commit)).rejects.toMatchObject({
      name: 'StoreError',
      message: expect.stringContaining(message),
    });
  });

  test('parts are read by hash; those that are not there are left out', async () => {
    const { store, epoch } = await begin();
    expect((await store.readParts([])).size).toBe(0);
    await store.commit(aCommit(epoch, { tick: tickAt(0, 0, [aPart('a', 'one')]) }));
    const found = await store.readParts([hashOf('none'), hashOf('one'), hashOf('one')]);
    expect([...found]).toEqual([[hashOf('one'), 'one']]);
  });
}

function pagingContract(begin: Begin): void {
  test('ticks and events are read in pages, from a time on', async () => {
    const { store, epoch } = await begin();
    const page = (sinceMs: number, afterSeq: number, limit: number) =>
      ({ sinceMs: epochMs(sinceMs), afterSeq, limit }) as const;
    expect(await store.readTicks(everything)).toEqual([]);
    expect(await store.readEvents(everything)).toEqual([]);
    for (const seq of [2, 3, 5, 8, 13]) {
      const tick = tickAt(seq, seq * 100);
      await store.commit(aCommit(epoch, { tick, events: [anEvent(seq, seq * 100)] }));
    }
    const readTicks = (ask: TickAsk) => store.readTicks(ask);
    const readEvents = (ask: TickAsk) => store.readEvents(ask);
    for (const read of [readTicks, readEvents]) {
      expect(seqs(await read(page(0, -1, 2)))).toEqual([2, 3]);
      expect(seqs(await read(page(0, 3, 2)))).toEqual([5, 8]);
      expect(seqs(await read(page(0, 8, 2)))).toEqual([13]);
      expect(await read(page(0, 13, 2))).toEqual([]);
      expect(seqs(await read(page(300, -1, 9)))).toEqual([3, 5, 8, 13]);
      expect(seqs(await read(page(301, -1, 2)))).toEqual([5, 8]);
      expect(seqs(await read(page(301, 8, 2)))).toEqual([13]);
      expect(await read(page(1_301, -1, 2))).toEqual([]);
    }
    expect(await store.readEvents(page(0, 8, 9))).toEqual([anEvent(13, 1_300)]);
  });

  test('events come back oldest first, hundreds of one commit too', async () => {
    const { store, epoch } = await begin();
    const events = range(0, 750).map((seq) => anEvent(seq, 5, `"${noise(seq, 9)}"`));
    await store.commit(aCommit(epoch, { events }));
    expect(await store.readEvents(everything)).toEqual(events);
  });
}

function capContract(begin: Begin): void {
  test('what is older than its cap goes, with parts that nobody else has', async () => {
    const { store, epoch } = await begin({ journalAgeMaxMs: 1_000 });
    for (const seq of range(0, 30)) {
      const parts = [aPart('all', 'shared'), aPart('own', `own ${seq}`)];
      const tick = tickAt(seq, seq * 100, parts);
      await store.commit(aCommit(epoch, { tick, events: [anEvent(seq, seq * 100)] }));
    }
    const ticks = await store.readTicks(everything);
    expect(seqs(ticks)).toEqual(range(19, 30));
    expect(seqs(await store.readEvents(everything))).toEqual(range(19, 30));
    await expectParts(store, ticks);
    const own = await store.readParts(range(0, 30).map((seq) => hashOf(`own ${seq}`)));
    expect([...own.values()]).toEqual(range(19, 30).map((seq) => `own ${seq}`));
  });

  test('however long nothing happened, the latest tick stays', async () => {
    const { store, epoch } = await begin({ journalAgeMaxMs: 1_000 });
    await store.commit(aCommit(epoch, { tick: tickAt(0, 0, [aPart('a', 'one')]) }));
    await store.commit(aCommit(epoch, { events: [anEvent(0, 50_000), anEvent(1, 90_000)] }));
    const ticks = await store.readTicks(everything);
    expect(seqs(ticks)).toEqual([0]);
    expect(seqs(await store.readEvents(everything))).toEqual([1]);
    await expectParts(store, ticks);
    await store.commit(aCommit(epoch, { tick: tickAt(1, 91_000, [kept('a', 'one')]) }));
    expect(seqs(await store.readTicks(everything))).toEqual([1]);
    await expectParts(store, await store.readTicks(everything));
  });

  test('the journal stays near its size, the oldest go first', async () => {
    const sizeMax = 400_000;
    const { store, epoch } = await begin({ journalSizeMax: sizeMax });
    for (const seq of range(0, 60)) {
      const tick = tickAt(seq, seq, [aPart('a', noise(seq, 20_000))]);
      await store.commit(aCommit(epoch, { tick, events: [anEvent(seq)] }));
    }
    const ticks = await store.readTicks(everything);
    // At least as many as fit unpacked, at most as many as fit at half the size.
    expect(ticks.length).toBeGreaterThanOrEqual(18);
    expect(ticks.length).toBeLessThanOrEqual(40);
    expect(seqs(ticks)).toEqual(range(60 - ticks.length, 60));
    await expectParts(store, ticks);
    const [first] = await store.readEvents(everything);
    expect(Math.abs((first?.seq ?? 0) - (60 - ticks.length))).toBeLessThanOrEqual(1);
  });

  test('a tick larger than the cap is kept, alone', async () => {
    const { store, epoch } = await begin({ journalSizeMax: 10_000 });
    for (const seq of range(0, 5)) {
      const tick = tickAt(seq, seq, [aPart('a', noise(seq, 50_000))]);
      await store.commit(aCommit(epoch, { tick }));
      const ticks = await store.readTicks(everything);
      expect(seqs(ticks)).toEqual([seq]);
      await expectParts(store, ticks);
    }
  });

  test('events alone are capped too', async () => {
    const { store, epoch } = await begin({ journalSizeMax: 100_000 });
    for (const batch of range(0, 40)) {
      const events = range(batch * 10, batch * 10 + 10).map((seq) =>
        anEvent(seq, seq, `"${noise(seq, 998)}"`),
      );
      await store.commit(aCommit(epoch, { events }));
    }
    const events = await store.readEvents(everything);
    expect(events.length).toBeGreaterThan(80);
    expect(events.length).toBeLessThanOrEqual(100);
    expect(seqs(events)).toEqual(range(400 - events.length, 400));
  });
}

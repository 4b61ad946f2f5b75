import { expect, test } from 'vitest';
import { epochMs } from '../../src/model/ids.ts';
import type { Commit } from '../../src/ports/store.ts';
import {
  type Begin,
  aCommit,
  aPart,
  anEvent,
  byKey,
  everything,
  hashOf,
  kept,
} from './store-subject.ts';

/** Documents, and commits as a whole. */
export function documentContract(begin: Begin): void {
  test('documents are put, replaced and deleted by kind and id', async () => {
    const { store, epoch } = await begin();
    expect(await store.load()).toEqual([]);
    const put = (...documents: Commit['documents']): Promise<void> =>
      store.commit(aCommit(epoch, { documents }));
    await put({ kind: 'slice', id: 'a', text: '1' }, { kind: 'pause', id: 'a', text: '2' });
    await put({ kind: 'slice', id: 'b', text: '3' }, { kind: 'slice', id: 'a', text: '4' });
    expect(await byKey(store)).toEqual({ 'slice/a': '4', 'slice/b': '3', 'pause/a': '2' });
    await put({ kind: 'slice', id: 'a', text: null }, { kind: 'floor', id: 'none', text: null });
    expect(await byKey(store)).toEqual({ 'slice/b': '3', 'pause/a': '2' });
    await put({ kind: 'slice', id: 'b', text: null }, { kind: 'slice', id: 'b', text: '5' });
    expect(await byKey(store)).toEqual({ 'slice/b': '5', 'pause/a': '2' });
  });

  test('any text comes back as it was: empty, unicode, NUL, megabytes', async () => {
    const { store, epoch, restart } = await begin();
    const texts = ['', '"ünï 😀 ﷽ \u2028"', 'before\0after', `["${'x'.repeat(3_000_000)}"]`];
    const documents = texts.map((text, n) => ({ kind: 'demand', id: `é😀\0${n}`, text }) as const);
    const parts = texts.map((text, n) => aPart(`p${n}`, text));
    const events = texts.map((text, n) => anEvent(n, n, text));
    const tick = { seq: 0, atMs: epochMs(0), parts };
    await store.commit(aCommit(epoch, { documents, tick, events }));
    const again = (await restart()).store;
    const key = (n: number): string => `demand/é😀\0${n}`;
    expect(await byKey(again)).toEqual(Object.fromEntries(texts.map((text, n) => [key(n), text])));
    expect([...(await again.readParts(texts.map(hashOf))).values()]).toEqual(texts);
    expect((await again.readEvents(everything)).map(({ text }) => text)).toEqual(texts);
  });

  test('a refused commit leaves no trace, whatever it held', async () => {
    const { store, epoch } = await begin();
    const before = { seq: 5, atMs: epochMs(0), parts: [aPart('a', 'before')] };
    await store.commit(aCommit(epoch, { tick: before, events: [anEvent(5)] }));
    const bad: readonly Partial<Commit>[] = [
      { tick: { seq: 6, atMs: epochMs(6), parts: [aPart('a', 'new'), kept('b', 'never')] } },
      { tick: { seq: 5, atMs: epochMs(6), parts: [aPart('a', 'new')] } },
      { events: [anEvent(6), anEvent(5)] },
      { events: [anEvent(6), anEvent(6)] },
    ];
    for (const over of bad) {
      const documents = [{ kind: 'slice', id: 'a', text: '{}' }] as const;
      const refused = store.commit(aCommit(epoch, { documents, ...over }));
      await expect(refused).rejects.toMatchObject({ name: 'StoreError', kind: 'corrupt' });
    }
    expect(await store.load()).toEqual([]);
    expect((await store.readTicks(everything)).map(({ seq }) => seq)).toEqual([5]);
    expect((await store.readEvents(everything)).map(({ seq }) => seq)).toEqual([5]);
    expect((await store.readParts([hashOf('new')])).size).toBe(0);
    await store.commit(aCommit(epoch, { events: [anEvent(6)] }));
  });
}

import { expect, test } from 'vitest';
import { epochMs } from '../../src/model/ids.ts';
import { must } from '../../src/support/assert.ts';
import {
  type Begin,
  aCommit,
  aPart,
  anEvent,
  byKey,
  everything,
  kept,
  lease,
} from './store-subject.ts';

/** Many commits at once, an end, and a new beginning. */
export function lifetimeContract(begin: Begin): void {
  orderContract(begin);
  closeContract(begin);
}

function orderContract(begin: Begin): void {
  test('commits made at once take effect in their order', async () => {
    const { store, epoch } = await begin();
    const settled: number[] = [];
    const write = async (n: number): Promise<void> => {
      const documents = [{ kind: 'fleet', id: 'count', text: String(n) }] as const;
      const tick = {
        seq: n,
        atMs: epochMs(n),
        parts: [n === 0 ? aPart('a', 'x') : kept('a', 'x')],
      };
      await store.commit(aCommit(epoch, { documents, tick, events: [anEvent(n)] }));
      settled.push(n);
    };
    const numbers = Array.from({ length: 600 }, (_, n) => n);
    await Promise.all(numbers.map(write));
    expect(settled).toEqual(numbers);
    expect(await byKey(store)).toEqual({ 'fleet/count': '599' });
    expect((await store.readTicks(everything)).map(({ seq }) => seq)).toEqual(numbers);
  });

  test('one that is refused among many takes nobody with it', async () => {
    const { store, epoch } = await begin();
    const write = (n: number): Promise<void> => {
      const tick = {
        seq: n,
        atMs: epochMs(n),
        parts: [n === 7 ? kept('a', 'no') : aPart('a', 'b')],
      };
      return store.commit(aCommit(n === 3 ? epoch - 1 : epoch, { tick }));
    };
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => write(n)));
    const failed = outcomes.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []));
    expect(failed).toEqual([3, 7]);
    expect((await store.readTicks(everything)).map(({ seq }) => seq)).toEqual([
      0, 1, 2, 4, 5, 6, 8, 9,
    ]);
  });
}

function closeContract(begin: Begin): void {
  test('closing writes what was asked for before, and refuses what comes after', async () => {
    const { store, epoch, restart } = await begin();
    const document = (id: string) =>
      aCommit(epoch, { documents: [{ kind: 'slice', id, text: '1' }] });
    const before = store.commit(document('before'));
    const closing = store.close();
    const refusal = { name: 'StoreError', kind: 'unavailable', message: 'the store is closed' };
    await expect(store.commit(document('after'))).rejects.toMatchObject(refusal);
    await Promise.all([before, closing]);
    await store.close();
    await expect(store.commit(document('late'))).rejects.toMatchObject(refusal);
    await expect(store.load()).rejects.toMatchObject(refusal);
    await expect(store.readTicks(everything)).rejects.toMatchObject(refusal);
    await expect(store.acquireLease(lease('a', 0))).rejects.toMatchObject(refusal);
    expect(Object.keys(await byKey((await restart()).store))).toEqual(['slice/before']);
  });

  test('a restart finds documents and journal, and goes on with them', async () => {
    const first = await begin();
    const tick = { seq: 0, atMs: epochMs(0), parts: [aPart('a', 'x')] };
    const documents = [{ kind: 'slice', id: 'a', text: '1' }] as const;
    await first.store.commit(aCommit(first.epoch, { documents, tick, events: [anEvent(0)] }));
    const second = await first.restart();
    expect(second.epoch).toBeGreaterThan(first.epoch);
    expect(await byKey(second.store)).toEqual({ 'slice/a': '1' });
    const next = { seq: 1, atMs: epochMs(1), parts: [aPart('a', 'x')] };
    await second.store.commit(aCommit(second.epoch, { tick: next, events: [anEvent(1)] }));
    const ticks = await second.store.readTicks(everything);
    expect(ticks.map(({ seq, epoch }) => [seq, epoch])).toEqual([
      [0, first.epoch],
      [1, second.epoch],
    ]);
    expect(must(ticks[0], 'first').parts).toEqual(must(ticks[1], 'second').parts);
    expect((await second.store.readEvents(everything)).map(({ seq }) => seq)).toEqual([0, 1]);
  });
}

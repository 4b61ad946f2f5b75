import { expect, test } from 'vitest';
import { type Begin, aCommit, lease } from './store-subject.ts';

// Every subject comes with its lease taken at 0 for 1000 ms, by "a test".

/** The lease: who may write. */
export function leaseContract(begin: Begin): void {
  holdingContract(begin);
  epochContract(begin);
}

function holdingContract(begin: Begin): void {
  test('a lease is refused to others while it runs, and says whose it is', async () => {
    const { store } = await begin();
    const held = { kind: 'held', holder: 'a test', untilMs: 1_000 };
    expect(await store.acquireLease(lease('other', 0))).toEqual(held);
    expect(await store.acquireLease(lease('other', 999))).toEqual(held);
    // A name is no proof: two processes may be called the same.
    expect(await store.acquireLease(lease('a test', 999))).toEqual(held);
  });

  test('a lease that ran out goes to whoever asks, with a higher epoch', async () => {
    const { store, epoch } = await begin();
    expect(await store.acquireLease(lease('other', 1_000))).toEqual({
      kind: 'granted',
      epoch: epoch + 1,
    });
    const held = { kind: 'held', holder: 'other', untilMs: 2_000 };
    expect(await store.acquireLease(lease('a test', 1_500, epoch))).toEqual(held);
  });

  test('renewing keeps the epoch and moves the end', async () => {
    const { store, epoch } = await begin();
    const granted = { kind: 'granted', epoch };
    expect(await store.acquireLease(lease('a test', 900, epoch))).toEqual(granted);
    expect(await store.acquireLease(lease('other', 1_500))).toMatchObject({ untilMs: 1_900 });
    // Late, but nobody came between.
    expect(await store.acquireLease(lease('a test', 5_000, epoch))).toEqual(granted);
    expect(await store.acquireLease(lease('other', 5_999))).toMatchObject({ untilMs: 6_000 });
  });

  test('who lost the lease and asks again, once it is free, gets another epoch', async () => {
    const { store, epoch } = await begin();
    await store.acquireLease(lease('other', 1_000));
    expect(await store.acquireLease(lease('a test', 2_000, epoch))).toEqual({
      kind: 'granted',
      epoch: epoch + 2,
    });
  });
}

function epochContract(begin: Begin): void {
  test('a lease given back is free at once; its epoch does not come again', async () => {
    const { store, epoch } = await begin();
    await store.releaseLease(epoch + 1);
    expect(await store.acquireLease(lease('other', 1))).toMatchObject({ kind: 'held' });
    await store.releaseLease(epoch);
    await expect(store.commit(aCommit(epoch))).rejects.toMatchObject({ kind: 'fenced' });
    expect(await store.acquireLease(lease('a test', 1, epoch))).toEqual({
      kind: 'granted',
      epoch: epoch + 1,
    });
    await store.releaseLease(epoch);
    await store.commit(aCommit(epoch + 1));
  });

  test('epochs rise across restarts', async () => {
    const epochs: number[] = [];
    let subject = await begin();
    for (let n = 0; n < 3; n++) {
      epochs.push(subject.epoch);
      await subject.store.releaseLease(subject.epoch);
      subject = await subject.restart();
    }
    expect(epochs).toEqual([...new Set(epochs)].sort((a, b) => a - b));
  });

  test('only the current epoch writes; who is fenced learns by whom', async () => {
    const { store, epoch } = await begin();
    const documents = [{ kind: 'slice', id: 'a', text: '{}' }] as const;
    for (const wrong of [epoch - 1, epoch + 1]) {
      const refused = store.commit(aCommit(wrong, { documents }));
      await expect(refused).rejects.toMatchObject({ name: 'StoreError', kind: 'fenced' });
    }
    // Nobody else has taken it: that time has passed is the holder's own matter.
    await store.commit(aCommit(epoch));
    await store.acquireLease(lease('other', 1_000));
    const late = store.commit(aCommit(epoch, { documents }));
    await expect(late).rejects.toThrow(/epoch \d+ was refused: other holds the lease/);
    expect(await store.load()).toEqual([]);
    await store.commit(aCommit(epoch + 1, { documents }));
    expect(await store.load()).toHaveLength(1);
  });
}

import { expect, test } from 'vitest';
import { aCommit, lease, take } from '../../../test/contract/store-subject.ts';
import { storeContract } from '../../../test/contract/store.ts';
import { createMemoryStore } from './store.ts';

storeContract('memory', async (caps) => {
  const store = createMemoryStore(caps);
  return { store, reopen: async () => store.connect() };
});

test('two controllers that share the memory compete for its lease', async () => {
  const one = createMemoryStore();
  const other = one.connect();
  const epoch = await take(one, 0);
  expect(await other.acquireLease(lease('other', 500))).toMatchObject({ kind: 'held' });
  expect(await other.acquireLease(lease('other', 1_000))).toMatchObject({ kind: 'granted' });
  await expect(one.commit(aCommit(epoch))).rejects.toMatchObject({ kind: 'fenced' });
  await one.close();
  await other.commit(aCommit(epoch + 1));
});

import { afterEach, describe } from 'vitest';
import type { Store } from '../../src/ports/store.ts';
import { documentContract } from './store-documents.ts';
import { journalContract } from './store-journal.ts';
import { leaseContract } from './store-lease.ts';
import { lifetimeContract } from './store-lifetime.ts';
import { type Begin, type OpenStore, type Subject, ampleCaps, take } from './store-subject.ts';

/** What every store must do. An adapter's test calls it with a way to open one. */
export function storeContract(name: string, open: OpenStore): void {
  describe(`${name} as a store`, () => {
    const opened: Store[] = [];
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((store) => store.close()));
    });

    const begin: Begin = async (caps = {}) => {
      const first = await open({ ...ampleCaps, ...caps });
      const subject = async (store: Store, nowMs: number): Promise<Subject> => {
        opened.push(store);
        return {
          store,
          epoch: await take(store, nowMs),
          async restart() {
            await store.close();
            return subject(await first.reopen(), nowMs + 1_000_000);
          },
        };
      };
      return subject(first.store, 0);
    };

    leaseContract(begin);
    documentContract(begin);
    journalContract(begin);
    lifetimeContract(begin);
  });
}

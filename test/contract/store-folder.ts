import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach } from 'vitest';
import type { Store } from '../../src/ports/store.ts';
import {
  type JournalReader,
  openSqliteReader,
  openSqliteStore,
} from '../../src/store/sqlite/store.ts';
import { type Caps, ampleCaps } from './store-subject.ts';

export interface StoreFolder {
  /** A name in the folder, of which there is no file yet. */
  readonly fresh: () => string;
  readonly open: (path: string, over?: Partial<Caps & { fleet: string }>) => Promise<Store>;
  readonly read: (path: string) => Promise<JournalReader>;
}

/** A folder for database files, gone after the tests of a file; what a test opens is closed. */
export function useStoreFolder(): StoreFolder {
  const folder = mkdtempSync(join(tmpdir(), 'bellows-store-'));
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close()));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const keep = <T extends { close(): Promise<void> }>(one: T): T => {
    opened.push(one);
    return one;
  };
  let count = 0;
  return {
    fresh: () => join(folder, `${count++}.db`),
    open: async (path, over = {}) => {
      const options = { path, holder: 'a test', fleet: 'research', ...ampleCaps, ...over };
      return keep(await openSqliteStore(options));
    },
    read: async (path) => keep(await openSqliteReader(path)),
  };
}

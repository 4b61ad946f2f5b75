import { resolve } from 'node:path';
import type { Store } from '../../ports/store.ts';
import { type JournalCaps, closed } from '../journal.ts';
import { type WorkerClient, startWorker } from './worker-client.ts';

export interface SqliteOptions extends JournalCaps {
  /** Made if missing; its folder is not. Beside it lie PATH-wal, -shm, .lock and .holder. */
  readonly path: string;
  /** Names this controller to whoever finds the file in use. */
  readonly holder: string;
  /** The file remembers it, and is refused to any other fleet. */
  readonly fleet: string;
}

/** The parts of a store that a reader has. */
export type JournalReader = Pick<
  Store,
  'load' | 'readTicks' | 'readParts' | 'readEvents' | 'close'
> & {
  /** The fleet that the file is about. */
  readonly fleet: string;
};

/**
 * Remembers in one SQLite file, which it locks against other controllers for as long as it is open
 * or its process lives. A commit that resolved survives kill -9 and, as far as the disk keeps its
 * word, the loss of power.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { holder, fleet, journalSizeMax, journalAgeMaxMs } = options;
  // The reader may start much later, when the process may have moved elsewhere.
  const path = resolve(options.path);
  const writer = await startWorker({
    role: 'writer',
    path,
    holder,
    fleet,
    journalSizeMax,
    journalAgeMaxMs,
  });
  const reader = startOnUse(path);
  let closing: Promise<void> | null = null;
  const write: WorkerClient['call'] = (kind, ask) =>
    closing === null ? writer.call(kind, ask) : Promise.reject(closed());
  const close = async (): Promise<void> => {
    // First the reader: the last to leave the file cleans its log away.
    await reader.close();
    await writer.close();
  };
  return {
    acquireLease: (ask) => write('lease', ask),
    releaseLease: (epoch) => write('release', epoch),
    load: () => write('load', null),
    commit: (commit) => write('commit', commit),
    readTicks: async (ask) => (await reader.get()).call('ticks', ask),
    readParts: async (hashes) => (await reader.get()).call('parts', hashes),
    readEvents: async (ask) => (await reader.get()).call('events', ask),
    close: () => (closing ??= close()),
  };
}

/** Whoever looks through a large journal must not hold up commits: a second thread reads. */
function startOnUse(path: string): { get(): Promise<WorkerClient>; close(): Promise<void> } {
  let client: Promise<WorkerClient> | null = null;
  let isClosed = false;
  const start = async (): Promise<WorkerClient> => {
    try {
      return await startWorker({ role: 'reader', path });
    } catch (error) {
      // The next call tries again.
      client = null;
      throw error;
    }
  };
  return {
    get: () => (isClosed ? Promise.reject(closed()) : (client ??= start())),
    async close() {
      isClosed = true;
      const [started] = await Promise.allSettled([client]);
      if (started.status === 'fulfilled') await started.value?.close();
    },
  };
}

/**
 * A database as it is, for `bellows replay`: read only and without its lock, so that it may be in
 * use by a controller, or a copy.
 */
export async function openSqliteReader(path: string): Promise<JournalReader> {
  const reader = await startWorker({ role: 'reader', path });
  return {
    fleet: (await reader.call('fleet', null)) ?? '',
    load: () => reader.call('load', null),
    readTicks: (ask) => reader.call('ticks', ask),
    readParts: (hashes) => reader.call('parts', hashes),
    readEvents: (ask) => reader.call('events', ask),
    close: () => reader.close(),
  };
}

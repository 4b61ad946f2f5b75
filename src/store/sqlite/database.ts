import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StoreError } from '../../ports/store.ts';
import { type Connection, connect } from './connection.ts';
import { restoreHint, toStoreError } from './errors.ts';
import { SCHEMA_VERSION, inspectFile, migrate } from './migrations.ts';
import { isWritable } from './preflight.ts';
import { endLeftLease } from './writes.ts';

/** A backup program may hold the file for a moment. */
const BUSY_TIMEOUT_MS = 5_000;
/** What the log is cut back to after a large transaction. */
const WAL_BYTES_MAX = 64 * 1_024 * 1_024;
/** Checked whole when opened, in less than a second; of larger files only what is not journal. */
const CHECK_BYTES_MAX = 128 * 1_024 * 1_024;

/** For writing: made if missing, brought up to date and checked. The lock is ours already. */
export function openForWriting(path: string, fleet: string): Connection {
  return guarded(path, () => {
    const db = connect(path);
    try {
      db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
      const state = inspectFile(db, path);
      // Durable when COMMIT returns: the log is synced with every transaction.
      db.prepare('PRAGMA journal_mode = WAL').all();
      db.exec(`PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${WAL_BYTES_MAX}`);
      if (state.kind === 'ours') checkPages(db, path);
      migrate(db, state);
      db.transaction(() => {
        claimForFleet(db, path, fleet);
        endLeftLease(db);
      });
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

/** The file as it is, beside whoever writes it. Changes nothing, takes no lock. */
export function openForReading(path: string): Connection {
  return guarded(path, () => {
    const db = connect(readAddress(path));
    try {
      db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
      const state = inspectFile(db, path);
      if (state.kind === 'empty' || state.version < SCHEMA_VERSION) {
        throw new StoreError('unavailable', tooOld(path, state));
      }
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

/** The fleet that the file is about; null before its first. */
export const readFleet = (db: Connection): string | null =>
  db.prepare<{ value: string }>("SELECT value FROM meta WHERE key = 'fleet'").get()?.value ?? null;

function tooOld(path: string, state: { kind: 'empty' } | { version: number }): string {
  if (!('version' in state)) return `${path} is empty: no controller has used it yet`;
  return (
    `${path} has schema ${state.version}, reading needs ${SCHEMA_VERSION}; start a controller of ` +
    'this version on it once, or read it with the version that wrote it'
  );
}

/**
 * SQLite wants to keep its index of the log beside the file. Where the folder does not let it and
 * there is no log, nobody is writing, and the file can be read as it lies there.
 */
function readAddress(path: string): string {
  const { href } = pathToFileURL(path);
  const isStill = !isWritable(dirname(path)) && !existsSync(`${path}-wal`);
  return isStill ? `${href}?immutable=1` : `${href}?mode=ro`;
}

function guarded(path: string, open: () => Connection): Connection {
  try {
    return open();
  } catch (error) {
    throw toStoreError(error, path);
  }
}

function checkPages(db: Connection, path: string): void {
  const isSmall = statSync(path).size <= CHECK_BYTES_MAX;
  const checks = isSmall ? ['quick_check(1)'] : ['meta', 'lease', 'document'].map(checkOf);
  for (const check of checks) {
    const [row] = db.prepare<{ quick_check: string }>(`PRAGMA ${check}`).all();
    if (row?.quick_check === 'ok') continue;
    const detail = (row?.quick_check ?? 'no answer').replaceAll(/\s+/g, ' ').trim();
    throw new StoreError('corrupt', `${path} is damaged (${detail}); ${restoreHint(path)}`);
  }
}

const checkOf = (table: string): string => `quick_check(${table})`;

/** One fleet per file: two would take each other's machines for strays. */
function claimForFleet(db: Connection, path: string, fleet: string): void {
  const known = readFleet(db);
  if (known === null) db.prepare("INSERT INTO meta VALUES ('fleet', ?)").run(fleet);
  else if (known !== fleet) {
    throw new StoreError(
      'unavailable',
      `${path} belongs to the fleet "${known}", not to "${fleet}"; ` +
        'set store.path to another file, or give the fleet its name back',
    );
  }
}

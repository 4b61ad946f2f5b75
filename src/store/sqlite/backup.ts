import { chmodSync, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { StoreError } from '../../ports/store.ts';
import { type Connection, connect } from './connection.ts';
import { openForReading, readFleet } from './database.ts';
import { toStoreError } from './errors.ts';
import { takeLock } from './lock.ts';
import { checkReadable, checkWritable, resolvePath } from './preflight.ts';

/** What a copy holds. */
export interface CopyReport {
  readonly path: string;
  readonly fleet: string;
  readonly bytes: number;
  readonly tickCount: number;
  readonly sliceCount: number;
}

/** Copies a database, also one that a controller is writing to, into a new file that is whole. */
export function backupDatabase(path: string, target: string): CopyReport {
  const from = resolvePath(path);
  const to = resolvePath(target);
  checkReadable(from);
  if (existsSync(to))
    throw new StoreError('unavailable', `${to} is there already; name a new file`);
  checkWritable(to);
  copyInto(from, to, () => undefined);
  return describeCopy(to);
}

/**
 * Puts a backup in the place of a database that no controller uses. What was there is kept beside it.
 * Ids that were minted since the backup are not minted again: the next controller's epoch is above
 * all that came before.
 */
export function restoreDatabase(
  backup: string,
  target: string,
  at: { readonly nowMs: number; readonly holder: string },
): CopyReport & { readonly replaced: string | null } {
  const from = resolvePath(backup);
  const to = resolvePath(target);
  checkReadable(from);
  checkWritable(to);
  checkWhole(from);
  const lock = takeLock(to, at.holder);
  try {
    copyInto(from, `${to}.restored`, (db) => {
      const epoch = Math.floor(at.nowMs / 1_000);
      db.prepare('UPDATE lease SET epoch = max(epoch, ?), holder = NULL, until_ms = 0').run(epoch);
    });
    const replaced = existsSync(to) ? `${to}.replaced-${stamp(at.nowMs)}` : null;
    for (const suffix of ['', '-wal', '-shm']) {
      if (replaced !== null && existsSync(`${to}${suffix}`)) {
        renameSync(`${to}${suffix}`, `${replaced}${suffix}`);
      }
    }
    renameSync(`${to}.restored`, to);
    return { ...describeCopy(to), replaced };
  } finally {
    lock.release();
  }
}

/** 20261115T083000Z: sorts, and is a file name everywhere. */
const stamp = (ms: number): string => new Date(ms).toISOString().replaceAll(/[-:]|\.\d+/g, '');

/** Made under another name and renamed, so that a crash leaves no half copy under this one. */
function copyInto(from: string, to: string, finish: (copy: Connection) => void): void {
  const draft = `${to}.part`;
  rmSync(draft, { force: true });
  try {
    const db = openForReading(from);
    try {
      db.prepare('VACUUM INTO ?').run(draft);
    } finally {
      db.close();
    }
    const copy = connect(draft);
    try {
      // Synced to the disk with the transaction, and no log is left beside it.
      copy.exec('PRAGMA synchronous = FULL');
      copy.transaction(() => finish(copy));
    } finally {
      copy.close();
    }
    chmodSync(draft, 0o600);
    checkWhole(draft);
    renameSync(draft, to);
  } catch (error) {
    rmSync(draft, { force: true });
    throw toStoreError(error, to);
  }
}

function checkWhole(path: string): void {
  const db = openForReading(path);
  try {
    const [row] = db.prepare<{ quick_check: string }>('PRAGMA quick_check(1)').all();
    if (row?.quick_check === 'ok') return;
    throw new StoreError('corrupt', `${path} is damaged and cannot be used; take another backup`);
  } catch (error) {
    throw toStoreError(error, path);
  } finally {
    db.close();
  }
}

function describeCopy(path: string): CopyReport {
  const db = openForReading(path);
  try {
    const count = (sql: string): number => db.prepare<{ value: number }>(sql).get()?.value ?? 0;
    return {
      path,
      fleet: readFleet(db) ?? '',
      bytes: statSync(path).size,
      tickCount: count('SELECT count(*) AS value FROM tick'),
      sliceCount: count("SELECT count(*) AS value FROM document WHERE kind = 'slice'"),
    };
  } finally {
    db.close();
  }
}

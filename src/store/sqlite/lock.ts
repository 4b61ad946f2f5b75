import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { StoreError } from '../../ports/store.ts';
import { type Connection, connect } from './connection.ts';
import { toStoreError } from './errors.ts';

/**
 * One controller per file. Node has no file locks, SQLite has: a transaction on an empty database
 * beside the file, kept open for life, is a lock that the system frees when the process dies,
 * however it dies. Who holds it stands in a second file: reading the first would drop the lock
 * (POSIX frees all locks of a process on a file when the process closes any handle on it).
 */
export interface FileLock {
  release(): void;
}

interface Holder {
  readonly holder: string;
  readonly host: string;
  readonly pid: number;
  readonly since: string;
}

const lockPath = (path: string): string => `${path}.lock`;
const holderPath = (path: string): string => `${path}.holder`;

/** Two that start together see each other's attempt; the wait lets one of them win. */
const WAIT_MS = 100;

/** At once, or a `locked` that names the holder. */
export function takeLock(path: string, holder: string): FileLock {
  let lock: Connection | null = null;
  try {
    lock = connect(lockPath(path));
    lock.exec(`PRAGMA busy_timeout = ${WAIT_MS}`);
    lock.exec('BEGIN EXCLUSIVE');
    writeHolder(path, holder);
  } catch (error) {
    lock?.close();
    throw explain(error, path);
  }
  const held = lock;
  return {
    release() {
      // In this order: once the lock is free, the file is another's.
      rmSync(holderPath(path), { force: true });
      held.close();
    },
  };
}

function explain(error: unknown, path: string): StoreError {
  const known = toStoreError(error, path);
  if (known.kind === 'locked') {
    const message = `${path} is in use ${describeHolder(path)}; `;
    return new StoreError('locked', `${message}stop that one, or change store.path`, {
      cause: error,
    });
  }
  if (known.kind !== 'corrupt') return known;
  return new StoreError(
    'unavailable',
    `${lockPath(path)} should be an empty file and is not; remove it, if no controller runs`,
    { cause: error },
  );
}

function writeHolder(path: string, holder: string): void {
  const text: Holder = {
    holder,
    host: hostname(),
    pid: process.pid,
    since: new Date().toISOString(),
  };
  // Renamed into place, so that whoever is refused reads all of it or nothing.
  const draft = `${holderPath(path)}.new`;
  writeFileSync(draft, `${JSON.stringify(text)}\n`);
  renameSync(draft, holderPath(path));
}

function describeHolder(path: string): string {
  try {
    const holder: unknown = JSON.parse(readFileSync(holderPath(path), 'utf8'));
    if (isHolder(holder)) {
      const { host, pid, since } = holder;
      return `by ${holder.holder} (host ${host}, process ${pid}, since ${since})`;
    }
  } catch {
    // Gone or half-made: the holder is starting or stopping. The refusal stands, without a name.
  }
  return 'by another process, which is just starting or stopping';
}

function isHolder(value: unknown): value is Holder {
  if (typeof value !== 'object' || value === null) return false;
  return ['holder', 'host', 'pid', 'since'].every((key) => key in value);
}

import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Whoever holds it writes a small file and is gone; longer is no waiting but a fault. */
const WAIT_MAX_MS = 5_000;
const RETRY_MS = 25;
/** A holder that left no readable process id is taken for dead after this. */
const STALE_MS = 3_000;

export interface LockTimes {
  readonly waitMaxMs?: number;
  readonly staleMs?: number;
}

/** Runs `work` while nobody else runs theirs under the same path, in any process of this machine. */
export async function withFileLock<T>(
  path: string,
  work: () => Promise<T>,
  times: LockTimes = {},
): Promise<T> {
  const mark = `${process.pid} ${randomBytes(8).toString('hex')}\n`;
  await take(path, mark, times);
  try {
    return await work();
  } finally {
    // Only ours: should others have taken it for stale, theirs is not ours to remove.
    if ((await readMark(path)) === mark) await rm(path, { force: true });
  }
}

async function take(path: string, mark: string, times: LockTimes): Promise<void> {
  const waitMaxMs = times.waitMaxMs ?? WAIT_MAX_MS;
  const startedMs = performance.now();
  for (;;) {
    if (await tryTake(path, mark)) return;
    const held = await readMark(path);
    if (held !== null && (await isStale(path, held, times.staleMs ?? STALE_MS))) {
      await breakLock(path, held);
      continue;
    }
    if (performance.now() - startedMs > waitMaxMs) {
      throw new Error(
        `${path} is held by another process (${held?.split(' ')[0] ?? 'unknown'}); try again, or ` +
          `remove the file if no other bellows runs`,
      );
    }
    await sleep(RETRY_MS);
  }
}

async function tryTake(path: string, mark: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(mark);
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  }
}

async function readMark(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Its process is gone; or, where that cannot be told, it is too old for what is done under it. */
async function isStale(path: string, mark: string, staleMs: number): Promise<boolean> {
  const pid = Number(/^(\d{1,10}) /.exec(mark)?.[1] ?? Number.NaN);
  if (Number.isInteger(pid) && pid > 0) return !isAlive(pid);
  try {
    return Date.now() - (await stat(path)).mtimeMs > staleMs;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Not permitted to signal it: it lives, under another user.
    return isErrno(error, 'EPERM');
  }
}

/**
 * Two that find the same dead lock must not both take it away: the second would take the first one's
 * new lock. Hence it is moved aside, looked at, and put back if it is not the dead one.
 */
async function breakLock(path: string, dead: string): Promise<void> {
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return;
    throw error;
  }
  if ((await readMark(aside)) !== dead) await rename(aside, path);
  else await rm(aside, { force: true });
}

export const isErrno = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { StoreError } from '../../ports/store.ts';
import { toStoreError } from './errors.ts';

// SQLite has one code for all that keeps a file from opening, so we look first. Looking must not
// open the file: closing it again would drop every lock that this process has on it (POSIX).

/** The one name of the file, whatever links lead to it: locks are found by name. */
export function resolvePath(path: string): string {
  const full = resolve(path);
  if (existsSync(full)) return realpathSync(full);
  const folder = dirname(full);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) {
    const wrong = existsSync(folder) ? 'is not a folder' : 'does not exist';
    throw new StoreError(
      'unavailable',
      `the folder ${folder} of the database ${full} ${wrong}; create it, or change store.path`,
    );
  }
  return join(realpathSync(folder), basename(full));
}

/** The file, if there is one, and its folder can be written: SQLite keeps its log there. */
export function checkWritable(path: string): void {
  checkIsFile(path);
  for (const name of [dirname(path), path]) {
    try {
      if (existsSync(name)) accessSync(name, constants.R_OK | constants.W_OK);
    } catch (error) {
      throw toStoreError(error, path);
    }
  }
}

/** There is a file, and it can be read. */
export function checkReadable(path: string): void {
  if (!existsSync(path)) {
    throw new StoreError('unavailable', `there is no database at ${path}; check the path`);
  }
  checkIsFile(path);
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw new StoreError('unavailable', `${path} may not be read by this user; change its mode`, {
      cause: error,
    });
  }
}

function checkIsFile(path: string): void {
  if (existsSync(path) && !statSync(path).isFile()) {
    throw new StoreError(
      'unavailable',
      `${path} is not a file; set store.path to the name of a file, in a folder that exists`,
    );
  }
}

export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    // "No" is the answer that was asked for.
    return false;
  }
}

import { join } from 'node:path';
import type { Log } from '../ports/log.ts';
import { openTokenBook, type TokenBook } from '../server/token-book.ts';
import { makeDataDir } from './data-dir.ts';
import { StartError } from './start-error.ts';

export type { TokenBook } from '../server/token-book.ts';

/** The tokens of a data directory, which is made if it is missing. */
export function openTokens(dataDir: string, log?: Log): TokenBook {
  makeDataDir(dataDir);
  try {
    return openTokenBook(join(dataDir, 'tokens.json'), log === undefined ? {} : { log });
  } catch (cause) {
    if (!(cause instanceof Error) || cause.name !== 'Error') throw cause;
    throw new StartError(cause.message, { cause });
  }
}

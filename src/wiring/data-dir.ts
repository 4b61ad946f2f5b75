import { accessSync, constants, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { StartError } from './start-error.ts';

/** Where Bellows keeps what it must not forget, unless it is told: --data, or BELLOWS_DATA. */
export function dataDirOf(said: unknown, env: NodeJS.ProcessEnv): string {
  if (typeof said === 'string' && said !== '') return resolve(said);
  const { BELLOWS_DATA, XDG_STATE_HOME } = env;
  if (BELLOWS_DATA !== undefined && BELLOWS_DATA !== '') return resolve(BELLOWS_DATA);
  const state = XDG_STATE_HOME === undefined || XDG_STATE_HOME === '' ? null : XDG_STATE_HOME;
  return join(state ?? join(homedir(), '.local', 'state'), 'bellows');
}

/** Made if missing, for its owner alone. */
export function makeDataDir(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw new StartError(
      `the data directory ${path} cannot be written (${why}); ` +
        'give another with --data or BELLOWS_DATA, or change its owner',
      { cause },
    );
  }
}

import { StoreError } from '../../ports/store.ts';
import { type Connection, readNumber } from './connection.ts';
import { start } from './migrations/0001-start.ts';

/** In order, each run once and never changed again; the first makes an empty file version 1. */
const migrations: readonly string[] = [start];

export const SCHEMA_VERSION = migrations.length;

/** Marks the file as ours ("BLWS"), for us and for `file`. */
export const APPLICATION_ID = 0x42_4c_57_53;

/** What a file holds, before anything of it is believed. */
export type FileState =
  | { readonly kind: 'empty' }
  | { readonly kind: 'ours'; readonly version: number };

/** Refuses a database of another program, and one that a newer Bellows has changed. */
export function inspectFile(db: Connection, path: string): FileState {
  const tableCount = readNumber(db, 'SELECT count(*) AS value FROM sqlite_schema');
  const applicationId = readNumber(db, 'SELECT application_id AS value FROM pragma_application_id');
  if (tableCount === 0 && applicationId === 0) return { kind: 'empty' };
  if (applicationId !== APPLICATION_ID) {
    throw new StoreError(
      'corrupt',
      `${path} is the database of another program; set store.path to another file`,
    );
  }
  const version = readNumber(db, 'SELECT user_version AS value FROM pragma_user_version');
  if (version > SCHEMA_VERSION) {
    throw new StoreError(
      'newer-schema',
      `${path} has schema ${version}, this Bellows knows schemas up to ${SCHEMA_VERSION}: ` +
        'a newer Bellows has written it; run that one, or set store.path to a copy made before',
    );
  }
  return { kind: 'ours', version };
}

/** Brings the schema forward; one transaction for each step, so that a crash leaves a whole one. */
export function migrate(db: Connection, state: FileState): void {
  const version = state.kind === 'empty' ? 0 : state.version;
  for (const [index, sql] of migrations.entries()) {
    if (index < version) continue;
    db.transaction(() => {
      db.exec(sql);
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
      db.exec(`PRAGMA user_version = ${index + 1}`);
    });
  }
}

import { StoreError, type StoreErrorKind } from '../../ports/store.ts';

// Failures of SQLite and of the file system, as ours: what happened, to which file, what to do.

/** SQLite's primary result codes, https://www.sqlite.org/rescode.html */
const codes: Readonly<Record<number, StoreErrorKind>> = {
  5: 'locked',
  6: 'locked',
  8: 'read-only',
  10: 'unavailable',
  11: 'corrupt',
  13: 'full',
  14: 'unavailable',
  26: 'corrupt',
};
const NOT_A_DATABASE = 26;

const errnos: Readonly<Record<string, StoreErrorKind>> = {
  EACCES: 'read-only',
  EPERM: 'read-only',
  EROFS: 'read-only',
  ENOSPC: 'full',
  EDQUOT: 'full',
};

/** A failure of the database at `path`. Errors that are ours already pass. */
export function toStoreError(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error;
  const detail = detailOf(error);
  const code = sqliteCode(error);
  const kind = (code === null ? errnos[errno(error)] : codes[code]) ?? 'unavailable';
  const message = code === NOT_A_DATABASE ? notADatabase(path) : explain(kind, path, detail);
  return new StoreError(kind, message, { cause: error });
}

/** A failed COMMIT: unless the disk was full, its last write may have reached it. */
export function toCommitError(error: unknown, path: string): StoreError {
  const known = toStoreError(error, path);
  if (known.kind === 'full' || known.kind === 'locked') return known;
  return new StoreError(
    'unknown-outcome',
    `${path}: the last write failed half-way (${detailOf(error)}) and may or may not have ` +
      'happened; start again from what the database holds',
    { cause: error },
  );
}

const detailOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** The primary code is in the low byte; the high ones say more than we tell apart. */
function sqliteCode(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('rawCode' in error)) return null;
  return typeof error.rawCode === 'number' ? error.rawCode & 0xff : null;
}

function errno(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return String(error.code);
}

const notADatabase = (path: string): string =>
  `${path} is not a database; set store.path to another file, or move this one away`;

export const restoreHint = (path: string): string =>
  `stop Bellows, move ${path} away together with ${path}-wal and ${path}-shm, and put a backup ` +
  'in its place, or start with none: machines that carry our tag are found again';

function explain(kind: StoreErrorKind, path: string, detail: string): string {
  switch (kind) {
    case 'full':
      return `no space left for ${path} (${detail}); make room on its disk, nothing else is needed`;
    case 'corrupt':
      return `${path} is damaged (${detail}); ${restoreHint(path)}`;
    case 'read-only':
      return (
        `${path} cannot be written (${detail}); let the user that runs Bellows write the file ` +
        'and its folder, or set store.path to another file'
      );
    case 'locked':
      return `another program is writing to ${path} (${detail}); end it, and try again`;
    default:
      return `${path} cannot be used (${detail}); check its disk and folder, and try again`;
  }
}

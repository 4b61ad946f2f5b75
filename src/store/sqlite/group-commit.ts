import { StoreError } from '../../ports/store.ts';
import { must, unreachable } from '../../support/assert.ts';
import type { Connection } from './connection.ts';
import { toCommitError, toStoreError } from './errors.ts';
import type { WriteRequest } from './protocol.ts';
import type { Writes } from './writes.ts';

/** What came of one write. */
export type Outcome =
  | { readonly kind: 'done'; readonly answer: unknown }
  | { readonly kind: 'failed'; readonly error: StoreError };

/** Where writes go. */
export interface WriteTarget {
  readonly db: Connection;
  readonly writes: Writes;
  readonly path: string;
}

/**
 * Carries writes out in their order, in one transaction: a sync of the disk costs far more than a
 * write, and so all that waited share one. Each is all or nothing by itself. Outcomes are given
 * when the transaction is on disk.
 */
export function writeTogether(
  target: WriteTarget,
  requests: readonly WriteRequest[],
): readonly Outcome[] {
  const { db, path } = target;
  let outcomes: readonly Outcome[];
  try {
    db.exec('BEGIN IMMEDIATE');
    outcomes = requests.map((request) => writeOne(target, request));
  } catch (error) {
    // SQLite itself failed, on a full disk for example, and nothing has been written. Alone, those
    // may succeed that were not the cause.
    rollBack(db);
    const failed: Outcome = { kind: 'failed', error: toStoreError(error, path) };
    if (requests.length === 1) return [failed];
    return requests.map((request) => must(writeTogether(target, [request])[0], 'its outcome'));
  }
  try {
    db.exec('COMMIT');
    return outcomes;
  } catch (error) {
    rollBack(db);
    const failed: Outcome = { kind: 'failed', error: toCommitError(error, path) };
    return requests.map(() => failed);
  }
}

/** A write refused by a rule of ours is undone alone; the others of its transaction go on. */
function writeOne({ db, writes }: WriteTarget, request: WriteRequest): Outcome {
  db.exec('SAVEPOINT one');
  try {
    const answer = carryOut(writes, request);
    db.exec('RELEASE one');
    return { kind: 'done', answer };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    db.exec('ROLLBACK TO one');
    db.exec('RELEASE one');
    return { kind: 'failed', error };
  }
}

function carryOut(writes: Writes, request: WriteRequest): unknown {
  switch (request.kind) {
    case 'lease':
      return writes.acquireLease(request.ask);
    case 'release':
      return writes.releaseLease(request.ask);
    case 'commit':
      return writes.commit(request.ask);
    default:
      return unreachable(request);
  }
}

/** On some failures SQLite has rolled back by itself, and a second time is an error. */
function rollBack(db: Connection): void {
  if (db.isInTransaction()) db.exec('ROLLBACK');
}

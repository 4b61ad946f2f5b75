import { afterEach, describe, expect, test } from 'vitest';
import { useStoreFolder } from '../../../test/contract/store-folder.ts';
import { aCommit, aPart, ampleCaps, lease, noise } from '../../../test/contract/store-subject.ts';
import { epochMs } from '../../model/ids.ts';
import { type Connection, readNumber } from './connection.ts';
import { openForWriting } from './database.ts';
import { type WriteTarget, writeTogether } from './group-commit.ts';
import type { WriteRequest } from './protocol.ts';
import { prepareWrites } from './writes.ts';

// The writer without its thread, so that the disk can be made to fail.

const folder = useStoreFolder();
const opened: Connection[] = [];
afterEach(() => {
  for (const db of opened.splice(0)) db.close();
});

const EPOCH = 1;

function aTarget(): WriteTarget {
  const path = folder.fresh();
  const db = openForWriting(path, 'research');
  opened.push(db);
  const target = { db, path, writes: prepareWrites(db, ampleCaps) };
  writeTogether(target, [{ id: 1, kind: 'lease', ask: lease('a test', 0) }]);
  return target;
}

const aWrite = (seq: number, length: number): WriteRequest => {
  const tick = { seq, atMs: epochMs(seq), parts: [aPart('a', noise(seq, length))] };
  return { id: seq, kind: 'commit', ask: aCommit(EPOCH, { tick }) };
};

const kinds = (target: WriteTarget, requests: readonly WriteRequest[]): readonly string[] =>
  writeTogether(target, requests).map((outcome) =>
    outcome.kind === 'done' ? 'done' : outcome.error.kind,
  );

const tickCount = (db: Connection): number => readNumber(db, 'SELECT count(*) AS value FROM tick');

/** The same connection, but a statement fails with a code of SQLite's. */
const failingAt = (db: Connection, statement: string, rawCode: number): Connection => ({
  ...db,
  exec(sql) {
    if (sql !== statement) return db.exec(sql);
    throw Object.assign(new Error('disk I/O error'), { rawCode });
  },
});

describe('a disk that is full', () => {
  test('refuses what is too large, alone; the rest of the group is written', () => {
    const target = aTarget();
    const pages = readNumber(target.db, 'SELECT page_count AS value FROM pragma_page_count');
    target.db.prepare(`PRAGMA max_page_count = ${pages + 20}`).all();
    const requests = [aWrite(1, 100), aWrite(2, 300_000), aWrite(3, 100)];
    expect(kinds(target, requests)).toEqual(['done', 'full', 'done']);
    expect(tickCount(target.db)).toBe(2);
    const [outcome] = writeTogether(target, [aWrite(4, 300_000)]);
    expect(outcome).toMatchObject({
      error: {
        message: expect.stringMatching(/^no space left for .*\.db \(.*\); make room on its disk/),
      },
    });
    // Room was made.
    target.db.prepare('PRAGMA max_page_count = 100000').all();
    expect(kinds(target, [aWrite(4, 300_000)])).toEqual(['done']);
  });
});

describe('a transaction that fails', () => {
  const IOERR_FSYNC = 1_034;
  const FULL = 13;

  test.each([
    ['an error of the disk at its end leaves the outcome open', IOERR_FSYNC, 'unknown-outcome'],
    ['a full disk at its end does not', FULL, 'full'],
  ])('%s', (_name, code, kind) => {
    const target = aTarget();
    const failing = { ...target, db: failingAt(target.db, 'COMMIT', code) };
    expect(kinds(failing, [aWrite(1, 10), aWrite(2, 10)])).toEqual([kind, kind]);
    expect(target.db.isInTransaction()).toBe(false);
    expect(kinds(target, [aWrite(1, 10)])).toEqual(['done']);
  });

  test('an error at its begin has changed nothing', () => {
    const target = aTarget();
    const failing = { ...target, db: failingAt(target.db, 'BEGIN IMMEDIATE', 5) };
    expect(kinds(failing, [aWrite(1, 10), aWrite(2, 10)])).toEqual(['locked', 'locked']);
    expect(tickCount(target.db)).toBe(0);
  });
});

test('a lease that changes hands within a group fences what follows', () => {
  const target = aTarget();
  const requests: readonly WriteRequest[] = [
    aWrite(1, 10),
    { id: 9, kind: 'lease', ask: lease('other', 5_000) },
    aWrite(2, 10),
    { id: 10, kind: 'release', ask: EPOCH + 1 },
  ];
  expect(kinds(target, requests)).toEqual(['done', 'done', 'fenced', 'done']);
  expect(tickCount(target.db)).toBe(1);
});

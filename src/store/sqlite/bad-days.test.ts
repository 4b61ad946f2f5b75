import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useStoreFolder } from '../../../test/contract/store-folder.ts';
import { useProgram } from '../../../test/contract/store-process.ts';
import {
  aCommit,
  aPart,
  ampleCaps,
  everything,
  noise,
  take,
} from '../../../test/contract/store-subject.ts';
import { epochMs } from '../../model/ids.ts';
import { StoreError, type StoreErrorKind } from '../../ports/store.ts';
import { connect } from './connection.ts';
import { SCHEMA_VERSION } from './migrations.ts';
import { openSqliteStore } from './store.ts';

// Whatever is wrong with the file, whoever starts Bellows is told which file, what, and what to do.

const folder = useStoreFolder();

async function expectRefusal(
  path: string,
  kind: StoreErrorKind,
  message: RegExp,
  opening: Promise<unknown> = folder.open(path),
): Promise<void> {
  const error: unknown = await opening.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ kind, message: expect.stringMatching(message) });
  const text = (error as StoreError).message; // checked above
  expect(text).toContain(path);
  // One line, with what to do after the semicolon, and nothing of how the code is built.
  expect(text).toMatch(/^[^\n]+; [^\n]+$/);
  expect(text).not.toMatch(/\bat .*\.[jt]s|Error:|ConnectionFailed/);
}

const template = folder.fresh();

beforeAll(async () => {
  const options = { path: template, holder: 'a test', fleet: 'research', ...ampleCaps };
  const store = await openSqliteStore(options);
  const epoch = await take(store, 0);
  for (let seq = 0; seq < 20; seq++) {
    const documents = [{ kind: 'slice', id: `s${seq}`, text: `"${noise(seq, 3_000)}"` }] as const;
    const tick = { seq, atMs: epochMs(seq), parts: [aPart('a', noise(seq, 9_000))] };
    await store.commit(aCommit(epoch, { documents, tick }));
  }
  await store.close();
});

/** A file with a few documents and ticks in it, closed. */
function aDatabase(): string {
  const path = folder.fresh();
  copyFileSync(template, path);
  return path;
}

const alter = (path: string, sql: string): void => {
  const db = connect(path);
  db.exec(sql);
  db.close();
};

function overwrite(path: string, from: number, bytes: Uint8Array): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, from);
  closeSync(file);
}

describe('where the file should be', () => {
  test('there is no folder', async () => {
    const path = join(dirname(folder.fresh()), 'no', 'folder', 'b.db');
    await expectRefusal(
      path,
      'unavailable',
      /^the folder .*\/no\/folder of the database .*; create/,
    );
  });

  test('there is a folder', async () => {
    const path = folder.fresh();
    mkdirSync(path);
    await expectRefusal(
      path,
      'unavailable',
      / is not a file; set store.path to the name of a file/,
    );
  });

  test('the folder on the way is a file', async () => {
    const file = folder.fresh();
    writeFileSync(file, '');
    await expectRefusal(join(file, 'b.db'), 'unavailable', /^the folder .* is not a folder; /);
  });

  test('a link leads to it: the lock is that of the file', async () => {
    const path = folder.fresh();
    const link = folder.fresh();
    await folder.open(path);
    symlinkSync(path, link);
    await expectRefusal(path, 'locked', / is in use by a test /, folder.open(link));
  });
});

describe('what cannot be written', () => {
  const program = useProgram(`
    import { openSqliteReader, openSqliteStore } from './src/store/sqlite/store.ts';
    const [path, how] = process.argv.slice(2);
    const caps = { journalSizeMax: 1e9, journalAgeMaxMs: 1e9 };
    const options = { path, holder: 'x', fleet: 'research', ...caps };
    const all = { sinceMs: 0, afterSeq: -1, limit: 100 };
    try {
      const store = await (how === 'read' ? openSqliteReader(path) : openSqliteStore(options));
      console.log(JSON.stringify({ ticks: (await store.readTicks(all)).length }));
      await store.close();
    } catch ({ kind, message }) {
      console.log(JSON.stringify({ kind, message }));
    }
  `);
  const homes: string[] = [];
  // Else only root could remove what is in them.
  afterAll(() => homes.forEach((home) => chmodSync(home, 0o755)));

  // Root may write anything, so it starts the program as somebody else.
  const user = process.geteuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

  const runAs = (path: string, how: 'open' | 'read'): unknown => {
    const { stdout, stderr } = spawnSync(process.execPath, [program, path, how], {
      ...user,
      cwd: '/',
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  };

  /** A closed database in a folder of its own that others may enter and read. */
  function readOnlyFolder(): string {
    const source = aDatabase();
    chmodSync(dirname(source), 0o755);
    const home = `${folder.fresh()}.d`;
    mkdirSync(home);
    const path = join(home, 'b.db');
    copyFileSync(source, path);
    chmodSync(path, 0o444);
    chmodSync(home, 0o555);
    homes.push(home);
    return path;
  }

  const refusal = (path: string) => ({
    kind: 'read-only',
    message: expect.stringMatching(
      `^${path} cannot be written \\(E.*\\); let the user that runs Bellows write the file`,
    ),
  });

  test('a folder', () => {
    const path = readOnlyFolder();
    expect(runAs(path, 'open')).toEqual(refusal(path));
    const fresh = join(dirname(path), 'new.db');
    expect(runAs(fresh, 'open')).toEqual(refusal(fresh));
  });

  test('a file', () => {
    const path = readOnlyFolder();
    chmodSync(dirname(path), 0o777);
    expect(runAs(path, 'open')).toEqual(refusal(path));
  });

  test('can be read nevertheless', () => {
    const path = readOnlyFolder();
    expect(runAs(path, 'read')).toEqual({ ticks: 20 });
    expect(existsSync(`${path}-wal`)).toBe(false);
  });
});

describe('what is no database of ours', () => {
  test('a text', async () => {
    const path = folder.fresh();
    writeFileSync(path, 'groups: []\n'.repeat(1_000));
    await expectRefusal(path, 'corrupt', / is not a database; set store.path to another file/);
    const reading = folder.read(path);
    await expectRefusal(path, 'corrupt', / is not a database; /, reading);
  });

  test('a database of another program, which is left as it was', async () => {
    const path = folder.fresh();
    alter(path, 'CREATE TABLE t (a)');
    const size = statSync(path).size;
    await expectRefusal(path, 'corrupt', / is the database of another program; set store.path /);
    expect(statSync(path).size).toBe(size);
  });

  test('a database of a newer Bellows', async () => {
    const path = aDatabase();
    alter(path, 'PRAGMA user_version = 99');
    const message = new RegExp(
      ` has schema 99, this Bellows knows schemas up to ${SCHEMA_VERSION}: a newer .*; run that`,
    );
    await expectRefusal(path, 'newer-schema', message);
    await expectRefusal(path, 'newer-schema', message, folder.read(path));
  });

  test('an empty file is a new database, but nothing to read', async () => {
    const path = folder.fresh();
    writeFileSync(path, '');
    await expect(folder.read(path)).rejects.toThrow(`${path} is empty: no controller has used it`);
    expect(await (await folder.open(path)).load()).toEqual([]);
  });

  test('a lock that is not one', async () => {
    const path = folder.fresh();
    writeFileSync(`${path}.lock`, 'in use by me\n'.repeat(100));
    await expectRefusal(
      path,
      'unavailable',
      /\.lock should be an empty file and is not; remove it/,
    );
  });
});

describe('what is damaged', () => {
  const restore = / is damaged \(.*\); stop Bellows, move .*-wal and .*-shm, and put a backup/;

  test.each([
    ['pages overwritten', (path: string) => overwrite(path, 5 * 4_096, new Uint8Array(9 * 4_096))],
    ['a file cut short', (path: string) => truncateSync(path, 10 * 4_096 + 7)],
  ])('%s', async (_name, damage) => {
    const path = aDatabase();
    damage(path);
    await expectRefusal(path, 'corrupt', restore);
  });

  test('a flipped bit in a text of the journal', async () => {
    const path = aDatabase();
    alter(
      path,
      'UPDATE part SET data = zeroblob(length(data)) WHERE part = 3; PRAGMA user_version',
    );
    const reader = await folder.read(path);
    const [tick] = await reader.readTicks({ ...everything, afterSeq: 1, limit: 1 });
    const hashes = tick?.parts.map(({ hash }) => hash) ?? [];
    const reading = reader.readParts(hashes);
    await expectRefusal(
      path,
      'corrupt',
      / is damaged in the journal's part [0-9a-f]{64}; /,
      reading,
    );
  });
});

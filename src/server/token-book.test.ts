import { execFile } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { aFolder, eventually, type LogLine } from '../../test/shell-bench.ts';
import { epochMs } from '../model/ids.ts';
import { openTokenBook, type TokenBook } from './token-book.ts';

const nowMs = epochMs(1_700_000_000_000);
const wish = { name: 'ci', role: 'scheduler', expiresAtMs: null } as const;
const aPath = (): string => join(aFolder(), 'data', 'tokens.json');

async function create(book: TokenBook, over: Partial<Parameters<TokenBook['create']>[0]> = {}) {
  const outcome = await book.create({ ...wish, ...over }, nowMs);
  if (outcome.kind !== 'created') throw new Error(outcome.message);
  return outcome;
}

test('a token lives from create to revoke', async () => {
  const path = aPath();
  const book = openTokenBook(path);
  expect(book.list()).toEqual([]);
  const { secret, token } = await create(book);
  expect(secret).toMatch(/^blw_[\w-]{43}$/);
  expect(book.list()).toEqual([token]);
  expect(book.check(secret, nowMs)).toEqual({ kind: 'valid', token });
  expect(book.isValid(token.id, nowMs)).toBe(true);
  expect(await book.revoke('ci')).toEqual({ kind: 'revoked', token });
  expect(book.check(secret, nowMs)).toEqual({ kind: 'unknown' });
  expect(book.isValid(token.id, nowMs)).toBe(false);
});

test('the file holds no secret, and is for its owner alone', async () => {
  const path = aPath();
  const { secret } = await create(openTokenBook(path));
  const text = readFileSync(path, 'utf8');
  expect(text).not.toContain(secret);
  expect(text).not.toContain(secret.slice(4));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(path, '..'))).toEqual(['tokens.json']);
});

test('an expired token is told apart only from its own secret', async () => {
  const book = openTokenBook(aPath());
  const expiresAtMs = epochMs(nowMs + 1_000);
  const { secret, token } = await create(book, { expiresAtMs });
  expect(book.check(secret, epochMs(nowMs + 999)).kind).toBe('valid');
  expect(book.check(secret, expiresAtMs)).toEqual({ kind: 'expired', token });
  expect(book.isValid(token.id, expiresAtMs)).toBe(false);
});

// prettier-ignore: a table is read by column
test.each([
  [''],
  ['blw_'],
  ['Bearer'],
  [`blw_${'a'.repeat(43)}`],
  [`blw_${'a'.repeat(4_000)}`],
  ['blw_\u0000'],
])('%s opens nothing', async (secret) => {
  const book = openTokenBook(aPath());
  await create(book);
  expect(book.check(secret, nowMs)).toEqual({ kind: 'unknown' });
});

// prettier-ignore: a table is read by column
test.each([
  ['ci', 'there is a token ci already; revoke it, or take another name'],
  ['', 'cannot be the name of a token'],
  ['a b', 'cannot be the name of a token'],
  ['-rf', 'cannot be the name of a token'],
  ['local', 'not local or nobody'],
  ['x'.repeat(64), 'use up to 63 letters'],
])('the name %j is refused', async (name, message) => {
  const book = openTokenBook(aPath());
  await create(book);
  const outcome = await book.create({ ...wish, name }, nowMs);
  expect(outcome.kind === 'refused' && outcome.message).toContain(message);
  expect(book.list().length).toBe(1);
});

test('an unknown token is named with the nearest', async () => {
  const book = openTokenBook(aPath());
  expect(await book.revoke('x')).toEqual({
    kind: 'unknown',
    message: 'no token "x"; there are none',
  });
  await create(book, { name: 'nightly' });
  expect(await book.revoke('nigthly')).toMatchObject({
    message: 'no token "nigthly"; did you mean nightly?',
  });
  expect(await book.revoke('zzz')).toMatchObject({
    message: expect.stringContaining('bellows token list'),
  });
  const [token] = book.list();
  expect(await book.revoke(token?.id ?? '')).toMatchObject({ kind: 'revoked' });
});

test('a server sees what a command did, and keeps what it had when the file breaks', async () => {
  const path = aPath();
  const command = openTokenBook(path);
  const { secret } = await create(command, { name: 'first' });
  const log: LogLine[] = [];
  const served = openTokenBook(path, {
    log: { write: (level, event, fields) => void log.push({ level, event, ...fields }) },
  });
  const second = await create(command, { name: 'second' });
  await eventually(() => expect(served.check(second.secret, nowMs).kind).toBe('valid'));
  const good = readFileSync(path);
  writeFileSync(path, '{"format":');
  await eventually(() => {
    expect(served.check(secret, nowMs).kind).toBe('valid');
    expect(log).toMatchObject([{ level: 'error', event: 'tokens-unreadable', kept: 2 }]);
  });
  expect(JSON.stringify(log)).not.toContain(secret);
  writeFileSync(path, good);
  await command.revoke('first');
  await eventually(() => expect(served.check(secret, nowMs).kind).toBe('unknown'));
  expect(log.length).toBe(1);
});

describe('a file that is no good is told at the start', () => {
  // prettier-ignore: a table is read by column
  test.each([
    ['no JSON', 'hello', 'is no JSON'],
    ['another format', '{"format":"x","tokens":[]}', 'format'],
    [
      'a wrong role',
      '{"format":"bellows-tokens/1","tokens":[{"id":"00000000","name":"a","role":"root","hash":"","createdAt":"","expiresAt":null}]}',
      'tokens.0.',
    ],
    ['unknown fields', '{"format":"bellows-tokens/1","tokens":[],"more":1}', 'more'],
  ])('%s', (_name, text, message) => {
    const path = join(aFolder(), 'tokens.json');
    writeFileSync(path, text, { mode: 0o600 });
    expect(() => openTokenBook(path)).toThrow(path);
    expect(() => openTokenBook(path)).toThrow(message);
  });

  test('one that others may write', () => {
    const path = join(aFolder(), 'tokens.json');
    writeFileSync(path, '{"format":"bellows-tokens/1","tokens":[]}');
    chmodSync(path, 0o666);
    expect(() => openTokenBook(path)).toThrow(`run chmod 600 ${path}`);
  });

  test('a folder', () => {
    expect(() => openTokenBook(aFolder())).toThrow('is no file');
  });
});

describe('many at once', () => {
  test('books of one process lose nothing', async () => {
    const path = aPath();
    const names = Array.from({ length: 20 }, (_, n) => `token-${n}`);
    await Promise.all(names.map((name) => create(openTokenBook(path), { name })));
    expect(
      openTokenBook(path)
        .list()
        .map((token) => token.name),
    ).toEqual([...names].sort());
  });

  test('processes lose nothing, and one name has one owner', async () => {
    const folder = aFolder();
    const path = join(folder, 'tokens.json');
    const bundle = join(folder, 'create.mjs');
    await build({
      stdin: {
        contents: `import { openTokenBook } from './token-book.ts';
          const [path, name] = process.argv.slice(2);
          const wish = (name) => ({ name, role: 'viewer', expiresAtMs: null });
          const book = openTokenBook(path);
          const own = await book.create(wish(name), Date.now());
          const shared = await book.create(wish('shared'), Date.now());
          console.log(own.kind, shared.kind);`,
        resolveDir: import.meta.dirname,
      },
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: bundle,
      logLevel: 'warning',
    });
    const run = promisify(execFile);
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const runs = await Promise.all(
      names.map(async (name) => (await run(process.execPath, [bundle, path, name])).stdout.trim()),
    );
    expect(runs.filter((line) => line === 'created created').length).toBe(1);
    expect(runs.filter((line) => line === 'created refused').length).toBe(5);
    expect(
      openTokenBook(path)
        .list()
        .map((token) => token.name),
    ).toEqual([...names, 'shared']);
  });

  // prettier-ignore: a table is read by column
  test.each([
    ['of a dead process', '2147483646 00\n'],
    ['without a word', ''],
  ])('a lock %s is taken over', async (_name, mark) => {
    const path = join(aFolder(), 'tokens.json');
    writeFileSync(`${path}.lock`, mark);
    utimesSync(`${path}.lock`, 1, 1);
    await create(openTokenBook(path));
    expect(readdirSync(join(path, '..'))).toEqual(['tokens.json']);
  });

  test('a lock that is held is waited for, and then told', async () => {
    const path = join(aFolder(), 'tokens.json');
    writeFileSync(`${path}.lock`, `${process.pid} 00\n`);
    const book = openTokenBook(path, { lock: { waitMaxMs: 60 } });
    await expect(create(book)).rejects.toThrow(`is held by another process (${process.pid})`);
  });
});

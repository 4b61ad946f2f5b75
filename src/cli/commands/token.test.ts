import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aFolder } from '../../../test/shell-bench.ts';
import { epochMs } from '../../model/ids.ts';
import { openTokenBook } from '../../server/token-book.ts';
import { type CreateArgs, runTokenCreate, runTokenList, runTokenRevoke } from './token.ts';

const nowMs = epochMs(Date.parse('2026-11-15T10:00:00Z'));

/** The commands on a book of their own. */
function openCommands(path = join(aFolder(), 'tokens.json')) {
  const book = openTokenBook(path, { lock: { waitMaxMs: 50 } });
  const collect = async (run: (out: Parameters<typeof runTokenList>[2]) => Promise<number>) => {
    let [stdout, stderr] = ['', ''];
    const exit = await run({
      stdout: (text) => void (stdout += text),
      stderr: (text) => void (stderr += text),
      hasColour: false,
      hasProgress: false,
    });
    return { exit, stdout, stderr };
  };
  return {
    book,
    create: (args: CreateArgs) => collect((out) => runTokenCreate(args, book, out, nowMs)),
    list: (json = false, atMs = nowMs) => collect((out) => runTokenList({ json }, book, out, atMs)),
    revoke: (token: string, json = false) =>
      collect((out) => runTokenRevoke({ token, json }, book, out)),
  };
}

test('create prints the secret alone; list and revoke never do', async () => {
  const { book, create, list, revoke } = openCommands();
  const made = await create({ name: 'ci', role: 'scheduler', expires: '90d' });
  expect(made.exit).toBe(0);
  expect(made.stdout).toMatch(/^blw_[\w-]{43}\n$/);
  const [token] = book.list();
  expect(made.stderr).toBe(
    `Token ci (id ${token?.id}) with the role scheduler, valid until 2027-02-13T10:00:00Z. Its secret follows,\n` +
      `and is shown this once: put it in BELLOWS_TOKEN, or send it as "Authorization: Bearer SECRET".\n`,
  );
  expect(book.check(made.stdout.trim(), nowMs).kind).toBe('valid');
  const listed = await list();
  expect(listed.stdout).toBe(
    `  name  id        role       created               expires\n` +
      `  ci    ${token?.id}  scheduler  2026-11-15T10:00:00Z  2027-02-13T10:00:00Z\n`,
  );
  expect((await list(false, epochMs(nowMs + 91 * 86_400_000))).stdout).toContain('(expired)');
  expect(await revoke('ci')).toEqual({
    exit: 0,
    stdout: `Revoked ci (id ${token?.id}, role scheduler).\n`,
    stderr: '',
  });
  expect((await list()).stdout).toBe('No tokens. `bellows token create --role admin` makes one.\n');
});

test('with --json each prints one document', async () => {
  const { create, list, revoke } = openCommands();
  const made = JSON.parse((await create({ role: 'admin', json: true })).stdout);
  expect(made).toMatchObject({
    name: 'admin',
    role: 'admin',
    createdAt: '2026-11-15T10:00:00.000Z',
    expiresAt: null,
  });
  expect(made.secret).toMatch(/^blw_/);
  const { secret: _secret, ...rest } = made;
  expect(JSON.parse((await list(true)).stdout)).toEqual({
    tokens: [{ ...rest, isExpired: false }],
  });
  expect(JSON.parse((await revoke(made.id, true)).stdout)).toEqual({ revoked: rest });
  expect(JSON.parse((await list(true)).stdout)).toEqual({ tokens: [] });
});

test('without a name it is called after its role', async () => {
  const { book, create } = openCommands();
  for (const _ of [1, 2, 3]) await create({ role: 'viewer' });
  expect(book.list().map((token) => token.name)).toEqual(['viewer', 'viewer-2', 'viewer-3']);
});

// prettier-ignore: a table is read by column
test.each([
  [
    { role: 'admn' },
    2,
    '--role: "admn" is no role; the roles are viewer, worker, scheduler, operator, admin; did you mean admin?',
  ],
  [{ role: '' }, 2, '--role: "" is no role'],
  [{ role: 'admin', expires: '30' }, 2, '--expires: "30" has no unit; write 30s'],
  [{ role: 'admin', expires: 'soon' }, 2, '--expires: "soon" is not a duration'],
  [{ role: 'admin', expires: '0s' }, 2, '--expires: "0s" is over at once'],
  [{ role: 'admin', expires: '99999d' }, 2, '--expires: "99999d" is above'],
  [{ role: 'admin', name: 'a b' }, 2, '"a b" cannot be the name of a token'],
  [{ role: 'admin', name: 'taken' }, 1, 'there is a token taken already'],
])('create %j', async (args, exit, message) => {
  const { create, book } = openCommands();
  await create({ role: 'viewer', name: 'taken' });
  const made = await create(args);
  expect([made.exit, made.stdout]).toEqual([exit, '']);
  expect(made.stderr).toContain(`bellows: ${message}`);
  expect(book.list().length).toBe(1);
});

test('revoking what is not there names the nearest', async () => {
  const { create, revoke } = openCommands();
  await create({ role: 'viewer', name: 'nightly' });
  expect(await revoke('nigthly')).toEqual({
    exit: 1,
    stdout: '',
    stderr: 'bellows: no token "nigthly"; did you mean nightly?\n',
  });
});

test('a book that cannot be written is told in a sentence', async () => {
  const path = join(aFolder(), 'tokens.json');
  const { create } = openCommands(path);
  writeFileSync(`${path}.lock`, `${process.pid} 00\n`);
  const held = await create({ role: 'admin' });
  expect([held.exit, held.stdout]).toEqual([1, '']);
  expect(held.stderr).toContain('is held by another process');
  const folder = join(aFolder(), 'tokens.json');
  const broken = openCommands(folder);
  mkdirSync(folder);
  expect((await broken.create({ role: 'admin' })).stderr).toContain('is no file');
});

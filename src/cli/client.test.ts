import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { createServer as createHttpServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, expect, test } from 'vitest';
import { aPlace, openWireServer, runAgainst } from '../../test/wire-server.ts';
import { openRemote, runRemote, type ServerOptions } from './client.ts';
import { parseServerAddress } from './server-address.ts';
import type { Surroundings } from './surroundings.ts';

const folder = mkdtempSync(join(tmpdir(), 'bellows-client-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** A call like any other. */
const listFleets = (options: ServerOptions, around: Surroundings): Promise<number> =>
  runRemote(options, around, async ({ client }) => {
    const { version } = await client.listFleets({});
    around.out.stdout(version);
    return 0;
  });

// prettier-ignore: a table is read by column
test.each([
  ['127.0.0.1:7070', 'http://127.0.0.1:7070', false, true],
  ['localhost:80', 'http://localhost', false, true],
  ['http://127.1.2.3:7070/', 'http://127.1.2.3:7070', false, true],
  ['[::1]:7070', 'http://[::1]:7070', false, true],
  ['10.0.0.5:7070', 'http://10.0.0.5:7070', false, false],
  ['127.evil.example:7070', 'http://127.evil.example:7070', false, false],
  ['https://bellows.example', 'https://bellows.example', true, false],
  ['https://example.com/fleet/', 'https://example.com/fleet', true, false],
] as const)('the address %s', (raw, url, isSecure, isLoopback) => {
  expect(parseServerAddress(raw)).toEqual({ url, isSecure, isLoopback });
});

test.each([
  ['example.com', 'has no port'],
  ['ftp://example.com', 'is ftp, not http or https'],
  ['http://', 'is not an address'],
  ['http://a:70707', 'is not an address'],
  ['http://ana:secret@example.com', '"http://...@example.com" holds a name or password'],
  ['http://example.com?x=1', 'has more than a path'],
])('the address %s is refused', (raw, message) => {
  expect(() => parseServerAddress(raw)).toThrow(message);
  expect(() => parseServerAddress(raw)).not.toThrow('secret');
});

test('options win over the environment, the environment over the default', () => {
  const env = { BELLOWS_SERVER: 'localhost:1', BELLOWS_FLEET: 'research', BELLOWS_TOKEN: 'abc' };
  expect(openRemote({}, {})).toMatchObject({
    address: { url: 'http://127.0.0.1:7070' },
    fleet: '',
    hasToken: false,
    timeoutMs: 10_000,
  });
  expect(openRemote({}, env)).toMatchObject({
    address: { url: 'http://localhost:1' },
    fleet: 'research',
    hasToken: true,
  });
  expect(openRemote({ server: '127.0.0.1:2', fleet: 'other', timeout: '3s' }, env)).toMatchObject({
    address: { url: 'http://127.0.0.1:2' },
    fleet: 'other',
    timeoutMs: 3_000,
  });
});

test('the token goes in a header, from the file or from the environment', async () => {
  const seen: (string | undefined)[] = [];
  const server = await openWireServer(
    { listFleets: () => ({ version: '1', fleets: [] }) },
    { onRequest: ({ headers }) => void seen.push(headers.authorization) },
  );
  const env = { BELLOWS_TOKEN: 'from-env' };
  const tokenFile = write('token', 'from-file\n');
  await listFleets({ server: server.url }, aPlace({ env }).around);
  await listFleets({ server: server.url, tokenFile }, aPlace({ env }).around);
  await listFleets({ server: server.url }, aPlace().around);
  await server.close();
  expect(seen).toEqual(['Bearer from-env', 'Bearer from-file', undefined]);
});

const secret = 'hunter2';
const twoWords = write('two', `${secret} ${secret}`);
const empty = write('empty', '\n');
test.each([
  [
    'a token on the command line',
    { token: secret },
    {},
    'a token on the command line shows in the list of processes',
  ],
  [
    'a token in the clear',
    { server: '10.0.0.5:7070' },
    { BELLOWS_TOKEN: secret },
    'the token would travel in the clear to http://10.0.0.5:7070; use https://, or say --insecure',
  ],
  ['a file of two words', { tokenFile: twoWords }, {}, 'holds more than one word'],
  ['a file of none', { tokenFile: empty }, {}, 'is empty; it must hold a token'],
  ['no such file', { tokenFile: join(folder, 'none') }, {}, 'there is no such file'],
  [
    'an authority without https',
    { ca: twoWords },
    {},
    '--ca: http://127.0.0.1:7070 is not encrypted',
  ],
  [
    'an authority that is none',
    { ca: twoWords, server: 'https://localhost:7070' },
    {},
    'holds no certificate; give one in PEM form',
  ],
  ['a timeout without unit', { timeout: '10' }, {}, '--timeout: "10" has no unit'],
  ['a timeout of nothing', { timeout: '1ms' }, {}, '--timeout: 1ms is outside 100ms to 1h'],
] as const)('refused with exit 2: %s', async (_name, options, env, message) => {
  const { around, printed } = aPlace({ env });
  expect(await listFleets(options, around)).toBe(2);
  expect(printed.stdout).toBe('');
  expect(printed.stderr).toContain(message);
  expect(printed.stderr).not.toContain(secret);
});

test('--insecure lets a token go over http', () => {
  const remote = openRemote({ server: '10.0.0.5:1', insecure: true }, { BELLOWS_TOKEN: 'abc' });
  expect(remote.hasToken).toBe(true);
});

// prettier-ignore: a table is read by column
test.each([
  [
    Code.Unauthenticated,
    1,
    'http://server asks who you are: said so; give a token with --token-file FILE or BELLOWS_TOKEN\n',
  ],
  [Code.PermissionDenied, 1, 'not allowed: said so\n'],
  [Code.NotFound, 1, 'said so\n'],
  [Code.InvalidArgument, 2, 'said so\n'],
  [Code.FailedPrecondition, 1, 'said so\n'],
  [Code.Unavailable, 1, 'http://server cannot answer now: said so; try again in a moment\n'],
  [Code.ResourceExhausted, 1, 'too much: said so\n'],
  [
    Code.Unimplemented,
    1,
    'http://server does not know this call (said so); it is an older Bellows, or something else: check --server\n',
  ],
  [
    Code.Internal,
    1,
    'http://server failed: said so; see its log, or check --server if it is not Bellows\n',
  ],
] as const)('code %i gives exit %i and a sentence', async (code, exit, stderr) => {
  const routes = {
    listFleets: () => {
      throw new ConnectError('said\u001B[2J so', code);
    },
  };
  expect(await runAgainst(routes, listFleets)).toEqual({
    exit,
    stdout: '',
    stderr: stderr.replace('said so', 'said [2J so'),
  });
});

test('a token that is not accepted is not told to be missing', async () => {
  const routes = {
    listFleets: () => {
      throw new ConnectError('it has expired', Code.Unauthenticated);
    },
  };
  const place = aPlace({ env: { BELLOWS_TOKEN: secret } });
  const { stderr } = await runAgainst(routes, listFleets, place);
  expect(stderr).toMatch('does not accept the token: it has expired; check it, or create one');
});

test('nothing there, nobody of that name, no answer in time, and something else', async () => {
  const run = async (options: ServerOptions) => {
    const { around, printed } = aPlace();
    const exit = await listFleets(options, around);
    return `${exit} ${printed.stderr}`;
  };
  const gone = await openWireServer({});
  await gone.close();
  expect(await run({ server: gone.url })).toBe(
    `1 nothing listens on ${gone.url}; start it with \`bellows up\`, or set --server\n`,
  );
  const unknown = 'http://no-such-host.invalid:7070';
  expect(await run({ server: unknown })).toMatch(/^1 .*(is not known|cannot be reached)/);

  const silent = createServer((socket) => void socket.on('error', () => socket.destroy()));
  await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { port: number }; // a server on TCP has one
  const began = performance.now();
  expect(await run({ server: `127.0.0.1:${port}`, timeout: '200ms' })).toBe(
    `1 http://127.0.0.1:${port} gave no answer within 200ms; --timeout 1m waits longer\n`,
  );
  expect(performance.now() - began).toBeLessThan(5_000);
  silent.close();

  const website = createHttpServer((_request, response) => void response.end('<html>'));
  await new Promise<void>((resolve) => void website.listen(0, '127.0.0.1', resolve));
  const web = website.address() as { port: number }; // a server on TCP has one
  expect(await run({ server: `127.0.0.1:${web.port}` })).toMatch(
    /^1 .*check --server if it is not/,
  );
  expect(await run({ server: `https://127.0.0.1:${web.port}` })).toMatch(
    /^1 .*does not speak https/,
  );
  website.close();
  website.closeAllConnections();
});

test('what is no failed call is a bug and goes on', async () => {
  const broken = runRemote({}, aPlace().around, () => Promise.reject(new TypeError('oops')));
  await expect(broken).rejects.toThrow('oops');
});

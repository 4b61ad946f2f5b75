import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type Client, Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { describe, expect, test } from 'vitest';
import {
  ask,
  askHttp2,
  type Bench,
  envelope,
  eventually,
  expectQuiet,
  openBench,
  rpcPath,
  takePort,
} from '../../test/shell-bench.ts';
import { AutoscalerService } from '../api/gen/bellows/v1/autoscaler_pb.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`../../test/fixtures/${name}`, import.meta.url), 'utf8');
const cert = fixture('test-only-tls.cert.pem');
const tls = { cert, key: fixture('test-only-tls.key.pem') };

type Http = '1.1' | '2';
const nodeOptions = { ca: cert };
const transports: readonly (readonly [name: string, open: (baseUrl: string) => Transport])[] = [
  ...(['1.1', '2'] as const).flatMap((httpVersion: Http) => [
    [
      `Connect JSON over HTTP/${httpVersion}`,
      (baseUrl: string) =>
        createConnectTransport({ baseUrl, httpVersion, useBinaryFormat: false, nodeOptions }),
    ] as const,
    [
      `Connect binary over HTTP/${httpVersion}`,
      (baseUrl: string) =>
        createConnectTransport({ baseUrl, httpVersion, useBinaryFormat: true, nodeOptions }),
    ] as const,
    [
      `gRPC-Web over HTTP/${httpVersion}`,
      (baseUrl: string) => createGrpcWebTransport({ baseUrl, httpVersion, nodeOptions }),
    ] as const,
  ]),
  ['gRPC', (baseUrl: string) => createGrpcTransport({ baseUrl, nodeOptions })],
];

const clientOf = (
  bench: Bench,
  open: (baseUrl: string) => Transport,
): Client<typeof AutoscalerService> => createClient(AutoscalerService, open(bench.server.url));

const codeOf = async (promise: Promise<unknown>): Promise<Code> => {
  try {
    await promise;
  } catch (error) {
    return ConnectError.from(error).code;
  }
  throw new Error('it was answered');
};

describe.each(['clear', 'TLS'])('%s', (kind) => {
  test.each(transports)('%s: calls, pages, streams, refusals', async (_name, open) => {
    const bench = await openBench({ tls: kind === 'TLS' ? tls : null });
    const client = clientOf(bench, open);
    expect((await client.listFleets({})).version).toBe('local');
    const pushed = await client.pushDemand({ source: 's', entries: [{ id: 'a' }, { id: 'b' }] });
    expect(pushed.entryCount).toBe(2n);
    async function* pages() {
      for (const id of ['a', 'b', 'c'])
        yield { push: { source: 's', generation: 4n, entries: [{ id }] } };
    }
    expect((await client.streamDemand(pages())).push?.entryCount).toBe(3n);
    let ticks = 0;
    const watching = new AbortController();
    const watched = (async () => {
      for await (const { status } of client.watchStatus({}, { signal: watching.signal })) {
        if (status?.tick === BigInt(++ticks) && ticks === 3) watching.abort();
      }
    })();
    expect(await codeOf(watched)).toBe(Code.Canceled);
    expect(ticks).toBe(3);
    expect(await codeOf(client.drainSlice({ sliceId: 'x' }))).toBe(Code.NotFound);
    await eventually(() => expect(bench.server.counts()).toMatchObject({ calls: 0, streams: 0 }));
    expect(bench.log.filter((line) => line.level === 'error')).toEqual([]);
  });
});

describe('a large page in JSON', () => {
  const entries = Array.from({ length: 2_000 }, (_, n) => ({ id: `entry-${n}`, owner: 'someone' }));
  const page = (over: object = {}) =>
    JSON.stringify({ source: 'slurm', generation: '7', entries, ...over });

  test('comes whole to its route and to the log, packed or not', async () => {
    const { server, audit } = await openBench();
    const plain = await ask(server, 'PushDemand', { body: page() });
    const headers = { 'content-encoding': 'gzip' };
    const packed = await ask(server, 'PushDemand', { body: gzipSync(page()), headers });
    for (const { status, body } of [plain, packed]) {
      expect([status, JSON.parse(body).entryCount]).toEqual([200, '2000']);
    }
    expect(audit.map(({ outcome, subject }) => [outcome, subject])).toEqual(
      Array.from({ length: 2 }, () => [
        'ok',
        expect.objectContaining({ source: 'slurm', generation: '7', entries: 2_000 }),
      ]),
    );
  });

  test('is refused with the place of what is wrong', async () => {
    const { server, audit, log } = await openBench();
    const wrong = [...entries, { id: 'last', prio: 1 }];
    const answer = await ask(server, 'PushDemand', { body: page({ entries: wrong }) });
    expect(answer).toMatchObject({ status: 400, code: 'invalid_argument' });
    expect(answer.message).toContain('entries[2000]: ');
    expect(answer.message).toContain('"prio" is unknown');
    expect(audit.map(({ outcome }) => outcome)).toEqual(['invalid_argument']);
    expect(log).toEqual([]);
  });

  test('is refused as a whole where it is none, and where it is too large', async () => {
    const { server } = await openBench({ bodyMaxBytes: 100_000 });
    const cut = await ask(server, 'PushDemand', { body: page().slice(0, -10) });
    expect(cut).toMatchObject({ status: 400, code: 'invalid_argument' });
    const large = await ask(server, 'PushDemand', { body: page({ source: 'x'.repeat(90_000) }) });
    expect(large).toMatchObject({ status: 429, code: 'resource_exhausted' });
    expect(large.message).toContain('server.bodyMax');
  });
});

describe('bytes that are no message are the sender’s fault', () => {
  const garbage = Uint8Array.from({ length: 40 }, () => 0xff);
  const message = 'the body is no bellows.v1.PushDemandRequest in protobuf';

  test('in Connect', async () => {
    const { server, audit, log } = await openBench();
    const headers = { 'content-type': 'application/proto' };
    const answer = await ask(server, 'PushDemand', { headers, body: garbage });
    expect(answer).toMatchObject({ status: 400, code: 'invalid_argument' });
    expect(answer.message).toContain(message);
    expect(audit.map(({ rpc, outcome }) => [rpc, outcome])).toEqual([
      ['PushDemand', 'invalid_argument'],
    ]);
    expect(log).toEqual([]);
  });

  test('in gRPC-Web', async () => {
    const { server } = await openBench();
    const headers = { 'content-type': 'application/grpc-web+proto' };
    const answer = await ask(server, 'PushDemand', { headers, body: envelope(garbage) });
    expect(answer.body).toContain('grpc-status: 3');
    expect(decodeURIComponent(answer.body)).toContain(message);
  });

  test('in gRPC', async () => {
    const { server } = await openBench();
    const answer = await askHttp2(server, 'PushDemand', { body: envelope(garbage) });
    expect(answer).toMatchObject({ ':status': 200, 'grpc-status': '3' });
    expect(decodeURIComponent(String(answer['grpc-message']))).toContain(message);
  });

  test.each(['WatchStatus', 'StreamDemand'])('on the stream of %s', async (rpc) => {
    const { server, log } = await openBench();
    const answer = await askHttp2(server, rpc, { body: envelope(garbage) });
    expect(answer).toMatchObject({ ':status': 200, 'grpc-status': '3' });
    const headers = { 'content-type': 'application/connect+proto' };
    const inConnect = await ask(server, rpc, { headers, body: envelope(garbage) });
    expect(inConnect.body).toContain('"code":"invalid_argument"');
    expect(log).toEqual([]);
  });

  test.each([
    ['half an envelope', envelope(garbage).subarray(0, 20)],
    ['half a head', Uint8Array.from([0, 0])],
    ['no envelope', garbage],
    ['a flag for packing that was not named', envelope(garbage, 1)],
  ])('%s', async (_name, body) => {
    const { server, log } = await openBench();
    expect(['3', '8', '12']).toContain(
      (await askHttp2(server, 'PushDemand', { body }))['grpc-status'],
    );
    expect(log).toEqual([]);
  });
});

describe('requests that are no good', () => {
  // prettier-ignore: a table is read by column
  test.each([
    ['an unknown field', 'PushDemand', '{"sauce":"x"}', 'key "sauce" is unknown'],
    ['an unknown field below', 'PushDemand', '{"entries":[{"idd":"x"}]}', 'key "idd" is unknown'],
    ['malformed JSON', 'PushDemand', '{"source":', 'JSON'],
    ['a wrong type', 'PushDemand', '{"source":7}', 'source'],
    ['no object', 'PushDemand', '[1,2]', 'PushDemandRequest'],
    ['nothing', 'PushDemand', '', 'JSON'],
  ])('%s is named', async (_name, rpc, body, word) => {
    const { server } = await openBench();
    const answer = await ask(server, rpc, { body });
    expect(answer).toMatchObject({ status: 400, code: 'invalid_argument' });
    expect(answer.message).toContain(word);
  });

  // prettier-ignore: a table is read by column
  test.each([
    ['GET', { method: 'GET' }, 405, 'by POST'],
    ['a form of a page', { headers: { 'content-type': 'text/plain' } }, 415, 'application/json'],
    ['no content type', { headers: { 'content-type': '' } }, 415, 'application/json'],
    [
      'a stream type',
      { headers: { 'content-type': 'application/connect+json' } },
      415,
      'application/json',
    ],
    ['an unknown packing', { headers: { 'content-encoding': 'zip' } }, 501, 'zip'],
    ['no gzip', { headers: { 'content-encoding': 'gzip' }, body: 'abc' }, 400, 'gzip'],
    [
      'half a gzip',
      {
        headers: { 'content-encoding': 'gzip' },
        body: gzipSync('{}'.padEnd(1_000)).subarray(0, 20),
      },
      400,
      'gzip',
    ],
    ['a bad deadline', { headers: { 'connect-timeout-ms': 'soon' } }, 400, 'soon'],
  ])('%s is refused', async (_name, over, status, word) => {
    const { server } = await openBench();
    const answer = await ask(server, 'ListFleets', over);
    expect(answer.status).toBe(status);
    expect(answer.message).toContain(word);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  });

  // prettier-ignore: a table is read by column
  test.each([
    [rpcPath('PushDemnad'), 'did you mean /bellows.v1.AutoscalerService/PushDemand?'],
    ['/bellows.v2.Other/X', 'docs/api.md'],
    ['/', 'calls go by POST'],
    ['//evil.example/', 'calls go by POST'],
    ['/%ff', 'calls go by POST'],
  ])('%s is nowhere', async (path, word) => {
    const { server } = await openBench();
    const answer = await ask(server, path);
    expect(answer.status).toBe(404);
    expect(answer.message).toContain(word);
  });

  test('a page gets paths that are no call', async () => {
    const { server } = await openBench({
      fallback: (_request, response) => void response.end('a page'),
    });
    expect((await ask(server, '/slices', { method: 'GET' })).body).toBe('a page');
  });
});

test('a deadline in a hundred days is one', async () => {
  const { server } = await openBench();
  const headers = { 'connect-timeout-ms': '8640000000' };
  expect((await ask(server, 'ListSlices', { headers })).status).toBe(200);
});

test('what goes wrong inside stays inside, under an id', async () => {
  const { server, log } = await openBench();
  const answer = await ask(server, 'Explain');
  expect(answer).toMatchObject({ status: 500, code: 'internal' });
  expect(answer.body).not.toMatch(/secret|\/var|at /);
  const id = /internal error (\w+)/.exec(answer.message)?.[1];
  expect(log).toMatchObject([{ event: 'call-failed', id, rpc: 'Explain' }]);
  expect(log[0]?.['message']).toContain('a secret');
});

describe('addresses', () => {
  const open = (listen: string) => openBench({ listen });

  test('a port that is taken is named, with what to do', async () => {
    const port = await takePort();
    await expect(open(`127.0.0.1:${port}`)).rejects.toThrow(
      `127.0.0.1:${port} is in use by another process; stop that one, or set server.listen`,
    );
  });

  test.each([
    ['7070', 'is no address to listen on'],
    ['127.0.0.1', 'is no address to listen on'],
    ['127.0.0.1:99999', 'has a port above 65535'],
    ['[zz]:1', 'has no IPv6 address in brackets'],
    ['999.1.1.1:1', 'has no IPv4 address'],
    ['http://localhost:7070', 'is no address to listen on'],
  ])('%s', async (listen, message) => {
    await expect(open(listen)).rejects.toThrow(message);
  });

  test('another machine’s address is no good', async () => {
    const prepare = (tokens: Bench['tokens']) =>
      tokens.create({ name: 'a', role: 'admin', expiresAtMs: null }, 0 as never);
    await expect(openBench({ listen: '192.0.2.1:0' }, prepare)).rejects.toThrow(
      'is no address of this machine',
    );
  });

  test('IPv6 loopback', async () => {
    const { server } = await openBench({ listen: '[::1]:0' });
    expect(server.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    const client = createClient(
      AutoscalerService,
      createConnectTransport({ baseUrl: server.url, httpVersion: '1.1' }),
    );
    expect((await client.listFleets({})).version).toBe('local');
  });

  test('other machines are let in with tokens only, and a warning without TLS', async () => {
    await expect(open('0.0.0.0:0')).rejects.toThrow('bellows token create --role admin');
    const prepare = (tokens: Bench['tokens']) =>
      tokens.create({ name: 'a', role: 'admin', expiresAtMs: null }, 0 as never);
    const bench = await openBench({ listen: '0.0.0.0:0' }, prepare);
    expect(bench.log.map((line) => [line.level, line.event])).toEqual([['warn', 'no-tls']]);
    expect(await ask(bench.server, 'ListFleets')).toMatchObject({ code: 'unauthenticated' });
    const quiet = await openBench({ listen: '0.0.0.0:0', tls }, prepare);
    expect(quiet.log).toEqual([]);
  });

  test('a certificate that is none is told', async () => {
    const bad = { cert: 'no PEM', key: 'no PEM' };
    await expect(openBench({ tls: bad })).rejects.toThrow('check that server.tls names PEM files');
  });

  test('an allowed name that is none is told', async () => {
    await expect(openBench({ allowedHosts: ['a b'] })).rejects.toThrow('"a b" is no host name');
  });
});

describe('closing', () => {
  test('lets a call finish, ends streams, takes nobody new', async () => {
    const bench = await openBench();
    const client = clientOf(bench, (baseUrl) => createGrpcTransport({ baseUrl }));
    const running = client.listSlices({});
    const watched = (async () => {
      for await (const _update of client.watchStatus({}));
    })();
    const plain = ask(bench.server, 'ListSlices');
    await eventually(() => expect(bench.server.counts()).toMatchObject({ calls: 2, streams: 1 }));
    const closed = bench.server.close(5_000);
    expect(await codeOf(watched)).toBe(Code.Unavailable);
    expect((await running).totalCount).toBe(7);
    expect((await plain).status).toBe(200);
    await closed;
    await expectQuiet(bench.server);
    await expect(ask(bench.server, 'ListFleets')).rejects.toThrow('ECONNREFUSED');
  });

  test('does not wait for clients that only keep a connection', async () => {
    const bench = await openBench();
    const client = clientOf(bench, (baseUrl) =>
      createConnectTransport({
        baseUrl,
        httpVersion: '1.1',
        nodeOptions: { agent: new Agent({ keepAlive: true }) },
      }),
    );
    await client.listFleets({});
    const watched = (async () => {
      for await (const _update of client.watchStatus({}));
    })();
    const silent = connect({ port: bench.server.port, host: '127.0.0.1' });
    silent.on('error', () => undefined);
    await eventually(() =>
      expect(bench.server.counts()).toMatchObject({ streams: 1, connections: 2 }),
    );
    const startedMs = performance.now();
    await Promise.all([bench.server.close(60_000), codeOf(watched)]);
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    await expectQuiet(bench.server);
  });

  test('cuts what does not end within the grace', async () => {
    const bench = await openBench();
    const hung = ask(bench.server, 'ListEvents').catch((error: unknown) => error);
    await eventually(() => expect(bench.server.counts().calls).toBe(1));
    await bench.server.close(50);
    expect(await hung).toBeInstanceOf(Error);
    await expectQuiet(bench.server);
  });
});

import { connect as connectHttp2 } from 'node:http2';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { create, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { PushDemandRequestSchema } from '../../src/api/gen/bellows/v1/demand_pb.ts';
import { createRoutes } from '../../src/server/routes.ts';
import type { RunningServer, ServerOptions } from '../../src/server/server.ts';
import { systemClock } from '../../src/wiring/system-clock.ts';
import { startRealFleet } from '../real-fleet.ts';
import {
  ask,
  type Bench,
  benchRoutes,
  envelope,
  expectQuiet,
  openBench,
  rpcPath,
} from '../shell-bench.ts';

// Whatever bytes come, the server answers the next caller, holds nothing open, and tells nothing.

/** Rounds of each kind, and exchanges side by side in a round. */
const ROUNDS = 40;
const SIDE_BY_SIDE = 12;
/** A client waits so long for an answer, then leaves. */
const PATIENCE_MS = 30;
const HEAP_GROWTH_MAX_BYTES = 64 * 1_048_576;

const complaints: string[] = [];
const complain = (error: unknown): void => void complaints.push(String(error));
beforeAll(() => {
  process.on('unhandledRejection', complain);
  process.on('warning', complain);
});
afterAll(() => {
  process.off('unhandledRejection', complain);
  process.off('warning', complain);
});

const message = create(PushDemandRequestSchema, {
  source: 'fuzz',
  generation: 12n,
  baseGeneration: 11n,
  entries: [
    { id: 'a', count: 3, form: { case: 'single', value: { resources: { cpu: 1.5 } } } },
    { id: 'b', form: { case: 'gang', value: { taskCount: 4 } }, priority: -2 },
  ],
  removedIds: ['c'],
  ttl: { seconds: 60n },
});
const binary = Buffer.from(toBinary(PushDemandRequestSchema, message));
const json = Buffer.from(
  '{"source":"fuzz","generation":"12","entries":[{"id":"a","count":3,"single":{"resources":{"cpu":1.5}}}]}',
);

interface Form {
  readonly rpc: string;
  readonly type: string;
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

const end = envelope(Buffer.from('{}'), 2);
const forms: readonly Form[] = [
  { rpc: 'PushDemand', type: 'application/json', body: json },
  { rpc: 'PushDemand', type: 'application/proto', body: binary },
  {
    rpc: 'PushDemand',
    type: 'application/json',
    body: gzipSync(json),
    headers: { 'content-encoding': 'gzip' },
  },
  { rpc: 'PushDemand', type: 'application/grpc-web+proto', body: envelope(binary) },
  { rpc: 'PushDemand', type: 'application/grpc+proto', body: envelope(binary) },
  {
    rpc: 'StreamDemand',
    type: 'application/connect+proto',
    body: Buffer.concat([envelope(binary), end]),
  },
  {
    rpc: 'StreamDemand',
    type: 'application/connect+json',
    body: Buffer.concat([envelope(Buffer.from('{"push":{}}')), end]),
  },
  { rpc: 'WatchStatus', type: 'application/connect+json', body: envelope(Buffer.from('{}')) },
  { rpc: 'Pause', type: 'application/json', body: Buffer.from('{"what":"both"}') },
];

function toHttp1({ rpc, type, body, headers = {} }: Form): Buffer {
  const lines = Object.entries({
    ...headers,
    'content-type': type,
    'content-length': String(body.byteLength),
  });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([
    Buffer.from(`POST ${rpcPath(rpc)} HTTP/1.1\r\nHost: localhost\r\n${head}\r\n`),
    body,
  ]);
}

/** One change to some bytes: a bit, a cut, a copy, something put in. */
interface Mutation {
  readonly at: number;
  readonly kind: 'flip' | 'cut' | 'drop' | 'repeat' | 'insert';
  readonly bytes: Uint8Array;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  kind: fc.constantFrom('flip', 'cut', 'drop', 'repeat', 'insert'),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 12 }),
});

function mutate(from: Buffer, mutations: readonly Mutation[]): Buffer {
  return mutations.reduce((before, { at, kind, bytes }) => {
    const index = Math.min(before.byteLength - 1, Math.floor(at * before.byteLength));
    const [head, tail] = [
      before.subarray(0, Math.max(0, index)),
      before.subarray(Math.max(0, index)),
    ];
    switch (kind) {
      case 'flip': {
        const flipped = Buffer.from(tail);
        if (flipped.byteLength > 0) flipped[0] = (flipped[0] ?? 0) ^ (bytes[0] ?? 1);
        return Buffer.concat([head, flipped]);
      }
      case 'cut':
        return head;
      case 'drop':
        return Buffer.concat([head, tail.subarray(bytes.byteLength)]);
      case 'repeat':
        return Buffer.concat([head, tail.subarray(0, 20), tail]);
      default:
        return Buffer.concat([head, bytes, tail]);
    }
  }, from);
}

/** Sends, waits a little for an answer, and leaves; gives what was heard. */
function throwAt(
  server: RunningServer,
  bytes: Uint8Array,
  patienceMs = PATIENCE_MS,
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port: server.port, host: '127.0.0.1' });
    let heard = '';
    const leave = setTimeout(() => socket.destroy(), patienceMs);
    socket.on('data', (chunk) => (heard += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(leave);
      resolve(heard);
    });
    socket.write(bytes);
  });
}

function expectDiscreet(heard: readonly string[]): void {
  for (const text of heard) {
    expect(text).not.toMatch(/"code":"internal"|grpc-status: 13|\.ts:\d|node_modules|\n {4}at /);
  }
}

type Routes = ServerOptions['routes'];

async function openTarget(routes: Routes): Promise<Bench> {
  return openBench({
    routes,
    bodyMaxBytes: 65_536,
    limits: {
      firstBytesMs: 200,
      headersMs: 300,
      bodyMs: 300,
      idleMs: 1_000,
      lingerMs: 50,
      callMs: 500,
    },
  });
}

/** Rounds of exchanges; after them the server is as before. */
async function fuzz<T>(
  exchange: fc.Arbitrary<T>,
  run: (bench: Bench, one: T) => Promise<string>,
  routes: Routes = (router) => benchRoutes(router),
): Promise<void> {
  const bench = await openTarget(routes);
  const { server } = bench;
  expect((await ask(server, 'ListFleets')).status).toBe(200);
  const heapBefore = heapBytes();
  const batch = fc.array(exchange, { minLength: SIDE_BY_SIDE, maxLength: SIDE_BY_SIDE });
  await fc.assert(
    fc.asyncProperty(batch, async (exchanges) => {
      expectDiscreet(await Promise.all(exchanges.map((one) => run(bench, one))));
    }),
    { numRuns: ROUNDS, endOnFailure: true },
  );
  await expectQuiet(server);
  expect((await ask(server, 'ListFleets')).status).toBe(200);
  await expectQuiet(server);
  expect(bench.log.filter((line) => line.level === 'error')).toEqual([]);
  expect(complaints).toEqual([]);
  expect(heapBytes() - heapBefore).toBeLessThan(HEAP_GROWTH_MAX_BYTES);
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
  return process.memoryUsage().heapUsed;
}

test('any bytes, after any beginning', async () => {
  const beginnings = fc.constantFrom(
    '',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'GET / HTTP/1.1\r\n',
    `POST ${rpcPath('PushDemand')} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`,
    `POST ${rpcPath('PushDemand')} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/proto\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  const bytes = fc.uint8Array({ maxLength: 600 });
  await fuzz(fc.tuple(beginnings, bytes), ({ server }, [beginning, rest]) =>
    throwAt(server, Buffer.concat([Buffer.from(beginning), rest])),
  );
});

test('good requests of HTTP/1.1, changed in a few places', async () => {
  const changes = fc.array(mutation, { minLength: 1, maxLength: 4 });
  await fuzz(fc.tuple(fc.constantFrom(...forms), changes), ({ server }, [form, mutations]) =>
    throwAt(server, mutate(toHttp1(form), mutations)),
  );
});

test('good requests whose body was changed', async () => {
  const changes = fc.array(mutation, { minLength: 1, maxLength: 4 });
  await fuzz(fc.tuple(fc.constantFrom(...forms), changes), ({ server }, [form, mutations]) =>
    throwAt(server, toHttp1({ ...form, body: mutate(form.body, mutations) })),
  );
});

const asked: Readonly<Record<string, object>> = {
  ReportHosts: { reports: [{ sliceId: 's', hostIndex: 1, free: { cpu: 2 }, busy: true }] },
  RequestResources: { id: 'f', ask: { resources: { cpu: 1 } }, count: 2, ttl: '60s' },
  GetAutoscalerStatus: { fleet: 'local' },
  ListEntries: { outcome: 'unmet', pageSize: 10, pageToken: 'abc' },
  ListSlices: { group: 'local', statuses: ['ready'], withHistory: true },
  ListEvents: { since: '2026-01-01T00:00:00Z', kinds: ['slice-moved'], afterSeq: '3' },
  Explain: { subject: 'job/3' },
  DrainSlice: { sliceId: 'local-1-2-3', reason: 'why not', deadline: '10s' },
  ProtectSlice: { sliceId: 'local-1-2-3', undo: true },
  Pause: { what: 'both', group: 'local', reason: 'why not', ttl: '60s' },
  Resume: { pauseId: 'p-1' },
  ReloadConfig: { dryRun: true },
};

test('the routes themselves, over a fleet that runs', async () => {
  const fleet = startRealFleet();
  onTestFinished(() => fleet.stop());
  const type = 'application/json';
  const all = [
    ...forms,
    ...Object.entries(asked).map(([rpc, body]): Form => {
      return { rpc, type, body: Buffer.from(JSON.stringify(body)) };
    }),
  ];
  const changes = fc.array(mutation, { maxLength: 2 });
  const routes = createRoutes([fleet], { version: 'test', clock: systemClock });
  await fuzz(
    fc.tuple(fc.constantFrom(...all), changes),
    ({ server }, [form, mutations]) =>
      throwAt(server, toHttp1({ ...form, body: mutate(form.body, mutations) })),
    routes,
  );
});

test('good conversations of HTTP/2, changed in a few places', async () => {
  const conversations = await Promise.all(forms.slice(0, 5).map(recordHttp2));
  const honest = await openTarget((router) => benchRoutes(router));
  for (const bytes of conversations) await throwAt(honest.server, bytes, 500);
  expect(honest.audit.map((line) => line.outcome)).toEqual(conversations.map(() => 'ok'));
  const changes = fc.array(mutation, { minLength: 1, maxLength: 4 });
  await fuzz(
    fc.tuple(fc.constantFrom(...conversations), changes),
    ({ server }, [bytes, mutations]) => throwAt(server, mutate(bytes, mutations)),
  );
});

test('any method, path and headers', async () => {
  const word = fc
    .string({ unit: 'grapheme-ascii', maxLength: 40 })
    .map((text) => text.replaceAll(/[\r\n]/g, ''));
  const request = fc.record({
    method: fc.constantFrom(
      'GET',
      'POST',
      'PUT',
      'HEAD',
      'OPTIONS',
      'DELETE',
      'PATCH',
      'TRACE',
      'QUERY',
    ),
    path: fc.oneof(
      fc.constantFrom(...forms.map(({ rpc }) => rpcPath(rpc))),
      word.map((text) => `/${text.replaceAll(' ', '')}`),
    ),
    headers: fc.array(
      fc.tuple(
        fc.constantFrom(
          'Host',
          'Origin',
          'Authorization',
          'Content-Type',
          'Content-Encoding',
          'Expect',
          'Connection',
          'Upgrade',
          'Connect-Timeout-Ms',
          'Grpc-Timeout',
          'Connect-Protocol-Version',
          'Sec-Fetch-Site',
          'Accept-Encoding',
          'Te',
          'X-Any',
        ),
        fc.oneof(
          word,
          fc.constantFrom(
            'localhost',
            'application/json',
            'gzip',
            '100-continue',
            'close',
            'h2c',
            '9999999999',
            '99999999H',
            '-1',
          ),
        ),
      ),
      { maxLength: 8 },
    ),
    body: fc.constantFrom('', '{}', '{"source":"x"}'),
  });
  await fuzz(request, ({ server }, { method, path, headers, body }) => {
    const lines = [['Host', 'localhost'], ...headers].map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    const head = `${method} ${path} HTTP/1.1\r\n${lines.join('')}Content-Length: ${body.length}\r\n\r\n`;
    return throwAt(server, Buffer.from(head + body, 'latin1'));
  });
});

/** What an honest client sends for one call, byte for byte. */
async function recordHttp2({ rpc, type, body, headers }: Form): Promise<Buffer> {
  const heard: Buffer[] = [];
  let isOver = (): void => undefined;
  const over = new Promise<void>((resolve) => (isOver = resolve));
  const ear = createServer((socket) => {
    // An empty settings frame: enough for a client to go on.
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    socket.on('error', () => undefined);
    socket.on('end', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      heard.push(chunk);
      if (Buffer.concat(heard).includes(body)) isOver();
    });
  });
  await new Promise<void>((resolve) => ear.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an address of this form.
  const session = connectHttp2(`http://127.0.0.1:${(ear.address() as AddressInfo).port}`);
  session.on('error', () => undefined);
  const stream = session.request({
    ...headers,
    ':method': 'POST',
    ':authority': 'localhost',
    ':path': rpcPath(rpc),
    'content-type': type,
  });
  stream.on('error', () => undefined);
  stream.end(body);
  await over;
  session.destroy();
  await new Promise<void>((resolve) => ear.close(() => resolve()));
  return Buffer.concat(heard);
}

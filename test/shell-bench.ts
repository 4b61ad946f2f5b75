import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect';
import { afterEach, expect } from 'vitest';
import { AutoscalerService } from '../src/api/gen/bellows/v1/autoscaler_pb.ts';
import type { Log } from '../src/ports/log.ts';
import type { AuditEntry, AuditLog } from '../src/server/audit.ts';
import { callerOf } from '../src/server/caller.ts';
import { openServer, type RunningServer, type ServerOptions } from '../src/server/server.ts';
import { openTokenBook, type TokenBook } from '../src/server/token-book.ts';
import { systemClock } from '../src/wiring/system-clock.ts';

// A server on a free port with a few routes, and what a test asks of it.

export interface LogLine {
  readonly level: string;
  readonly event: string;
  readonly [field: string]: unknown;
}

/** Routes that answer, fail, hang and stream, one of each. */
export function benchRoutes(router: ConnectRouter, seen: string[] = []): void {
  router.service(AutoscalerService, {
    listFleets: (_request, context) => ({ version: callerOf(context).name, fleets: [] }),
    pushDemand: ({ source, entries }) => {
      seen.push(source);
      return { durable: true, entryCount: BigInt(entries.length) };
    },
    async streamDemand(pages) {
      let entryCount = 0;
      for await (const { push } of pages) entryCount += push?.entries.length ?? 0;
      return { push: { durable: true, entryCount: BigInt(entryCount) } };
    },
    async *watchStatus(_request, context) {
      for (let tick = 1; !context.signal.aborted; tick++) {
        yield { status: { fleet: 'bench', tick: BigInt(tick) } };
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    explain: () => {
      throw new Error('a secret at /var/lib/bellows/key');
    },
    drainSlice: ({ sliceId }) => {
      throw new ConnectError(`no slice ${sliceId}`, Code.NotFound);
    },
    // Never answers, and does not listen to its signal.
    listEvents: () => new Promise<never>(() => undefined),
    // Answers when told by time: a call in flight.
    listSlices: async () => {
      await new Promise((resolve) => setTimeout(resolve, 150));
      return { totalCount: 7 };
    },
    pause: () => ({ pauseId: 'pause-1' }),
    reloadConfig: () => ({}),
    reportHosts: () => ({}),
  });
}

export interface Bench {
  readonly server: RunningServer;
  readonly tokens: TokenBook;
  readonly audit: AuditEntry[];
  readonly log: LogLine[];
  readonly folder: string;
}

const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export const onCleanup = (cleanup: () => Promise<void> | void): void => void cleanups.push(cleanup);

export function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bellows-shell-'));
  onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Everything in reach of a test; closed after it. */
export async function openBench(
  over: Partial<ServerOptions> = {},
  prepare: (tokens: TokenBook) => Promise<unknown> = async () => undefined,
): Promise<Bench> {
  const folder = aFolder();
  const log: LogLine[] = [];
  const audit: AuditEntry[] = [];
  const logPort: Log = {
    write: (level, event, fields) => void log.push({ level, event, ...fields }),
  };
  const auditLog: AuditLog = {
    write: (entry) => void audit.push(entry),
    close: async () => undefined,
  };
  const tokens = over.tokens ?? openTokenBook(join(folder, 'tokens.json'));
  await prepare(tokens);
  const server = await openServer({
    listen: '127.0.0.1:0',
    tls: null,
    allowedHosts: [],
    requireTokens: false,
    bodyMaxBytes: 1_048_576,
    requestsPerSecond: 10_000,
    streamsMax: 20,
    tokens,
    routes: (router) => benchRoutes(router),
    audit: auditLog,
    log: logPort,
    clock: systemClock,
    ...over,
  });
  onCleanup(() => server.close(0));
  return { server, tokens, audit, log, folder };
}

export const rpcPath = (name: string): string => `/bellows.v1.AutoscalerService/${name}`;

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Of a Connect error. */
  readonly code: string;
  readonly message: string;
}

interface Ask {
  readonly method?: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request of HTTP/1.1 on a connection of its own. */
export function ask(server: RunningServer, path: string, over: Ask = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing: ClientRequest = httpRequest(
      {
        host: '127.0.0.1',
        port: server.port,
        path: path.startsWith('/') ? path : rpcPath(path),
        method: over.method ?? 'POST',
        agent: false,
        headers: { 'content-type': 'application/json', ...over.headers },
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('end', () => {
          const body = Buffer.concat(chunks).toString();
          const { statusCode: status = 0, headers } = incoming;
          resolve({ status, headers, body, ...readError(body) });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(over.body ?? (over.method === undefined ? '{}' : ''));
  });
}

function readError(body: string): { readonly code: string; readonly message: string } {
  try {
    const { code = '', message = '' }: { code?: string; message?: string } = JSON.parse(body);
    return { code, message };
  } catch {
    // Not every answer is JSON.
    return { code: '', message: '' };
  }
}

/** One gRPC message: a flag, its length, its bytes. */
export function envelope(bytes: Uint8Array, flag = 0): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flag, 0);
  head.writeUInt32BE(bytes.byteLength, 1);
  return Buffer.concat([head, bytes]);
}

/** One request of HTTP/2 on a session of its own: trailers are among the headers of the answer. */
export function askHttp2(
  server: RunningServer,
  path: string,
  over: Ask = {},
): Promise<Readonly<Record<string, unknown>>> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(server.url);
    const stream = session.request({
      ':method': 'POST',
      ':path': path.startsWith('/') ? path : rpcPath(path),
      'content-type': 'application/grpc',
      ...over.headers,
    });
    let seen: Record<string, unknown> = {};
    stream.on('response', (headers) => (seen = { ...seen, ...headers }));
    stream.on('trailers', (headers) => (seen = { ...seen, ...headers }));
    stream.on('error', reject);
    session.on('error', reject);
    stream.on('close', () => {
      session.close();
      resolve(seen);
    });
    stream.resume();
    stream.end(over.body ?? envelope(new Uint8Array()));
  });
}

/** Bytes on a bare connection; what came back by the time it closed or `until` was seen. */
export function rawExchange(
  server: RunningServer,
  bytes: string | Uint8Array,
  until: RegExp = /$^/,
): Promise<{ readonly text: string; readonly closedMs: number }> {
  return new Promise((resolve) => {
    const startedMs = performance.now();
    const socket: Socket = connect({ port: server.port, host: '127.0.0.1' });
    let text = '';
    const finish = (): void => {
      socket.destroy();
      resolve({ text, closedMs: performance.now() - startedMs });
    };
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (until.test(text)) finish();
    });
    socket.on('error', () => undefined);
    socket.on('close', finish);
    socket.write(bytes);
  });
}

/** Polls until it holds; fails with what it last was. */
export async function eventually(check: () => void, withinMs = 5_000): Promise<void> {
  const startedMs = performance.now();
  for (;;) {
    try {
      check();
      return;
    } catch (error) {
      if (performance.now() - startedMs > withinMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

/** Nothing is left open. */
export async function expectQuiet(server: RunningServer): Promise<void> {
  await eventually(() =>
    expect(server.counts()).toEqual({ connections: 0, calls: 0, streams: 0, bodyBytes: 0 }),
  );
}

/** A port that is taken. */
export async function takePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const taker = createServer();
  await new Promise<void>((resolve) => taker.listen(0, '127.0.0.1', resolve));
  onCleanup(() => new Promise<void>((resolve) => taker.close(() => resolve())));
  // A server that listens on a port has an address of this form.
  return (taker.address() as AddressInfo).port;
}

import { request as httpRequest } from 'node:http';
import { connect as connectHttp2, constants } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { describe, expect, test } from 'vitest';
import {
  ask,
  askHttp2,
  type Bench,
  envelope,
  eventually,
  expectQuiet,
  onCleanup,
  openBench,
  rawExchange,
  rpcPath,
} from '../../test/shell-bench.ts';
import { AutoscalerService } from '../api/gen/bellows/v1/autoscaler_pb.ts';

const MiB = 1_048_576;
const grpc = (bench: Bench) =>
  createClient(AutoscalerService, createGrpcTransport({ baseUrl: bench.server.url }));

/** Connections that stay until the test is over. */
function dial(bench: Bench): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ port: bench.server.port, host: '127.0.0.1' }, () => resolve(socket));
    socket.on('error', () => undefined);
    onCleanup(() => void socket.destroy());
  });
}

describe('size', () => {
  test('a body that says it is too large is refused before it is sent', async () => {
    const { server } = await openBench({ bodyMaxBytes: 1_000 });
    const body = JSON.stringify({ source: 'x'.repeat(1_000) });
    const answer = await ask(server, 'PushDemand', { body });
    expect(answer).toMatchObject({ status: 429, code: 'resource_exhausted' });
    expect(answer.message).toContain(
      'larger than 1KB, the most this server reads (server.bodyMax)',
    );
  });

  test('whoever waits for leave to send gets none, or gets it', async () => {
    const { server } = await openBench({ bodyMaxBytes: 1_000 });
    const send = (length: number): Promise<string> =>
      rawExchange(
        server,
        `POST ${rpcPath('ListFleets')} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`,
        /\r\n\r\n/,
      ).then(({ text }) => text.slice(0, 12));
    expect([await send(2_000), await send(2)]).toEqual(['HTTP/1.1 429', 'HTTP/1.1 100']);
  });

  test('a body without end is cut, and its sender sees why', async () => {
    const bench = await openBench({ bodyMaxBytes: MiB, limits: { lingerMs: 300 } });
    const piece = Buffer.alloc(MiB, 'x');
    let isOpen = true;
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const outgoing = httpRequest({
        port: bench.server.port,
        host: '127.0.0.1',
        path: rpcPath('PushDemand'),
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      });
      outgoing.on('response', (incoming) => {
        incoming.resume();
        resolve(incoming.statusCode);
      });
      outgoing.on('close', () => (isOpen = false));
      outgoing.on('error', reject);
      const pump = (): void => {
        if (isOpen && !outgoing.destroyed) outgoing.write(piece, () => setImmediate(pump));
      };
      outgoing.removeAllListeners('error');
      outgoing.on('error', () => undefined);
      pump();
    });
    expect(status).toBe(429);
    await eventually(() => expect(isOpen).toBe(false));
    await expectQuiet(bench.server);
  });

  test('a small body that unpacks to a large one', async () => {
    const { server } = await openBench({ bodyMaxBytes: MiB });
    const bomb = gzipSync(Buffer.alloc(64 * MiB, ' '));
    expect(bomb.byteLength).toBeLessThan(MiB / 8);
    const answer = await ask(server, 'PushDemand', {
      body: bomb,
      headers: { 'content-encoding': 'gzip' },
    });
    expect(answer).toMatchObject({ status: 429, code: 'resource_exhausted' });
    expect(answer.message).toContain('unpacks to more than 1MiB');
    const headers = { 'grpc-encoding': 'gzip' };
    for (const rpc of ['PushDemand', 'StreamDemand']) {
      const packed = await askHttp2(server, rpc, { body: envelope(bomb, 1), headers });
      expect(packed['grpc-status']).toBe(String(Code.ResourceExhausted));
    }
    const fine = gzipSync('{"source":"s"}');
    expect(
      (await ask(server, 'PushDemand', { body: fine, headers: { 'content-encoding': 'gzip' } }))
        .status,
    ).toBe(200);
  });

  test('an envelope that promises four gigabytes', async () => {
    const { server } = await openBench();
    const body = Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 1, 2, 3]);
    for (const rpc of ['PushDemand', 'StreamDemand']) {
      expect((await askHttp2(server, rpc, { body }))['grpc-status']).toBe(
        String(Code.ResourceExhausted),
      );
    }
  });

  test('large bodies share one purse', async () => {
    const bench = await openBench({ bodyMaxBytes: 1_000, limits: { bodiesMax: 2 } });
    const head = `POST ${rpcPath('PushDemand')} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 950\r\n\r\n`;
    for (const _ of [1, 2]) (await dial(bench)).write(head + ' '.repeat(900));
    await eventually(() => expect(bench.server.counts().bodyBytes).toBe(1_800));
    const answer = await ask(bench.server, 'PushDemand', {
      body: `{"source":"${'x'.repeat(500)}"}`,
    });
    expect(answer.message).toContain('as many large requests as it may');
  });

  test('headers beyond 16 KiB', async () => {
    const { server } = await openBench();
    const answer = await ask(server, 'ListFleets', { headers: { 'x-long': 'x'.repeat(20_000) } });
    expect(answer).toMatchObject({ status: 431 });
    expect(answer.message).toContain('16 KiB');
  });
});

describe('number', () => {
  test('requests per second, with when to come back', async () => {
    const { server } = await openBench({ requestsPerSecond: 1 });
    const answers = [];
    for (let n = 0; n < 4; n++) answers.push(await ask(server, 'ListFleets'));
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 429, 429]);
    expect(answers[3]?.headers).toMatchObject({ 'retry-after': '1' });
    expect((await ask(server, '/page', { method: 'GET' })).status).toBe(429);
  });

  test('streams: half for one client, then all', async () => {
    const bench = await openBench({ streamsMax: 4 });
    const client = grpc(bench);
    const stop = new AbortController();
    const watch = async (): Promise<unknown> => {
      try {
        for await (const _update of client.watchStatus({}, { signal: stop.signal }));
        return 'ended';
      } catch (error) {
        return ConnectError.from(error).rawMessage;
      }
    };
    const open = [watch(), watch()];
    await eventually(() => expect(bench.server.counts().streams).toBe(2));
    expect(await watch()).toContain('this client has 2 streams open, the most one may');
    stop.abort();
    await Promise.all(open);
    await eventually(() => expect(bench.server.counts().streams).toBe(0));
  });

  test('calls that hang: half for one client', async () => {
    const bench = await openBench({ limits: { callsMax: 4 } });
    const hung = [1, 2].map(() => ask(bench.server, 'ListEvents').catch(() => null));
    await eventually(() => expect(bench.server.counts().calls).toBe(2));
    expect((await ask(bench.server, 'ListFleets')).message).toContain(
      'this client has 2 calls open',
    );
    await bench.server.close(0);
    await Promise.all(hung);
  });

  test('connections', async () => {
    const bench = await openBench({ limits: { connectionsMax: 3 } });
    const sockets = await Promise.all([dial(bench), dial(bench), dial(bench)]);
    await eventually(() => expect(bench.server.counts().connections).toBe(3));
    const fourth = await dial(bench);
    await new Promise((resolve) => fourth.once('close', resolve));
    expect(bench.log).toMatchObject([{ event: 'connections-full', connectionsMax: 3 }]);
    for (const socket of sockets) socket.destroy();
    await expectQuiet(bench.server);
    expect((await ask(bench.server, 'ListFleets')).status).toBe(200);
  });
});

describe('time', () => {
  const post = `POST ${rpcPath('PushDemand')} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;

  // prettier-ignore: a table is read by column
  test.each([
    ['nothing at all', '', ''],
    ['two bytes', 'PR', ''],
    ['half the headers', 'POST / HTTP/1.1\r\nHost: lo', 'HTTP/1.1 408'],
    ['half the preface', 'PRI * HTTP/2.0\r\n\r\nS', null],
    ['half a body', `${post}Content-Length: 100\r\n\r\n{`, 'HTTP/1.1 504'],
    ['half a chunk', `${post}Transfer-Encoding: chunked\r\n\r\n10\r\n{`, 'HTTP/1.1 504'],
  ])('%s, and then silence', async (_name, bytes, answer) => {
    const bench = await openBench({
      limits: { firstBytesMs: 100, headersMs: 150, bodyMs: 150, idleMs: 400, lingerMs: 100 },
    });
    const { text, closedMs } = await rawExchange(bench.server, bytes);
    if (answer !== null) expect(text.slice(0, 12)).toBe(answer);
    expect(closedMs).toBeGreaterThan(90);
    await expectQuiet(bench.server);
  });

  test('a header a moment, for ever', async () => {
    const bench = await openBench({ limits: { headersMs: 200 } });
    const socket = await dial(bench);
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.write('POST / HTTP/1.1\r\n');
    const drip = setInterval(() => socket.write('X-Y: z\r\n'), 20);
    await new Promise((resolve) => socket.once('close', resolve));
    clearInterval(drip);
    expect(text).toContain('408 Request Timeout');
  });

  test('a stream that pauses too long', async () => {
    const bench = await openBench({ limits: { bodyMs: 100, lingerMs: 50 } });
    const session = connectHttp2(bench.server.url);
    onCleanup(() => session.destroy());
    const stream = session.request({
      ':method': 'POST',
      ':path': rpcPath('StreamDemand'),
      'content-type': 'application/grpc',
    });
    const status = new Promise((resolve) =>
      stream.once('trailers', (trailers) => resolve(trailers['grpc-status'])),
    );
    stream.write(envelope(new Uint8Array()));
    stream.resume();
    expect(await status).toBe(String(Code.DeadlineExceeded));
    await eventually(() => expect(bench.server.counts()).toMatchObject({ streams: 0 }));
  });

  test('a connection with nothing to say', async () => {
    const bench = await openBench({ limits: { idleMs: 150 } });
    const { text } = await rawExchange(bench.server, `${post}Content-Length: 2\r\n\r\n{}`);
    expect(text).toContain('200 OK');
    const session = connectHttp2(bench.server.url);
    session.on('error', () => undefined);
    await new Promise((resolve) => session.once('close', resolve));
    await expectQuiet(bench.server);
  });

  test('a route that hangs ends at the deadline, ours or the client’s', async () => {
    const bench = await openBench({ limits: { callMs: 80 } });
    const ours = await ask(bench.server, 'ListEvents');
    expect(ours).toMatchObject({ status: 504, code: 'deadline_exceeded' });
    expect(ours.message).toContain('no answer within 80ms');
    const theirs = await ask(bench.server, 'ListEvents', {
      headers: { 'connect-timeout-ms': '40' },
    });
    expect(theirs).toMatchObject({ code: 'deadline_exceeded' });
    const capped = await openBench({ limits: { callMsMax: 60 } });
    const far = await ask(capped.server, 'ListEvents', {
      headers: { 'connect-timeout-ms': '60000' },
    });
    expect(far.message).toContain('no answer within 60ms');
  });

  test('requests in a row on one connection are freed with it', async () => {
    const bench = await openBench();
    const socket = await dial(bench);
    const one = `POST ${rpcPath('ListEvents')} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
    socket.write(one.repeat(30));
    await eventually(() => expect(bench.server.counts().calls).toBe(30));
    socket.destroy();
    await expectQuiet(bench.server);
  });

  test('a client that goes away frees its call', async () => {
    const bench = await openBench();
    const socket = await dial(bench);
    socket.write(
      `POST ${rpcPath('ListEvents')} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    );
    await eventually(() => expect(bench.server.counts().calls).toBe(1));
    socket.destroy();
    await expectQuiet(bench.server);
  });
});

describe('bytes that are no HTTP', () => {
  // prettier-ignore: a table is read by column
  test.each([
    [
      'noise',
      Buffer.from(Array.from({ length: 500 }, (_, n) => (n * 7_919) % 256)),
      'HTTP/1.1 400',
    ],
    ['a TLS hello', Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]), 'HTTP/1.1 400'],
    [
      'two lengths',
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx`,
      'HTTP/1.1 400',
    ],
    [
      'length and chunks',
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      'HTTP/1.1 400',
    ],
    ['a tunnel', 'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n', ''],
  ])('%s', async (_name, bytes, start) => {
    const bench = await openBench();
    const { text } = await rawExchange(bench.server, bytes);
    expect(text.slice(0, 12)).toBe(start);
    await expectQuiet(bench.server);
    expect(bench.log).toEqual([]);
  });

  test('a preface, then noise', async () => {
    const bench = await openBench();
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    const noise = Buffer.from(Array.from({ length: 2_000 }, (_, n) => (n * 104_729) % 256));
    await rawExchange(bench.server, Buffer.concat([preface, noise]));
    await expectQuiet(bench.server);
    expect((await ask(bench.server, 'ListFleets')).status).toBe(200);
  });
});

describe('floods of HTTP/2', () => {
  test('streams opened and reset', async () => {
    const bench = await openBench({ limits: { sessionStrikesMax: 50 } });
    const session = connectHttp2(bench.server.url);
    session.on('error', () => undefined);
    const closed = new Promise((resolve) => session.once('close', resolve));
    const goneCode = new Promise((resolve) => session.once('goaway', resolve));
    const flood = setInterval(() => {
      for (let n = 0; n < 20 && !session.destroyed; n++) {
        const stream = session.request({
          ':method': 'POST',
          ':path': rpcPath('ListEvents'),
          'content-type': 'application/grpc',
        });
        stream.on('error', () => undefined);
        stream.close(constants.NGHTTP2_CANCEL);
      }
    }, 1);
    await closed;
    clearInterval(flood);
    expect(await goneCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    expect(bench.log).toContainEqual({
      level: 'warn',
      event: 'session-closed',
      why: 'too many resets',
    });
    await expectQuiet(bench.server);
  });

  test('pings', async () => {
    const bench = await openBench({ limits: { sessionStrikesMax: 50 } });
    const session = connectHttp2(bench.server.url, { maxOutstandingPings: 1_000 });
    session.on('error', () => undefined);
    const closed = new Promise((resolve) => session.once('close', resolve));
    session.once('connect', () => {
      for (let n = 0; n < 500; n++) session.ping(() => undefined);
    });
    await closed;
    expect(bench.log).toContainEqual({
      level: 'warn',
      event: 'session-closed',
      why: 'too many pings',
    });
    await expectQuiet(bench.server);
  });

  test('an honest client that cancels now and then is not taken for one', async () => {
    const bench = await openBench({ limits: { sessionStrikesMax: 50 } });
    const client = createClient(
      AutoscalerService,
      createConnectTransport({ baseUrl: bench.server.url, httpVersion: '2' }),
    );
    for (let n = 0; n < 20; n++) {
      const stop = new AbortController();
      const watched = (async () => {
        for await (const _update of client.watchStatus({}, { signal: stop.signal })) stop.abort();
      })();
      await watched.catch(() => undefined);
      await client.listFleets({});
    }
    expect(bench.log).toEqual([]);
  });
});

import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { toJson } from '@bufbuild/protobuf';
import { createClient, type Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AutoscalerService } from '../../src/api/gen/bellows/v1/autoscaler_pb.ts';
import {
  type AutoscalerStatus,
  AutoscalerStatusSchema,
} from '../../src/api/gen/bellows/v1/status_pb.ts';
import { statusRoutes } from '../../src/server/status-routes.ts';
import { must } from '../../src/support/assert.ts';
import { anAsk, anEntry } from '../builders.ts';
import { seconds } from '../scenarios/sketch.ts';
import { ServedStage } from '../served-stage.ts';
import { openBench, rpcPath } from '../shell-bench.ts';

// What is written once and sent to many reads in every protocol as if it were written for one.

const config = `
loop: { evaluationInterval: 1s, reconcileInterval: 60s }
groups:
  - { name: cpu, provider: simulated, device: cpu, host: { cpu: 16 }, max: 2, pricePerHour: 1 }
`;

let stage: ServedStage;
let url: string;
beforeEach(async () => {
  stage = await ServedStage.open(config, 'any');
  const { clock } = stage;
  const { server } = await openBench({
    routes: (router, shared) =>
      void router.service(
        AutoscalerService,
        statusRoutes([stage], { version: '1', clock }, shared),
      ),
  });
  ({ url } = server);
});
afterEach(() => stage.close());

/** Many enough that the answer is packed where the client likes it so. */
const pushed = (count: number) =>
  stage.push(
    Array.from({ length: count }, (_, n) =>
      anEntry({
        id: `entry-${n}`,
        form: { kind: 'single', ask: anAsk({ resources: { cpu: 20_000 + n } }) },
      }),
    ),
  );

const transports: Readonly<Record<string, (baseUrl: string) => Transport>> = {
  'Connect, JSON': (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '1.1' }),
  'Connect, protobuf': (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: true }),
  'gRPC, JSON': (baseUrl) => createGrpcTransport({ baseUrl, useBinaryFormat: false }),
  'gRPC, protobuf': (baseUrl) => createGrpcTransport({ baseUrl }),
  'gRPC-Web, JSON': (baseUrl) =>
    createGrpcWebTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: false }),
  'gRPC-Web, protobuf': (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '1.1' }),
};

const plain = (status: AutoscalerStatus | undefined) =>
  toJson(AutoscalerStatusSchema, must(status, 'a status'));

describe.each(Object.keys(transports))('%s', (name) => {
  test('one who asks and many who watch read the same, before and after it changes', async () => {
    const open = must(transports[name], 'a transport');
    const client = createClient(AutoscalerService, open(url));
    const leaving = new AbortController();
    const streams = Array.from({ length: 3 }, () =>
      client.watchStatus({}, { signal: leaving.signal })[Symbol.asyncIterator](),
    );
    const read = () => Promise.all(streams.map((stream) => stream.next()));
    const firsts = await read();
    const { status } = await client.getAutoscalerStatus({});
    expect(plain(status)).toMatchObject({ fleet: 'any', standing: 'leading' });
    for (const { value } of firsts) expect(plain(value?.status)).toEqual(plain(status));
    const nexts = read();
    await pushed(60);
    await stage.run(seconds(2));
    for (const { value } of await nexts) {
      expect(plain(value?.status)).toMatchObject({ fleet: 'any' });
    }
    const { status: later } = await client.getAutoscalerStatus({});
    expect(later?.classes).toHaveLength(60);
    expect(plain(later)).toMatchObject({ fleet: 'any', standing: 'leading' });
    leaving.abort();
    await Promise.allSettled(streams.map((stream) => stream.next()));
  });
});

const ask = (headers: Readonly<Record<string, string>>): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const asking = request(
      `${url}${rpcPath('GetAutoscalerStatus')}`,
      { method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => resolve(Buffer.concat(chunks)));
      },
    );
    asking.on('error', reject);
    asking.end('{}');
  });

test('packed for one, packed for all, and no old answer to a new question', async () => {
  const gzip = { 'accept-encoding': 'gzip' };
  await pushed(60);
  const [one, two] = [await ask(gzip), await ask(gzip)];
  expect(gunzipSync(one).toString()).toBe((await ask({})).toString());
  expect(two).toEqual(one);
  await pushed(61);
  const later = gunzipSync(await ask(gzip)).toString();
  expect(JSON.parse(later).status.classes).toHaveLength(61);
  expect(later).toBe((await ask({})).toString());
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Code, ConnectError, createClient, createRouterTransport } from '@connectrpc/connect';
import { connectNodeAdapter, createConnectTransport } from '@connectrpc/connect-node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { anAsk, anEntry } from '../../test/builders.ts';
import { seconds } from '../../test/scenarios/sketch.ts';
import { ServedStage } from '../../test/served-stage.ts';
import { AutoscalerService } from '../api/gen/bellows/v1/autoscaler_pb.ts';
import type { ServedFleet } from './served-fleet.ts';
import { statusRoutes } from './status-routes.ts';

const config = `
loop: { evaluationInterval: 1s }
groups:
  - { name: cpu, provider: simulated, device: cpu, host: { cpu: 16 }, min: 1, max: 2, pricePerHour: 1 }
`;

let stage: ServedStage;
beforeEach(async () => {
  stage = await ServedStage.open(config, 'research');
  await stage.push([anEntry({ id: 'a', count: 3, form: { kind: 'single', ask: anAsk() } })]);
});
afterEach(() => stage.close());

const routesOf = (fleets: readonly ServedFleet[]) =>
  statusRoutes(fleets, { version: '1.2.3', clock: stage.clock }, null);

const clientOf = (...fleets: readonly ServedFleet[]) =>
  createClient(
    AutoscalerService,
    createRouterTransport(({ service }) => service(AutoscalerService, routesOf(fleets))),
  );

const firstOf = <T>(stream: AsyncIterable<T>): Promise<IteratorResult<T>> => {
  const items = stream[Symbol.asyncIterator]();
  return items.next();
};

/** What a call is refused with. */
async function refusalOf(call: Promise<unknown>): Promise<ConnectError> {
  return call.then(
    () => expect.fail('it is refused'),
    (error: unknown) => ConnectError.from(error),
  );
}

describe('over the wire', () => {
  test('every call answers', async () => {
    const client = clientOf(stage);
    expect(await client.listFleets({})).toMatchObject({
      version: '1.2.3',
      fleets: [{ name: 'research', standing: 'leading', mode: 'active', groupCount: 1 }],
    });
    const { status } = await client.getAutoscalerStatus({ fleet: 'research' });
    expect(status).toMatchObject({ fleet: 'research', groups: [{ name: 'cpu' }] });
    const { entries } = await client.listEntries({});
    expect(entries.map(({ id }) => id)).toEqual(['a/0', 'a/1', 'a/2']);
    expect((await client.listSlices({ group: 'cpu' })).totalCount).toBeGreaterThan(0);
    expect((await client.listEvents({ pageSize: 1 })).events).toHaveLength(1);
  });

  test('of several fleets the one that is meant', async () => {
    const other = await ServedStage.open(config, 'batch');
    const client = clientOf(stage, other);
    const { fleets } = await client.listFleets({});
    expect(fleets.map(({ name }) => name)).toEqual(['batch', 'research']);
    const { status } = await client.getAutoscalerStatus({ fleet: 'batch' });
    expect(status).toMatchObject({ fleet: 'batch', classes: [] });
    const unsaid = await refusalOf(client.getAutoscalerStatus({}));
    expect(unsaid.rawMessage).toBe(
      'several fleets are served here; set fleet to one of research, batch',
    );
    await other.close();
  });

  type Client = ReturnType<typeof clientOf>;
  test.each<readonly [string, (client: Client) => Promise<unknown>, Code, string]>([
    [
      'an unknown fleet',
      (client) => client.getAutoscalerStatus({ fleet: 'reserch' }),
      Code.NotFound,
      'did you mean research?',
    ],
    [
      'an unknown outcome',
      (client) => client.listEntries({ outcome: 'lost' }),
      Code.InvalidArgument,
      'outcome is "lost"',
    ],
    [
      'an unknown group',
      (client) => client.listSlices({ group: 'cpus' }),
      Code.NotFound,
      'did you mean cpu?',
    ],
    [
      'an unknown status',
      (client) => client.listSlices({ statuses: ['gone'] }),
      Code.InvalidArgument,
      'statuses names "gone"',
    ],
    [
      'an unknown kind',
      (client) => client.listEvents({ kinds: ['moved'] }),
      Code.InvalidArgument,
      'kinds names "moved"',
    ],
    [
      'a bad interval',
      (client) => firstOf(client.watchStatus({ interval: { seconds: 90n } })),
      Code.InvalidArgument,
      'interval is 90s',
    ],
  ])('%s is refused', async (_, call, code, message) => {
    const refusal = await refusalOf(call(clientOf(stage)));
    expect(refusal.code).toBe(code);
    expect(refusal.rawMessage).toContain(message);
  });
});

describe('over a real socket', () => {
  test('a stream has the status at once, and ends with its client', async () => {
    const handler = connectNodeAdapter({
      routes: ({ service }) => service(AutoscalerService, routesOf([stage])),
    });
    const server = createServer(handler);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    // A server that listens on a port has an address of this kind.
    const { port } = server.address() as AddressInfo;
    const transport = createConnectTransport({
      baseUrl: `http://127.0.0.1:${port}`,
      httpVersion: '1.1',
    });
    const client = createClient(AutoscalerService, transport);
    const leaving = new AbortController();
    const stream = client.watchStatus({}, { signal: leaving.signal })[Symbol.asyncIterator]();
    const first = await stream.next();
    expect(first.value?.status?.fleet).toBe('research');
    const timers = (): number => stage.clock.pendingCount;
    const watched = timers();
    leaving.abort();
    await stream.next().catch(() => {});
    // The heartbeat's timer goes with the stream, as soon as the server sees the socket close.
    const deadlineMs = performance.now() + seconds(10);
    while (timers() >= watched && performance.now() < deadlineMs) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(timers()).toBe(watched - 1);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});

import { Code, createClient, createRouterTransport } from '@connectrpc/connect';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { answered, refusal } from '../../test/answered.ts';
import { anEntry } from '../../test/builders.ts';
import { minutes } from '../../test/scenarios/sketch.ts';
import { ServedStage } from '../../test/served-stage.ts';
import { AutoscalerService } from '../api/gen/bellows/v1/autoscaler_pb.ts';
import { must } from '../support/assert.ts';
import { demandRoutes } from './demand-routes.ts';

const config = `
groups:
  - { name: cpu, provider: simulated, host: { cpu: 16 }, max: 4, pricePerHour: 1 }
`;

let stage: ServedStage;

beforeEach(async () => {
  stage = await ServedStage.open(config);
});

afterEach(() => stage.close());

function clientOf() {
  const routes = demandRoutes([stage], { clock: stage.clock });
  const transport = createRouterTransport(({ service }) => service(AutoscalerService, routes));
  return createClient(AutoscalerService, transport);
}

const ask = <T>(answer: Promise<T>): Promise<T> => answered(stage.clock, answer);
const refused = (answer: Promise<unknown>) => refusal(stage.clock, answer);
const { InvalidArgument, NotFound, Unavailable } = Code;

const single = (cpu: number) =>
  ({ form: { case: 'single', value: { resources: { cpu } } } }) as const;

describe('a push', () => {
  test('is answered with what is held now', async () => {
    const entries = [
      { id: 'a', count: 3, ...single(1) },
      { id: 'b', ...single(0.5) },
    ];
    const push = { source: 'slurm', generation: 7n, entries, ttl: { seconds: 60n } };
    const answer = await ask(clientOf().pushDemand(push));
    expect(answer).toMatchObject({ durable: true, generation: 7n, entryCount: 4n });
    const leftMs = Number(answer.expiresAt?.seconds) * 1_000 - stage.controller.now;
    expect(leftMs).toBeGreaterThan(57_000);
    expect(leftMs).toBeLessThanOrEqual(60_000);
  });

  test('with an entry that makes no sense is taken; the others are served', async () => {
    const constraints = ['eq', 'ne'].map((op) => ({ key: 'zone', op, values: ['a'] }));
    const bad = { id: 'bad', form: { case: 'single', value: { constraints } } } as const;
    const entries = [bad, { id: 'good', ...single(1) }];
    await ask(clientOf().pushDemand({ source: 'slurm', generation: 1n, entries }));
    await stage.run(minutes(1));
    const { decision } = must(stage.controller.last, 'it has decided').output;
    expect(decision.classes.map(({ unmet }) => unmet?.invalid?.kind ?? null)).toEqual([
      'contradictory-constraints',
      null,
    ]);
  });

  test('of an unknown fleet is refused', async () => {
    const push = { fleet: 'fleat', source: 's', generation: 1n };
    expect(await refused(clientOf().pushDemand(push))).toEqual([
      NotFound,
      'no fleet "fleat" here; did you mean fleet?',
    ]);
  });
});

describe('a stream of pages', () => {
  const pages = ['a', 'b', 'c'].map((id, n) => ({
    push: {
      source: 'slurm',
      generation: 1n,
      entries: [{ id, ...single(1) }],
      page: n,
      more: n < 2,
    },
  }));
  async function* stream(some: readonly ((typeof pages)[number] | { push?: never })[]) {
    yield* some;
  }

  test('is answered once, after the last', async () => {
    const answer = await ask(clientOf().streamDemand(stream(pages)));
    expect(answer.push).toMatchObject({ durable: true, generation: 1n, entryCount: 3n });
  });

  test.each([
    ['without a page', [], 'the stream has no page'],
    ['without its last page', pages.slice(0, 2), 'the stream ended with `more` to come'],
    ['with an empty message', [{}], 'push is missing in a message'],
  ])('%s is refused', async (_name, some, message) => {
    const [code, text] = await refused(clientOf().streamDemand(stream(some)));
    expect(code).toBe(InvalidArgument);
    expect(text).toContain(message);
    expect(stage.controller.held.sources).toEqual([]);
  });
});

describe('reports of hosts', () => {
  async function aReadySlice(): Promise<string> {
    await stage.push([anEntry({ id: 'job' })]);
    await stage.run(minutes(15));
    return must(
      [...stage.controller.slices()].find(({ status }) => status === 'ready'),
      'one',
    ).id;
  }

  test('are taken in, and answered with orders and with what is not there', async () => {
    const sliceId = await aReadySlice();
    const free = { cpu: 15.9999 };
    const reports = [
      { sliceId, hostIndex: 0, free, busy: true },
      { sliceId: 'gone', hostIndex: 0 },
    ];
    const answer = await ask(clientOf().reportHosts({ reports }));
    expect(answer).toMatchObject({ orders: [], unknownSliceIds: ['gone'] });
    await stage.run(minutes(1));
    const { slices } = must(stage.controller.last, 'it has decided').input;
    expect(slices[0]?.hosts).toMatchObject([{ free: { cpu: 15_999 }, isBusy: true }]);
    const drain = { author: 'ann', reason: '', deadlineMs: null };
    await stage.tell({ kind: 'drain-slice', sliceId: must(slices[0], 'it').id, ...drain });
    const told = await ask(clientOf().reportHosts({ reports }));
    expect(told.orders).toMatchObject([{ sliceId, order: 'drain' }]);
    expect(told.orders[0]?.deadline).toBeDefined();
  });

  test.each([
    [
      'a wrong word',
      [{ sliceId: 's', drain: 'drain' }],
      'reports[0].drain: "drain" is not one of nothing, drained, refused; use one of these',
    ],
    [
      'room that is no amount',
      [{ sliceId: 's' }, { sliceId: 's', free: { cpu: -1 } }],
      'reports[1].free.cpu: -1 is no amount of cpu; write a number from 0 to 9007199254740',
    ],
    ['no slice', [{}], 'reports[0].slice_id: is missing; set it'],
    [
      'too many',
      Array.from({ length: 2_001 }, () => ({ sliceId: 's' })),
      'reports: 2001 reports are above the limit of 2000; send them in several messages',
    ],
  ])('%s is refused', async (_name, reports, message) => {
    expect(await refused(clientOf().reportHosts({ reports }))).toEqual([InvalidArgument, message]);
  });

  test('are not taken by a controller that has not read what there is', async () => {
    const other = new ServedStage(config);
    const routes = demandRoutes([other], { clock: other.clock });
    const transport = createRouterTransport(({ service }) => service(AutoscalerService, routes));
    const client = createClient(AutoscalerService, transport);
    expect(await refusal(other.clock, client.reportHosts({}))).toEqual([
      Unavailable,
      'this controller does not lead fleet fleet; ask again later',
    ]);
    await other.close();
  });
});

describe('a floor', () => {
  const wish = { id: 'night', ask: { resources: { cpu: 8 } }, count: 4 };

  test('is held in the name of the caller, until it is dropped', async () => {
    const answer = await ask(clientOf().requestResources(wish));
    const leftMs = Number(answer.expiresAt?.seconds) * 1_000 - stage.controller.now;
    expect(leftMs).toBeGreaterThan(minutes(59));
    expect(stage.controller.held.floors).toMatchObject([
      { id: 'night', count: 4, ask: { resources: { cpu: 8_000 } }, owner: 'nobody' },
    ]);
    const dropped = await ask(clientOf().requestResources({ id: 'night' }));
    expect(dropped.expiresAt).toBeUndefined();
    expect(stage.controller.held.floors).toEqual([]);
  });

  test.each([
    ['without a name', { ...wish, id: '' }, 'id: is missing; set it'],
    ['of nothing', { id: 'x', count: 1 }, 'ask: is missing; say what each task needs'],
    [
      'for ever',
      { ...wish, ttl: { seconds: 2_592_001n } },
      'ttl: 2592001s is outside 10s to 30d; write one of these',
    ],
    [
      'of too many',
      { ...wish, count: 10_000_001 },
      'count: 10000001 copies are above the limit of 10000000; lower the count',
    ],
    [
      'that nothing could hold',
      { ...wish, ask: { constraints: [{ key: 'zone', op: 'eq', values: [] }] } },
      'ask.constraints: constraint zone = needs exactly one value; correct or drop one',
    ],
  ])('%s is refused', async (_name, request, message) => {
    expect(await refused(clientOf().requestResources(request))).toEqual([InvalidArgument, message]);
  });
});

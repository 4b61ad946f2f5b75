import { Code, createClient, createRouterTransport, type Interceptor } from '@connectrpc/connect';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { answered, refusal } from '../../test/answered.ts';
import { anEntry } from '../../test/builders.ts';
import { minutes } from '../../test/scenarios/sketch.ts';
import { ServedStage } from '../../test/served-stage.ts';
import { AutoscalerService } from '../api/gen/bellows/v1/autoscaler_pb.ts';
import { must } from '../support/assert.ts';
import { type Caller, callerKey } from './caller.ts';
import { operatorRoutes } from './operator-routes.ts';
import type { ReloadOutcome, ServedFleet } from './served-fleet.ts';

const config = `
groups:
  - { name: cpu-small, provider: simulated, host: { cpu: 16 }, max: 4, pricePerHour: 1 }
  - { name: cpu-large, provider: simulated, host: { cpu: 96 }, max: 4, pricePerHour: 9 }
`;

let stage: ServedStage;

beforeEach(async () => {
  stage = await ServedStage.open(config);
});

afterEach(() => stage.close());

const local: Caller = { name: 'local', role: 'admin', from: '127.0.0.1:1', hasToken: false };

/** A client whose calls come from somebody. */
function clientOf(caller: Caller = local, fleet: ServedFleet = stage) {
  const routes = operatorRoutes([fleet], { clock: stage.clock });
  const sign: Interceptor = (next) => (request) => {
    request.contextValues.set(callerKey, caller);
    return next(request);
  };
  const transport = createRouterTransport(({ service }) => service(AutoscalerService, routes), {
    router: { interceptors: [sign] },
  });
  return createClient(AutoscalerService, transport);
}

const ask = <T>(answer: Promise<T>): Promise<T> => answered(stage.clock, answer);
const refused = (answer: Promise<unknown>) => refusal(stage.clock, answer);
const { FailedPrecondition, InvalidArgument, NotFound } = Code;

async function aReadySlice(): Promise<string> {
  await stage.push([anEntry({ id: 'job' })]);
  await stage.run(minutes(15));
  return must(
    [...stage.controller.slices()].find(({ status }) => status === 'ready'),
    'one',
  ).id;
}

const recordOf = (id: string) =>
  must(
    [...stage.controller.slices()].find((slice) => slice.id === id),
    'the slice',
  );

describe('a drain', () => {
  test('is under way when it is answered, in the name of who asked', async () => {
    const id = await aReadySlice();
    const deadline = { seconds: 600n };
    const order = { sliceId: id, reason: 'repair', author: 'ann', deadline };
    expect(await ask(clientOf().drainSlice(order))).toMatchObject({ status: 'draining' });
    const { drain } = recordOf(id);
    expect(drain?.why).toEqual({ kind: 'operator', author: 'ann', reason: 'repair' });
    const leftMs = (drain?.deadlineMs ?? 0) - stage.controller.now;
    expect(leftMs).toBeGreaterThan(minutes(9.9));
    expect(leftMs).toBeLessThanOrEqual(minutes(10));
  });

  test('is signed with the name of a token, whatever the caller says', async () => {
    const id = await aReadySlice();
    const caller = { ...local, name: 'bot', hasToken: true };
    await ask(clientOf(caller).drainSlice({ sliceId: id, author: 'ann' }));
    expect(recordOf(id).drain?.why).toMatchObject({ author: 'bot' });
  });

  test('of a slice that is not there names the nearest', async () => {
    const id = await aReadySlice();
    expect(await refused(clientOf().drainSlice({ sliceId: `${id}x` }))).toEqual([
      NotFound,
      `no slice "${id}x" in fleet fleet; did you mean ${id}?`,
    ]);
    expect(await refused(clientOf().drainSlice({ sliceId: 'other' }))).toEqual([
      NotFound,
      'no slice "other" in fleet fleet; ListSlices has them all',
    ]);
  });

  test('of a slice that is going says so', async () => {
    const id = await aReadySlice();
    await ask(clientOf().drainSlice({ sliceId: id, deadline: { seconds: 0n } }));
    await stage.run(minutes(1));
    const { status } = recordOf(id);
    expect(await refused(clientOf().drainSlice({ sliceId: id }))).toEqual([
      FailedPrecondition,
      `slice ${id} is ${status}; it is too late to drain it`,
    ]);
    expect((await refused(clientOf().protectSlice({ sliceId: id })))[1]).toMatch(/protect it$/);
  });

  test.each([
    ['of nothing', {}, 'slice_id: is missing; set it'],
    [
      'with a deadline long past',
      { sliceId: 's', deadline: { seconds: -1n } },
      'deadline: -1s is outside 0s to 30d; write one of these',
    ],
    [
      'with a novel',
      { sliceId: 's', reason: 'x'.repeat(1_001) },
      `reason: "${'x'.repeat(60)}..." has 1001 letters; write at most 1000`,
    ],
  ])('%s is refused', async (_name, order, message) => {
    expect(await refused(clientOf().drainSlice(order))).toEqual([InvalidArgument, message]);
  });
});

test('a slice is protected, and no longer', async () => {
  const id = await aReadySlice();
  await ask(clientOf().protectSlice({ sliceId: id }));
  expect(recordOf(id).isProtected).toBe(true);
  await ask(clientOf().protectSlice({ sliceId: id, undo: true }));
  expect(recordOf(id).isProtected).toBe(false);
});

describe('a pause', () => {
  test('holds until it is ended, one or all', async () => {
    const client = clientOf();
    const order = { what: 'launches', group: 'cpu-small', reason: 'audit', author: 'ann' };
    const first = await ask(client.pause({ ...order, ttl: { seconds: 3_600n } }));
    const second = await ask(client.pause({ what: 'both' }));
    expect(first.pauseId).toMatch(/^p-[0-9a-f]{6}$/);
    expect(first.until).toBeDefined();
    expect(second.until).toBeUndefined();
    expect(stage.controller.held.pauses).toMatchObject([
      { id: first.pauseId, what: 'launches', group: 'cpu-small', author: 'ann', reason: 'audit' },
      { id: second.pauseId, what: 'both', group: null, author: 'local', untilMs: null },
    ]);
    const ended = await ask(client.resume({ pauseId: first.pauseId }));
    expect(ended.pauseIds).toEqual([first.pauseId]);
    expect((await ask(client.resume({}))).pauseIds).toEqual([second.pauseId]);
    expect((await ask(client.resume({}))).pauseIds).toEqual([]);
  });

  test('that is not there lists what is', async () => {
    const client = clientOf();
    expect(await refused(client.resume({ pauseId: 'p-1' }))).toEqual([
      NotFound,
      'no pause "p-1"; nothing is paused',
    ]);
    const { pauseId } = await ask(client.pause({ what: 'both' }));
    expect((await refused(client.resume({ pauseId: 'p-1' })))[1]).toBe(
      `no pause "p-1"; there is ${pauseId}`,
    );
  });

  test.each([
    [
      'of an unknown thing',
      { what: 'launch' },
      [
        InvalidArgument,
        'what: "launch" is not one of launches, terminations, both; did you mean launches?',
      ],
    ],
    [
      'of nothing',
      {},
      [InvalidArgument, 'what: is missing; use one of launches, terminations, both'],
    ],
    [
      'of an unknown group',
      { what: 'both', group: 'cpu-smal' },
      [NotFound, 'no group "cpu-smal" in fleet fleet; did you mean cpu-small?'],
    ],
    [
      'of a group like none',
      { what: 'both', group: 'h100' },
      [NotFound, 'no group "h100" in fleet fleet; there is cpu-small, cpu-large'],
    ],
    [
      'for no time',
      { what: 'both', ttl: { nanos: 1 } },
      [InvalidArgument, 'ttl: 0s is outside 1s to 365d; write one of these'],
    ],
  ] as const)('%s is refused', async (_name, order, expected) => {
    expect(await refused(clientOf().pause(order))).toEqual(expected);
  });
});

describe('a reload', () => {
  const fleetThat = (outcome: ReloadOutcome): ServedFleet => ({
    name: 'fleet',
    controller: stage.controller,
    store: stage.store,
    feed: stage.feed,
    reload: ({ isDryRun }) => {
      expect(isDryRun).toBe(true);
      return Promise.resolve(outcome);
    },
  });

  test('says what changes, in words and numbers', async () => {
    const change = {
      lines: ['group cpu-small: max 4 to 8'],
      launches: { before: 0, after: 2 },
      releases: { before: 1, after: 0 },
      microUsdPerHour: { before: 1_500_000, after: 3_000_000 },
    };
    const client = clientOf(local, fleetThat({ kind: 'changed', change }));
    expect(await ask(client.reloadConfig({ dryRun: true }))).toMatchObject({
      changes: ['group cpu-small: max 4 to 8'],
      launchesAfter: 2,
      releasesBefore: 1,
      usdPerHourBefore: 1.5,
      usdPerHourAfter: 3,
    });
  });

  test('that is refused gives every line', async () => {
    const problem = { file: 'bellows.yaml', column: 3, path: 'groups[0].max', value: '-1' };
    const problems = [3, 9].map((line) => {
      return { ...problem, line, message: '-1 is not a whole number', remedy: 'write 0 or more' };
    });
    const client = clientOf(local, fleetThat({ kind: 'refused', problems }));
    expect(await refused(client.reloadConfig({ dryRun: true }))).toEqual([
      FailedPrecondition,
      [
        'the old configuration keeps running:',
        'bellows.yaml:3:3 groups[0].max: -1 is not a whole number; write 0 or more',
        'bellows.yaml:9:3 groups[0].max: -1 is not a whole number; write 0 or more',
      ].join('\n'),
    ]);
  });
});

import { Code, ConnectError, createClient, createRouterTransport } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { minutes, seconds } from '../../test/scenarios/sketch.ts';
import { Stage } from '../../test/scenarios/stage.ts';
import { ask, askInVain, serve } from '../../test/why.ts';
import { AutoscalerService } from '../api/gen/bellows/v1/autoscaler_pb.ts';
import { must } from '../support/assert.ts';
import { explainRoute } from './explain-route.ts';
import type { ServedFleet } from './served-fleet.ts';

const config = `
groups:
  - { name: cpu, provider: simulated, host: { cpu: 16 }, max: 4, pricePerHour: 1 }
`;

function clientOf(fleets: readonly ServedFleet[]) {
  const route = explainRoute(fleets);
  const transport = createRouterTransport(({ service }) => service(AutoscalerService, route));
  return createClient(AutoscalerService, transport);
}

const failureOf = (answer: Promise<unknown>): Promise<ConnectError> =>
  answer.then(
    () => Promise.reject(new Error('it was answered')),
    (error: unknown) => ConnectError.from(error),
  );

test('where several fleets are served, one must be named', async () => {
  const stage = new Stage(config);
  await stage.run(seconds(10));
  const one = await serve(stage);
  const client = clientOf([one, { ...one, name: 'other' }]);
  const unnamed = await failureOf(client.explain({ subject: 'cpu' }));
  expect([unnamed.code, unnamed.rawMessage]).toEqual([
    Code.InvalidArgument,
    'several fleets are served here; set fleet to one of staged, other',
  ]);
  expect((await client.explain({ fleet: 'other', subject: 'cpu' })).kind).toBe('group');
  await stage.end();
});

test('a controller that does not lead says nothing that may be out of date', async () => {
  const stage = new Stage(config, { controllers: 2 });
  await stage.run(seconds(10));
  const follower = must(stage.fleet.controllers[1], 'the second one');
  const client = clientOf([{ ...(await serve(stage)), controller: follower }]);
  const error = await failureOf(client.explain({ subject: 'cpu' }));
  expect(error.code).toBe(Code.Unavailable);
  expect(error.rawMessage).toContain('does not lead fleet staged');
  await stage.end();
});

test('before the first decision: what is waited for, and no time is promised', async () => {
  const stage = new Stage(config);
  stage.submit('job', { cpu: 8, runMs: minutes(30) });
  await stage.run(minutes(1));
  stage.fleet.kill();
  await stage.fleet.run(0);
  stage.onList = () => new Promise(() => {});
  await stage.until(() => stage.fleet.leader?.standing.kind === 'starting', minutes(3));
  const answer = await ask(stage, 'job');
  expect(answer.summary).toBe('job is not decided on yet: no decision was made since the start');
  expect(answer.nextLookAt).toBeUndefined();
  expect(answer.nextLook).toContain('comes after provider simulated');
  const unknown = await askInVain(stage, 'cpu');
  expect(unknown.rawMessage).toContain('Groups are known after the first decision.');
  await stage.fleet.stop();
});

test('a look comes no earlier than now, and no later than the next decision', async () => {
  const stage = new Stage(config);
  stage.submit('job', { cpu: 8, runMs: minutes(30) });
  for (let n = 0; n < 20; n++) {
    await stage.run(seconds(7));
    const { controller } = await serve(stage);
    for (const subject of ['cpu', ...stage.slices().map(({ id }) => id)]) {
      const { nextLookAt, nextLook, chain, summary } = await ask(stage, subject);
      const atMs =
        Number(must(nextLookAt, 'a time').seconds) * 1_000 + (nextLookAt?.nanos ?? 0) / 1e6;
      expect(atMs).toBeGreaterThanOrEqual(controller.now);
      expect(atMs).toBeLessThanOrEqual(Math.max(controller.now, controller.nextDecisionMs));
      const texts = [summary, nextLook, ...chain.map(({ reason }) => reason?.text ?? '')];
      expect(texts.filter((text) => /^$|\n|undefined|null|NaN|\[object/.test(text))).toEqual([]);
    }
  }
  await stage.end();
});

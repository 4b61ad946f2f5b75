// Class 14: the next leader starts from nothing, or two lead at once.
//
// What happened: without warm state the windows of the metrics were empty for as long as they are wide
// (Knative's documents), 7 -> 1 -> 7 pods on a restart (knative/serving#4795); two replicas both acted
// (knative/eventing#6732). State that is computed again is not state that was remembered.
//
// What Bellows does instead: idle timers, back-offs, reservations and the demand itself are documents in
// the store; a new leader reads them and goes on. The lease's epoch is checked in every write, and no
// call is made that could outlast the lease. Promises 7 and 8.

import { expect, test } from 'vitest';
import { must } from '../../src/support/assert.ts';
import { hours, minutes, seconds } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
providers: { simulated: { type: simulated, callTimeout: 20s } }
groups:
  - { name: gpu, provider: simulated, device: gpu, host: { gpu: 8 }, max: 8, pricePerHour: 30, idleTimeout: 10m }
limits: { upscalingSpeed: none }
`;
const two = { controllers: 2, leaseTtlMs: minutes(1) };

test('an idle timer goes on where it was, it does not begin anew', async () => {
  const stage = new Stage(config, two);
  stage.submit('job', { gpu: 8, runMs: minutes(5) }, 2);
  await stage.until(() => stage.finished().length === 2, minutes(15));
  const idleAtMs = stage.atMs;
  await stage.run(minutes(6));
  const before = must(stage.fleet.leader, 'a leader');
  stage.fleet.freeze(0, minutes(30));
  await stage.until(() => stage.fleet.leader !== before, minutes(2));
  await stage.until(() => stage.slices('gpu', 'ready').length === 0, minutes(10));
  expect(stage.atMs - idleAtMs).toBeGreaterThan(minutes(10) - seconds(10));
  expect(stage.atMs - idleAtMs).toBeLessThan(minutes(11));
  await stage.run(minutes(25)); // the first one wakes, sees that it is not leading, and stays still
  expect(stage.alive()).toEqual([]);
  await stage.end();
});

test('a back-off keeps its end and its count', async () => {
  const stage = new Stage(config, two);
  stage.stockout('gpu', hours(1));
  stage.submit('job', { gpu: 8, runMs: minutes(5) });
  await stage.run(minutes(4)); // refused at 0, 30, 90 and 210 s: the next ask is 240 s later
  const [trouble] = must(stage.fleet.leader?.last, 'a tick').input.troubles;
  const { untilMs, attempts } = must(trouble, 'a back-off');
  const asked = stage.callsOf('launch').length;
  stage.fleet.kill(0);
  await stage.run(untilMs - stage.fleet.nowMs - seconds(5));
  expect(must(stage.fleet.leader?.last, 'a tick').input.troubles[0]).toEqual(trouble);
  expect(stage.callsOf('launch')).toHaveLength(asked);
  await stage.run(seconds(30));
  expect(stage.callsOf('launch')).toHaveLength(asked + 1);
  expect(must(stage.fleet.leader?.last, 'a tick').input.troubles[0]).toMatchObject({
    kind: 'stockout',
    attempts: attempts + 1,
  });
  await stage.end();
});

test('stopped in the middle of a launch: the next leader finishes it, the first one does nothing more', async () => {
  const stage = new Stage(config, two);
  await stage.run(minutes(1));
  stage.onLaunch = (_, launch) => {
    stage.onLaunch = (_again, call) => call();
    stage.fleet.freeze(0, minutes(10));
    return launch();
  };
  stage.submit('job', { gpu: 8, runMs: hours(1) }, 4);
  await stage.run(minutes(15));
  expect(stage.made()).toHaveLength(4);
  expect(stage.runningCount).toBe(4);
  await stage.end();
});

test('the reservation of a gang survives, so do its slices', async () => {
  const pooled = config.replace('idleTimeout: 10m', 'idleTimeout: 1m, quotaPool: gpus');
  const stage = new Stage(`${pooled}quotaPools: { gpus: { gpu: 64 } }\n`, {
    ...two,
    quotas: { gpus: 3 },
  });
  stage.submit('gang', { gpu: 8, gang: 4, runMs: hours(1) });
  await stage.until(() => stage.slices('gpu', 'ready').length === 3, minutes(3));
  stage.fleet.kill(0);
  stage.cloud().levers.setQuota('gpus', 4);
  await stage.until(() => stage.runningCount === 1, minutes(10));
  expect(stage.made()).toHaveLength(4);
  await stage.end();
});

test('leaders change every two minutes under load: work runs on, and what is too much goes again', async () => {
  const stage = new Stage(config, two);
  stage.submit('job', { gpu: 8, runMs: hours(3) }, 6);
  for (let n = 0; n < 15; n++) {
    await stage.run(minutes(2));
    stage.fleet.freeze(n % 2, seconds(100));
  }
  await stage.run(minutes(15));
  expect((await stage.events('controller-started')).length).toBeGreaterThan(5);
  expect(stage.runningCount).toBe(6);
  // A push to a frozen leader is lost: its heir knows who is busy before it knows who still waits.
  expect(stage.made().length).toBeLessThanOrEqual(7);
  expect(stage.alive()).toHaveLength(6);
  await stage.end();
});

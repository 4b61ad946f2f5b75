// Class 5: the same need is counted twice, and too much is bought.
//
// What happened: demand was read before usage (ray-project/ray#36926); a node was ready but its network
// was not, so a second one came (kubernetes/kubernetes#43709); one node of a placement group died and all
// of it was asked for again (ray#40212); 80 GPUs for 40 jobs (kubernetes/autoscaler#7095).
//
// What Bellows does instead: capacity on its way is capacity, everywhere, always. A newly ready slice
// counts as empty for `registrationGrace`. A gang that lost a host is placed on what it still has.
// Promises 1 and 5.

import { expect, test } from 'vitest';
import { hours, minutes, seconds } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
groups:
  - { name: gpu, provider: simulated, device: gpu, host: { gpu: 8 }, max: 50, pricePerHour: 30 }
limits: { upscalingSpeed: none, concurrentLaunches: none, createsPerMinute: none }
timeouts: { registrationGrace: 60s }
`;

test('forty jobs, forty slices, however long they take to come', async () => {
  const stage = new Stage(config);
  stage.submit('job', { gpu: 8, runMs: hours(1) }, 40);
  await stage.run(minutes(10)); // some forty ticks see the same demand
  expect(stage.runningCount).toBe(40);
  expect(stage.made()).toHaveLength(40);
  await stage.end();
});

test('one job more while the first are booting: one slice more', async () => {
  const stage = new Stage(config);
  for (let n = 0; n < 10; n++) {
    stage.submit(`job-${n}`, { gpu: 8, runMs: hours(1) });
    await stage.run(seconds(12));
  }
  await stage.run(minutes(5));
  expect(stage.made()).toHaveLength(10);
  await stage.end();
});

test('ready, and not joined yet: no second slice within the grace', async () => {
  const stage = new Stage(config);
  const upSinceMs = new Map<string, number>();
  stage.hasJoined = ({ machineId }) => {
    const sinceMs = upSinceMs.get(machineId) ?? stage.atMs;
    upSinceMs.set(machineId, sinceMs);
    return stage.atMs - sinceMs >= seconds(45);
  };
  stage.submit('job', { gpu: 8, runMs: hours(1) }, 3);
  await stage.until(() => stage.slices('gpu', 'ready').length === 3, minutes(10));
  await stage.until(() => stage.runningCount === 3, minutes(3));
  expect(stage.made()).toHaveLength(3);
  await stage.end();
});

test('one host of a gang of four dies: one is bought, not four', async () => {
  const stage = new Stage(config);
  stage.submit('gang', { gpu: 8, gang: 4, runMs: hours(2) });
  await stage.until(() => stage.runningCount === 1, minutes(10));
  const [victim] = stage.slices();
  if (victim !== undefined) stage.cloud().levers.killHost(victim.id, 0);
  await stage.run(seconds(10));
  expect(stage.fleet.scheduler.pendingCount).toBe(1); // it starts again as a whole
  await stage.until(() => stage.runningCount === 1, minutes(10));
  expect(stage.made()).toHaveLength(5);
  await stage.end();
});

test('work that lands is pending no more, and its host is full: neither buys anything', async () => {
  const stage = new Stage(config, { schedulerIntervalMs: seconds(1) });
  for (let n = 0; n < 20; n++) {
    stage.submit(`short-${n}`, { gpu: 8, runMs: minutes(1) });
    await stage.run(seconds(75)); // the one before has just ended
  }
  expect(stage.finished().length).toBeGreaterThan(15);
  expect(stage.made().length).toBeLessThanOrEqual(4); // those that came while the first booted
  await stage.end();
});

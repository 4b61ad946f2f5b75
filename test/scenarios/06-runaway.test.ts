// Class 6: a loop that launches without end.
//
// What happened: a template that failed made 30,000 machines out of 15, against a max of 4 per rule
// (apache/cloudstack#9318); max_replicas was exceeded after an update (skypilot#3255); infinite scale-up
// with stateful sets (kubernetes/autoscaler#3131).
//
// What Bellows does instead: bounds are inputs, and what is failing or leaving still counts against them.
// Machines that fail soon after launch cost their group its health; a hostile group is left alone, with
// an end time. All of that is in the store, so a restart is no fresh start. Promises 1 and 7.

import { expect, test } from 'vitest';
import { groupName } from '../../src/model/ids.ts';
import { control, hours, minutes, seconds } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
loop: { reconcileInterval: 60s }
groups:
  - { name: gpu, provider: simulated, device: gpu, host: { gpu: 8 }, max: 4, min: 2, pricePerHour: 30 }
timeouts: { booting: 2m, initializing: 2m }
limits: { upscalingSpeed: none }
`;

test('a template that never boots: four at a time at most, and few in all', async () => {
  const stage = new Stage(config);
  stage.cloud().levers.failBoot(groupName('gpu'), stage.inCloud(hours(6)));
  stage.submit('train', { gpu: 8, runMs: hours(1) }, 12);
  let most = 0;
  for (let minute = 0; minute < 90; minute++) {
    await stage.run(minutes(1));
    most = Math.max(most, stage.alive('gpu').length);
  }
  expect(most).toBeLessThanOrEqual(4);
  // 4 an attempt, an attempt every three minutes, would be 120. A group without health waits.
  expect(stage.made('gpu').length).toBeLessThan(45);
  const waits = (await stage.events('backoff-started')).map(({ trouble }) => trouble);
  expect(waits.map(({ kind }) => kind)).toContain('churn');
  for (const { sinceMs, untilMs } of waits) expect(untilMs).toBeGreaterThan(sinceMs);
  expect(stage.reasonFor('train-0').code).toMatch(/no-capacity|placed/);
  await stage.end();
});

test('the template is repaired: the group recovers by itself', async () => {
  const stage = new Stage(config);
  stage.cloud().levers.failBoot(groupName('gpu'), stage.inCloud(minutes(20)));
  stage.submit('train', { gpu: 8, runMs: minutes(10) }, 4);
  await stage.run(minutes(20));
  expect(stage.finished()).toEqual([]);
  await stage.run(hours(1));
  expect(stage.finished()).toHaveLength(4);
  await stage.end();
});

test('a controller that dies every few seconds launches what it needs, once', async () => {
  const stage = new Stage(config);
  stage.submit('train', { gpu: 8, runMs: hours(4) }, 3);
  for (let n = 0; n < 40; n++) {
    await stage.run(seconds(40));
    stage.fleet.kill();
  }
  await stage.run(minutes(10));
  expect(stage.made('gpu')).toHaveLength(3);
  expect(stage.runningCount).toBe(3);
  await stage.end();
});

test('max is lowered under load: nothing new comes, nothing at work goes', async () => {
  const stage = new Stage(config);
  stage.submit('train', { gpu: 8, runMs: minutes(40) }, 6);
  await stage.until(() => stage.runningCount === 4, minutes(10));
  stage.fleet.changeControl(control(config.replace('max: 4', 'max: 2')));
  await stage.run(minutes(30));
  expect(stage.alive('gpu')).toHaveLength(4);
  expect(stage.reasonFor('train-5')).toEqual({ code: 'no-capacity', rules: { gpu: 'at-max' } });
  await stage.run(minutes(75));
  expect(stage.finished()).toHaveLength(6);
  expect(stage.made('gpu')).toHaveLength(4);
  expect(stage.alive('gpu')).toHaveLength(2);
  await stage.end();
});

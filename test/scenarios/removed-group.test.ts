// A group is taken out of the configuration while it has slices.
//
// What happens elsewhere: deleting a node pool deletes its nodes, and the work on them; or the machines
// are forgotten and run on, unowned.
//
// What Bellows does: the group is kept as long as it has slices. Those on their way are given up, those
// without work drain, those at work are waited for; nothing new goes there. Promises 3 and 9.

import { expect, test } from 'vitest';
import { control, hours, minutes } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
loop: { reconcileInterval: 60s }
groups:
  - { name: old, provider: simulated, device: gpu, host: { gpu: 8 }, max: 6, pricePerHour: 10 }
  - { name: new, provider: simulated, device: gpu, host: { gpu: 8 }, max: 6, pricePerHour: 30 }
timeouts: { draining: 20m }
limits: { upscalingSpeed: none, drainingPercent: none }
`;
const without = config.replace(/.*name: old.*\n/, '');

test('what is idle leaves, what works is waited for beyond any deadline, what is new goes elsewhere', async () => {
  const stage = new Stage(config);
  stage.submit('long', { gpu: 8, runMs: hours(1) }, 2);
  stage.submit('short', { gpu: 8, runMs: minutes(1) }, 2);
  await stage.until(() => stage.finished().length === 2, minutes(10));
  expect(stage.alive('old')).toHaveLength(4);

  stage.fleet.changeControl(control(without));
  await stage.run(minutes(5));
  expect(await stage.events('group-removed')).toEqual([
    { kind: 'group-removed', group: 'old', slices: 4 },
  ]);
  expect(stage.alive('old')).toHaveLength(2);
  stage.submit('next', { gpu: 8, runMs: minutes(10) });
  await stage.run(minutes(10));
  expect(stage.alive('new')).toHaveLength(1);

  await stage.run(minutes(90));
  expect(stage.alive()).toEqual([]);
  expect(stage.fleet.scheduler.finished).toHaveLength(5);
  expect(stage.fleet.scheduler.finished.every(({ restarts }) => restarts === 0)).toBe(true);
  await stage.end();
});

test('a restart with the smaller configuration finds the machines all the same', async () => {
  const stage = new Stage(config);
  stage.submit('long', { gpu: 8, runMs: minutes(40) }, 2);
  await stage.until(() => stage.runningCount === 2, minutes(10));
  stage.fleet.changeControl(control(without));
  stage.fleet.kill();
  await stage.run(minutes(10));
  expect(stage.slices('old')).toHaveLength(2);
  await stage.run(hours(1));
  expect(stage.finished()).toHaveLength(2);
  expect(stage.alive()).toEqual([]);
  await stage.end();
});

test('launches on their way are given up, and their work is planned on what is left', async () => {
  const stage = new Stage(config);
  stage.submit('job', { gpu: 8, runMs: minutes(30) }, 3);
  await stage.until(() => stage.alive('old').length === 3, minutes(1));
  stage.fleet.changeControl(control(without));
  await stage.until(() => stage.alive('new').length === 3, minutes(1));
  await stage.run(minutes(5));
  expect(stage.alive('old')).toEqual([]);
  expect(stage.runningCount).toBe(3);
  await stage.end();
});

test('the group comes back before its slices are gone: they are its own again', async () => {
  const stage = new Stage(config);
  stage.submit('long', { gpu: 8, runMs: hours(1) }, 2);
  await stage.until(() => stage.runningCount === 2, minutes(10));
  stage.fleet.changeControl(control(without));
  await stage.run(minutes(5));
  stage.fleet.changeControl(control(config));
  await stage.run(minutes(30));
  stage.submit('next', { gpu: 8, runMs: minutes(10) });
  await stage.until(() => stage.alive('old').length === 3, minutes(2));
  await stage.run(minutes(40));
  expect(stage.finished()).toHaveLength(3);
  await stage.end();
});

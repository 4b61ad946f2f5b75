// Class 8: equals are replaced by equals.
//
// What happened: fourteen hours of replacing nodes by the same nodes (aws/karpenter-provider-aws#8536);
// some 6,000 evictions a day (kubernetes-sigs/karpenter#2388); 3,000 to 4,000 dollars of image pulls
// (karpenter-provider-aws#7344).
//
// What Bellows does instead: it moves no running work to save money. A slice at work stays; one without
// work goes; the next work goes where it costs least. Constant input becomes quiet. Promises 5 and 9.

import { expect, test } from 'vitest';
import { control, hours, minutes } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
loop: { reconcileInterval: 2m }
groups:
  - { name: small, provider: simulated, host: { cpu: 16, memory: 64GiB }, max: 40, pricePerHour: 0.8 }
  - { name: large, provider: simulated, host: { cpu: 64, memory: 256GiB }, max: 10, pricePerHour: 3.1 }
  - { name: twin, provider: simulated, host: { cpu: 64, memory: 256GiB }, max: 10, pricePerHour: 3.1 }
limits: { upscalingSpeed: none }
`;

test('a constant load for six hours: after the start nothing is launched, drained or moved', async () => {
  const stage = new Stage(config);
  stage.submit('service', { cpu: 5, runMs: hours(100) }, 30);
  await stage.run(minutes(20));
  expect(stage.runningCount).toBe(30);
  const before = { made: stage.made().length, steps: stage.checks.stepCount };
  await stage.run(hours(6));
  expect(stage.made()).toHaveLength(before.made);
  expect(stage.checks.stepCount).toBe(before.steps);
  expect(stage.runningCount).toBe(30);
  await stage.end();
});

test('a group becomes cheaper under load: work that runs stays where it is', async () => {
  const stage = new Stage(config);
  stage.submit('service', { cpu: 60, runMs: hours(100) }, 3);
  await stage.run(minutes(20));
  const homes = stage.alive().map(({ machineId }) => machineId);
  const other = stage.alive('large').length > 0 ? 'twin' : 'large';
  const cheaper = config.replace(
    new RegExp(`(${other}.*pricePerHour:) 3.1`),
    (_, head: string) => `${head} 0.5`,
  );
  stage.fleet.changeControl(control(cheaper));
  await stage.run(hours(1));
  expect(stage.alive().map(({ machineId }) => machineId)).toEqual(homes);

  stage.submit('next', { cpu: 60, runMs: hours(100) }); // and what is new goes where it is cheap
  await stage.until(() => stage.alive(other).length === 1, minutes(2));
  await stage.end();
});

test('short jobs without end: the same slices serve them', async () => {
  const stage = new Stage(config);
  let submitted = 0;
  for (let minute = 0; minute < 80; minute++) {
    stage.submit(`job-${submitted++}`, { cpu: 8, runMs: minutes(5) }, 1);
    await stage.run(minutes(1));
  }
  expect(stage.finished().length).toBeGreaterThan(65);
  const machines = stage.made().length;
  expect(machines).toBeLessThanOrEqual(6); // five or six at a time, eight cores each
  await stage.end();
});

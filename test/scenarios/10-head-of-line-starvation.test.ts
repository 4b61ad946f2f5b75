// Class 10: work that cannot be placed starves work that can, in silence.
//
// What happened: 2,170 GPU pods short of capacity used up the minute that each loop had; small CPU pods
// waited 14 hours without one event (kubernetes-sigs/karpenter#3152).
//
// What Bellows does instead: planning is by class, so that two thousand entries alike cost what one does.
// Every entry has a reason in every tick, with the rule of every group. Promises 5 and 6.

import { expect, test } from 'vitest';
import { hours, minutes, seconds } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
loop: { evaluationInterval: 5s }
groups:
  - { name: gpu, provider: simulated, device: gpu, host: { cpu: 32, gpu: 8 }, max: 1, pricePerHour: 30 }
  - { name: cpu, provider: simulated, host: { cpu: 16 }, max: 20, pricePerHour: 0.8 }
limits: { upscalingSpeed: none }
`;

test('2,000 GPU tasks that must wait: small CPU tasks are placed in the next tick', async () => {
  const stage = new Stage(config);
  stage.submit('gpu', { gpu: 8, cpu: 32, priority: 10, runMs: hours(10) }, 2_000);
  await stage.run(minutes(10));
  expect(stage.runningCount).toBe(1);
  for (let n = 0; n < 5; n++) {
    const at = stage.alive('cpu').length;
    stage.submit(`cpu-${n}`, { cpu: 16, runMs: hours(1) });
    // The scheduler says so within 5 s, the next tick is 5 s later at most, and a call takes half a second.
    await stage.until(() => stage.alive('cpu').length > at, seconds(12));
  }
  await stage.until(() => stage.runningCount === 6, minutes(5));
  await stage.end();
});

test('every one of them has its reason, for every group', async () => {
  const stage = new Stage(config);
  stage.submit('gpu', { gpu: 8, cpu: 32, runMs: hours(10) }, 500);
  stage.submit('gang', { gpu: 8, gang: 3, runMs: hours(10) });
  stage.submit('huge', { cpu: 200, runMs: hours(1) });
  stage.submit('tpu', { tpu: 4, runMs: hours(1) });
  await stage.run(minutes(10));
  const { input, output } = stage.fleet.leader?.last ?? never();
  const waiting = input.demand.reduce((sum, { count }) => sum + count, 0);
  const told = output.decision.classes.reduce(
    (sum, { placed, unmetCount }) =>
      sum + unmetCount + placed.reduce((part, { count }) => part + count, 0),
    0,
  );
  expect(told).toBe(waiting);
  expect(waiting).toBe(502);
  const rules = { gpu: 'at-max', cpu: 'device' };
  expect(stage.reasonFor('gpu-499')).toEqual({ code: 'no-capacity', rules });
  expect(stage.reasonFor('gang').rules).toEqual(rules);
  expect(stage.reasonFor('huge').code).toBe('insufficient-resources');
  expect(stage.reasonFor('tpu')).toEqual({
    code: 'no-matching-group',
    rules: { gpu: 'device', cpu: 'device' },
  });
  await stage.end();
});

test('many unlike shapes that fit nowhere hold nobody up', async () => {
  const stage = new Stage(config);
  for (let n = 0; n < 300; n++) {
    stage.submit(`odd-${n}`, { gpu: 9 + n, cpu: 1 + (n % 7), priority: 5, runMs: hours(1) });
  }
  stage.submit('small', { cpu: 1, runMs: minutes(30) });
  await stage.until(() => stage.runningCount === 1, minutes(5));
  expect(stage.reasonFor('odd-299').code).toBe('insufficient-resources');
  await stage.end();
});

function never(): never {
  throw new Error('there is one');
}

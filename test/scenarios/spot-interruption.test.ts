// The provider takes back what it lent: a spot interruption, with two minutes' notice or none.
//
// What happens elsewhere: a notice is not read, and the work is found dead; or the slice counts as
// capacity until it is gone, so that its replacement comes minutes late.
//
// What Bellows does: with the notice the slice drains until its end and counts no more, so that what min
// asks for is launched at once; nothing new lands on it. Without notice it is a lost slice. Promises 1, 9.

import { expect, test } from 'vitest';
import { must } from '../../src/support/assert.ts';
import { hours, minutes, seconds } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
groups:
  - { name: spot, provider: simulated, device: gpu, host: { gpu: 8 }, min: 3, max: 6, pricePerHour: 10, preemptible: true }
limits: { upscalingSpeed: none }
`;

test('two minutes of notice: it drains, its replacement is on its way before it is gone', async () => {
  const stage = new Stage(config);
  await stage.until(() => stage.slices('spot', 'ready').length === 3, minutes(5));
  const { id } = must(stage.slices('spot')[0], 'a slice');
  stage.cloud().levers.preempt(id, { noticeMs: minutes(2) });
  await stage.run(seconds(20));
  expect(stage.record(id).history.map(({ cause }) => cause)).toContainEqual(
    expect.objectContaining({
      kind: 'draining',
      why: expect.objectContaining({ kind: 'interrupted' }),
    }),
  );
  expect(stage.alive('spot')).toHaveLength(4); // three, and the one that replaces it
  await stage.run(minutes(6));
  expect(stage.slices('spot', 'ready')).toHaveLength(3);
  expect(stage.alive('spot').map(({ sliceId }) => sliceId)).not.toContain(id);
  await stage.end();
});

test('nothing new lands on a slice that will be taken; work on it may use its last minutes', async () => {
  const stage = new Stage(config.replace('min: 3', 'min: 0'));
  stage.submit('short', { gpu: 4, runMs: minutes(1) });
  await stage.until(() => stage.runningCount === 1, minutes(5));
  const { id } = must(stage.slices('spot')[0], 'a slice');
  stage.cloud().levers.preempt(id, { noticeMs: minutes(3) });
  await stage.run(seconds(25));
  stage.submit('next', { gpu: 4, runMs: hours(1) });
  await stage.run(minutes(6));
  expect(stage.finished()).toEqual(['short']); // to its end, before the machine's
  const homes = stage.slices('spot').map((slice) => slice.id);
  expect(homes).not.toContain(id);
  expect(stage.runningCount).toBe(1);
  expect(stage.made()).toHaveLength(2);
  await stage.end();
});

test('no notice at all: lost, replaced, and the work starts again once', async () => {
  const stage = new Stage(config.replace('min: 3', 'min: 0'));
  stage.submit('train', { gpu: 8, runMs: minutes(30) }, 2);
  await stage.until(() => stage.runningCount === 2, minutes(5));
  const { id } = must(stage.slices('spot')[0], 'a slice');
  stage.cloud().levers.preempt(id, { noticeMs: 0 });
  await stage.run(minutes(45));
  const restarts = stage.fleet.scheduler.finished.map((work) => work.restarts);
  expect(restarts.toSorted((a, b) => a - b)).toEqual([0, 1]);
  expect(stage.made()).toHaveLength(3);
  await stage.end();
});

test('taken again and again soon after launch: the group loses health and is left alone for a while', async () => {
  const stage = new Stage(config.replace('min: 3', 'min: 0'));
  stage.submit('train', { gpu: 8, runMs: hours(1) }, 2);
  for (let minute = 0; minute < 60; minute++) {
    await stage.run(minutes(1));
    for (const { id } of stage.slices('spot', 'ready')) {
      stage.cloud().levers.preempt(id, { noticeMs: 0 });
    }
  }
  const waits = (await stage.events('backoff-started')).map(({ trouble }) => trouble.kind);
  expect(waits).toContain('churn');
  expect(stage.made().length).toBeLessThan(30);
  expect(stage.runningCount).toBeLessThanOrEqual(2);
  await stage.end();
});

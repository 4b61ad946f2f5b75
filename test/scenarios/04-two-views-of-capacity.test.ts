// Class 4: the scaler and the scheduler do not agree on what is alive.
//
// What happened: the scaler's loose and the scheduler's strict liveness made slices both "idle, remove"
// and "unusable, wait" (an Iris design note of June 2026); a ghost slice counted as capacity for ever
// (iris#3568).
//
// What Bellows does instead: there is one view. Room is what the scheduler last reported; what it does not
// report on is busy, never idle, and holds nothing. So waiting work gets a slice it can use, and the one
// in doubt is shown as `unreported` until somebody speaks for it. Promise 9.

import { expect, test } from 'vitest';
import { must } from '../../src/support/assert.ts';
import { hours, minutes } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
groups:
  - name: gpu
    provider: simulated
    device: gpu
    host: { gpu: 8 }
    max: 3
    pricePerHour: 30
    idleTimeout: 5m
`;

test('a slice that its scheduler takes for dead is neither used nor removed; work gets another', async () => {
  const stage = new Stage(config);
  stage.submit('train', { gpu: 8, runMs: hours(3) });
  await stage.until(() => stage.runningCount === 1, minutes(10));
  const { id } = must(stage.slices()[0], 'a slice at work');
  stage.hasJoined = ({ sliceId }) => sliceId !== id; // its work goes back to the queue
  await stage.run(20_000);
  expect(stage.runningCount).toBe(0);

  await stage.until(() => stage.runningCount === 1, minutes(20));
  expect(stage.made()).toHaveLength(2);
  await stage.run(hours(1));
  expect(stage.verdictOn(id)).toEqual({ kind: 'unreported' });
  expect(stage.alive()).toHaveLength(2);

  stage.hasJoined = () => true; // it speaks again: without work, so its time begins to run
  await stage.run(minutes(3));
  expect(stage.verdictOn(id)).toMatchObject({ kind: 'idle-grace' });
  await stage.run(minutes(10));
  expect(stage.alive()).toHaveLength(1);
  await stage.end();
});

test('nobody ever speaks for it: an operator can still end it', async () => {
  const stage = new Stage(config);
  stage.submit('train', { gpu: 8, runMs: hours(3) });
  await stage.until(() => stage.slices('gpu', 'initializing').length === 1, minutes(10));
  const { id } = must(stage.slices()[0], 'one on its way');
  stage.hasJoined = ({ sliceId }) => sliceId !== id;
  await stage.until(() => stage.runningCount === 1, minutes(20));
  expect(stage.verdictOn(id)).toEqual({ kind: 'unreported' });
  await stage.tell({
    kind: 'drain-slice',
    sliceId: id,
    author: 'ana',
    reason: 'its agent is gone',
    deadlineMs: null,
  });
  await stage.run(minutes(40));
  expect(stage.alive().map(({ sliceId }) => sliceId)).not.toContain(id);
  await stage.end();
});

test('a ghost: a slice whose machine is gone holds no work and no place', async () => {
  const stage = new Stage(config);
  stage.submit('train', { gpu: 8, runMs: hours(3) }, 3);
  await stage.until(() => stage.runningCount === 3, minutes(15));
  for (const { id } of stage.slices()) stage.cloud().levers.killHost(id, 0);
  await stage.run(minutes(1));
  expect(stage.runningCount).toBe(0);
  await stage.until(() => stage.runningCount === 3, minutes(20));
  expect(stage.slices()).toHaveLength(3);
  expect(stage.alive()).toHaveLength(3);
  await stage.end();
});

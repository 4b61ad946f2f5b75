// The image of a live group changes.
//
// What happens elsewhere: drift replaces nodes under running work, many at once; or nothing is replaced
// and two images live side by side for months without anybody knowing.
//
// What Bellows does: slices of the old shape are outdated. `keep` leaves them, `replace-idle` replaces
// those without work, `roll` replaces all, a tenth at a time and each with a drain that waits for its
// work. A new price or max is no new shape. Promises 1 and 9.

import { expect, test } from 'vitest';
import { must } from '../../src/support/assert.ts';
import { control, hours, minutes } from './sketch.ts';
import { Stage } from './stage.ts';

const config = (onChange: string, image: string, price = 10): string => `
loop: { reconcileInterval: 60s }
groups:
  - name: gpu
    provider: simulated
    device: gpu
    host: { gpu: 8 }
    min: 4
    max: 8
    pricePerHour: ${price}
    onChange: ${onChange}
    launch: { image: ${image} }
limits: { upscalingSpeed: none, drainingPercent: none }
`;
const shapeOf = (onChange: string, image: string): string =>
  must(control(config(onChange, image)).groups[0], 'the group').shape;

async function ready(onChange: string): Promise<Stage> {
  const stage = new Stage(config(onChange, 'v1'));
  await stage.until(() => stage.slices('gpu', 'ready').length === 4, minutes(6));
  return stage;
}

test('keep: nothing happens', async () => {
  const stage = await ready('keep');
  stage.fleet.changeControl(control(config('keep', 'v2')));
  await stage.run(minutes(30));
  expect(stage.made()).toHaveLength(4);
  await stage.end();
});

test('roll: all are replaced, one at a time, and min is never left by more than one', async () => {
  const stage = await ready('roll');
  stage.fleet.changeControl(control(config('roll', 'v2')));
  let fewest = 4;
  for (let n = 0; n < 120; n++) {
    await stage.run(minutes(0.5));
    fewest = Math.min(fewest, stage.slices('gpu', 'ready').length);
  }
  expect(fewest).toBeGreaterThanOrEqual(3);
  expect(new Set(stage.slices('gpu', 'ready').map(({ shape }) => shape))).toEqual(
    new Set([shapeOf('roll', 'v2')]),
  );
  expect(stage.slices('gpu', 'ready')).toHaveLength(4);
  expect(stage.made()).toHaveLength(8);
  await stage.end();
});

test('roll waits for work: what runs is finished where it runs', async () => {
  const stage = await ready('roll');
  stage.submit('train', { gpu: 8, runMs: minutes(25) }, 4);
  await stage.until(() => stage.runningCount === 4, minutes(2));
  stage.fleet.changeControl(control(config('roll', 'v2')));
  await stage.run(minutes(75));
  expect(stage.fleet.scheduler.finished.map(({ restarts }) => restarts)).toEqual([0, 0, 0, 0]);
  expect(stage.slices('gpu', 'ready').map(({ shape }) => shape)).toEqual(
    Array.from({ length: 4 }, () => shapeOf('roll', 'v2')),
  );
  await stage.end();
});

test('replace-idle: those without work are replaced, those at work when they are done', async () => {
  const stage = await ready('replace-idle');
  stage.submit('train', { gpu: 8, runMs: hours(1) }, 2);
  await stage.until(() => stage.runningCount === 2, minutes(2));
  stage.fleet.changeControl(control(config('replace-idle', 'v2')));
  await stage.run(minutes(45));
  const next = shapeOf('replace-idle', 'v2');
  expect(stage.slices('gpu').filter(({ shape }) => shape === next)).toHaveLength(2);
  await stage.run(minutes(50));
  expect(stage.slices('gpu').filter(({ shape }) => shape === next)).toHaveLength(4);
  expect(stage.fleet.scheduler.finished.map(({ restarts }) => restarts)).toEqual([0, 0]);
  await stage.end();
});

test('a new price is no new shape', async () => {
  const stage = await ready('roll');
  stage.fleet.changeControl(control(config('roll', 'v1', 99)));
  await stage.run(minutes(30));
  expect(stage.made()).toHaveLength(4);
  await stage.end();
});

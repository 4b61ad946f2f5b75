// Capacity that is wanted at a time, not for work that is there: calendars and floors.
//
// What happens elsewhere: a scheduled raise of min is undone by the next loop, or is never taken back; a
// requested floor outlives the one who asked for it.
//
// What Bellows does: a calendar is part of the decision, in its own time zone; when its hours are over the
// slices are idle ones like all others. A floor has an owner and an end. Promises 1 and 5.

import { expect, test } from 'vitest';
import { entryId, epochMs } from '../../src/model/ids.ts';
import { must } from '../../src/support/assert.ts';
import { anAsk } from '../builders.ts';
import { hours, minutes } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
loop: { reconcileInterval: 30s }
groups:
  - { name: gpu, provider: simulated, device: gpu, host: { gpu: 8 }, max: 6, pricePerHour: 30, idleTimeout: 10m }
limits: { upscalingSpeed: none, drainingPercent: none }
`;
const workday = `
calendars:
  - name: workday
    timeZone: Europe/Madrid
    entries: [{ group: gpu, days: [mon, tue, wed, thu, fri], from: '09:00', to: '10:00', min: 3 }]
`;

test('a calendar raises min for its hours, in its own time zone', async () => {
  // A Thursday, 07:30 UTC; 08:30 in Madrid.
  const wallStartMs = Date.UTC(2026, 0, 15, 7, 30);
  const stage = new Stage(config + workday, { wallStartMs });
  await stage.run(minutes(28));
  expect(stage.alive()).toEqual([]);
  await stage.run(minutes(10));
  expect(stage.slices('gpu', 'ready')).toHaveLength(3);
  const { id } = must(stage.slices('gpu')[0], 'a slice');
  expect(stage.verdictOn(id)).toEqual({ kind: 'min', min: 3 });
  await stage.run(minutes(50)); // 10:00 has come: idle since long, so they leave
  await stage.run(minutes(15));
  expect(stage.alive()).toEqual([]);
  expect(stage.made()).toHaveLength(3);
  await stage.end();
});

test('on a Saturday nobody comes', async () => {
  const wallStartMs = Date.UTC(2026, 0, 17, 7, 30);
  const stage = new Stage(config + workday, { wallStartMs });
  await stage.run(hours(2));
  expect(stage.made()).toEqual([]);
  await stage.end();
});

const holdTwo = (stage: Stage, forMs: number) =>
  stage.tell({
    kind: 'hold-floor',
    floor: {
      id: entryId('demo'),
      owner: 'ana',
      count: 2,
      ask: anAsk({ device: { type: 'gpu', variants: null }, resources: { gpu: 8_000 } }),
      expiresAtMs: epochMs(stage.fleet.nowMs + forMs),
    },
  });

test('a floor holds idle slices beyond their idle timeout, and ends with its time', async () => {
  const stage = new Stage(config);
  await stage.run(minutes(1));
  expect(await holdTwo(stage, minutes(40))).toEqual({ kind: 'done' });
  await stage.run(minutes(30));
  expect(stage.slices('gpu', 'ready')).toHaveLength(2);
  for (const { id } of stage.slices('gpu')) {
    expect(stage.verdictOn(id)).toEqual({ kind: 'floor' });
  }
  await stage.run(minutes(20));
  expect(stage.alive()).toEqual([]);
  expect(stage.made()).toHaveLength(2);
  await stage.end();
});

test('a floor survives a restart, is used by work and is not added to it', async () => {
  const stage = new Stage(config);
  await stage.run(minutes(1));
  await holdTwo(stage, hours(2));
  await stage.run(minutes(8));
  stage.fleet.kill();
  stage.submit('job', { gpu: 8, runMs: minutes(20) }, 2);
  await stage.run(minutes(10));
  expect(stage.runningCount).toBe(2);
  expect(stage.made()).toHaveLength(2);
  await stage.tell({ kind: 'drop-floor', id: 'demo' });
  await stage.run(minutes(30));
  expect(stage.alive()).toEqual([]);
  await stage.end();
});

// Class 2: a slow status is taken for a failure, and live capacity is deleted.
//
// What happened: a create was polled for 600 s and given up though the slice was already at work
// (iris#6087). A stale row's cloud id would have ended the healthy pod that had reused it
// (ray-project/ray#63424).
//
// What Bellows does instead: an answer that does not come is no answer. What a call did is believed when
// a list shows it; a machine is lost only when lists that had time to show it do not. A wait that is over
// ends by slice id, never by a machine id that may be another's by now. Promises 2 and 3.

import { expect, test } from 'vitest';
import { groupName } from '../../src/model/ids.ts';
import { hours, minutes } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
groups:
  - { name: gpu, provider: simulated, device: gpu, host: { cpu: 64, gpu: 8 }, max: 4, pricePerHour: 30 }
timeouts: { requesting: 3m, booting: 10m }
limits: { upscalingSpeed: none }
`;

test('a launch that is never answered: its machines are seen, used, and not bought again', async () => {
  const stage = new Stage(config);
  stage.onLaunch = async (_, launch) => {
    await launch();
    return new Promise(() => {});
  };
  stage.submit('train', { gpu: 8, runMs: hours(1) }, 2);
  await stage.run(minutes(20));
  expect(stage.runningCount).toBe(2);
  expect(stage.made()).toHaveLength(2);
  await stage.end();
});

test('a slow boot is waited for until its timeout, and replaced only then', async () => {
  const slow = { start: { fromMs: minutes(9), toMs: minutes(9) } };
  const stage = new Stage(config, { offers: [{ group: groupName('gpu'), ...slow }] });
  stage.submit('train', { gpu: 8, runMs: hours(1) });
  await stage.run(minutes(9));
  expect(stage.slices('gpu', 'booting')).toHaveLength(1);
  expect(stage.reasonFor('train')).toMatchObject({ code: 'placed' });
  await stage.run(minutes(11));
  expect(stage.runningCount).toBe(1);
  expect(stage.made()).toHaveLength(1);
  await stage.end();
});

test('a cloud that queues beyond the timeout: released by slice id, so what comes late does not stay', async () => {
  const late = { queue: { fromMs: minutes(5), toMs: minutes(5) } };
  const stage = new Stage(config, { offers: [{ group: groupName('gpu'), ...late }] });
  stage.submit('train', { gpu: 8, runMs: hours(1) });
  await stage.until(() => stage.callsOf('terminate').length > 0, minutes(4));
  const [released] = stage.callsOf('terminate');
  expect(released?.sliceIds).toEqual(stage.callsOf('launch')[0]?.sliceIds);
  stage.fleet.scheduler.cancel(stage.fleet.scheduler.ids[0] ?? never());
  await stage.run(minutes(30));
  expect(stage.alive()).toEqual([]);
  expect(stage.slices()).toEqual([]);
  await stage.end();
});

test('a fleet that looks twice an hour when all is quiet still sees what it launches', async () => {
  // The next list was half an hour away when the launch was sent: its timeout would have come first.
  const stage = new Stage(`loop: { reconcileInterval: 30m }\n${config}`);
  await stage.run(minutes(5));
  stage.submit('train', { gpu: 8, runMs: minutes(20) }, 2);
  await stage.until(() => stage.runningCount === 2, minutes(10));
  expect(stage.made()).toHaveLength(2);
  await stage.end();
});

test('the controller was away longer than a boot may take: what came up meanwhile is kept', async () => {
  const stage = new Stage(config);
  stage.submit('train', { gpu: 8, runMs: hours(1) }, 2);
  await stage.until(() => stage.slices('gpu', 'booting').length === 2, minutes(2));
  for (let n = 0; n < 12; n++) {
    stage.fleet.kill(); // its lease runs out before the next one leads, and that one dies too
    await stage.run(minutes(1));
  }
  expect(stage.fleet.leader).toBeNull();
  await stage.run(minutes(10));
  expect(stage.made()).toHaveLength(2);
  expect(stage.runningCount).toBe(2);
  await stage.end();
});

test('a machine that drops out of lists for a moment keeps its work', async () => {
  const stage = new Stage(config);
  stage.submit('train', { gpu: 8, runMs: hours(1) }, 3);
  await stage.until(() => stage.runningCount === 3, minutes(10));
  const [victim] = stage.slices();
  // Lists of this cloud may lag by 30 s: two in a row that lack a machine say nothing.
  let hidden = 0;
  stage.onList = async (_, list) => {
    const rows = await list();
    return hidden++ < 2 ? rows.filter(({ sliceId }) => sliceId !== victim?.id) : rows;
  };
  await stage.run(minutes(70));
  expect(hidden).toBeGreaterThan(2);
  expect(stage.fleet.scheduler.finished.map(({ restarts }) => restarts)).toEqual([0, 0, 0]);
  await stage.end();
});

test('a host that is truly gone is replaced, once', async () => {
  const stage = new Stage(config);
  stage.submit('train', { gpu: 8, runMs: hours(1) });
  await stage.until(() => stage.runningCount === 1, minutes(10));
  const [victim] = stage.slices();
  stage.cloud().levers.killHost(victim?.id ?? never(), 0);
  await stage.run(minutes(10));
  const lost = stage.record(victim?.id ?? never());
  expect(lost.history.map(({ cause }) => cause?.kind)).toContain('host-lost');
  expect(stage.runningCount).toBe(1);
  expect(stage.made()).toHaveLength(2);
  await stage.end();
});

function never(): never {
  throw new Error('there is one');
}

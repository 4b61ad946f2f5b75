// Class 15: one thing that may not move stops everything else, for ever.
//
// What happened: a disruption budget held a nearly empty big node (kubernetes-sigs/karpenter#1776, #2802);
// a scale-up "in progress" blocked all scale-down (kubernetes/autoscaler#8258, #8313); counters of
// runners got stuck (actions-runner-controller#3821).
//
// What Bellows does instead: a refusal, a protected mark or a pause concerns its own slice, group or
// fleet, is shown with its reason, and where time ends it, with its end. All else goes on. Promises 6, 9.

import { expect, test } from 'vitest';
import { epochMs, groupName } from '../../src/model/ids.ts';
import { must } from '../../src/support/assert.ts';
import { hours, minutes } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
groups:
  - { name: gpu, provider: simulated, device: gpu, host: { gpu: 8 }, max: 6, pricePerHour: 30, idleTimeout: 5m }
  - { name: cpu, provider: simulated, host: { cpu: 16 }, max: 6, pricePerHour: 1, idleTimeout: 5m }
limits: { upscalingSpeed: none, drainingPercent: none }
timeouts: { booting: 30m }
`;

async function withIdleSlices(): Promise<Stage> {
  const stage = new Stage(config);
  stage.submit('job', { gpu: 8, runMs: minutes(2) }, 3);
  await stage.until(() => stage.finished().length === 3, minutes(10));
  return stage;
}

test('a drain that is refused: the slice stays, is asked again later, and the others go', async () => {
  const stage = await withIdleSlices();
  const { id } = must(stage.slices('gpu')[0], 'an idle slice');
  const { scheduler } = stage.fleet;
  const reports = scheduler.reports.bind(scheduler);
  let isRefusing = true;
  scheduler.reports = (nowMs, againMs) =>
    reports(nowMs, againMs).map((report) => {
      const isRefused = isRefusing && report.sliceId === id && report.drain === 'drained';
      return isRefused ? { ...report, drain: 'refused' } : report;
    });
  await stage.run(minutes(8));
  expect(stage.slices('gpu').map((slice) => slice.id)).toEqual([id]);
  expect(stage.record(id).history.map(({ cause }) => cause?.kind)).toContain('drain-refused');
  expect(stage.verdictOn(id).kind).toMatch(/idle-grace|drain-called-off/);
  isRefusing = false;
  await stage.until(() => stage.alive('gpu').length === 0, minutes(20));
  await stage.end();
});

test('a protected slice stays until the mark is taken away; its neighbours go', async () => {
  const stage = await withIdleSlices();
  const { id } = must(stage.slices('gpu')[0], 'an idle slice');
  await stage.tell({ kind: 'protect-slice', sliceId: id, isProtected: true });
  await stage.run(minutes(60));
  expect(stage.alive('gpu').map(({ sliceId }) => sliceId)).toEqual([id]);
  expect(stage.verdictOn(id)).toEqual({ kind: 'protected' });
  await stage.tell({ kind: 'protect-slice', sliceId: id, isProtected: false });
  await stage.until(() => stage.alive('gpu').length === 0, minutes(5));
  await stage.end();
});

test('a paused group: no launch, a reason with its end, other groups go on, and it expires', async () => {
  const stage = new Stage(config);
  await stage.run(minutes(1));
  const untilMs = epochMs(stage.fleet.nowMs + minutes(20));
  const pause = { id: 'p', group: groupName('gpu'), author: 'ana', reason: 'maintenance' };
  await stage.tell({
    kind: 'pause',
    pause: { ...pause, what: 'both', sinceMs: stage.fleet.nowMs, untilMs },
  });
  stage.submit('gpu', { gpu: 8, runMs: minutes(5) }, 2);
  stage.submit('cpu', { cpu: 16, runMs: minutes(5) }, 2);
  await stage.run(minutes(15));
  expect(stage.made('gpu')).toEqual([]);
  expect(stage.finished()).toEqual(['cpu-0', 'cpu-1']);
  expect(stage.reasonFor('gpu-0').rules).toEqual({ gpu: 'paused', cpu: 'device' });
  await stage.until(() => stage.finished().length === 4, minutes(20));
  expect(await stage.events('resumed')).toEqual([{ kind: 'resumed', pauseId: 'p', by: 'expiry' }]);
  await stage.end();
});

test('a pause of terminations: idle slices are kept and say so, launches go on', async () => {
  const stage = await withIdleSlices();
  const pause = { id: 'p', group: null, author: 'ana', reason: 'incident', untilMs: null };
  await stage.tell({
    kind: 'pause',
    pause: { ...pause, what: 'terminations', sinceMs: stage.fleet.nowMs },
  });
  stage.submit('cpu', { cpu: 16, runMs: hours(2) });
  await stage.run(minutes(30));
  expect(stage.alive('gpu')).toHaveLength(3);
  expect(stage.alive('cpu')).toHaveLength(1);
  for (const { id } of stage.slices('gpu')) {
    expect(stage.verdictOn(id)).toEqual({ kind: 'paused' });
  }
  await stage.tell({ kind: 'resume', pauseId: 'p' });
  await stage.until(() => stage.alive('gpu').length === 0, minutes(5));
  await stage.end();
});

test('launches that hang in their boot hold up no scale-down', async () => {
  const stage = await withIdleSlices();
  stage.cloud().levers.failBoot(groupName('cpu'), stage.inCloud(hours(1)));
  stage.submit('cpu', { cpu: 16, runMs: hours(2) }, 4);
  await stage.until(() => stage.alive('gpu').length === 0, minutes(8));
  await stage.end();
});

// Class 13: calls to the provider use up the account's rate, and then nothing works.
//
// What happened: describe calls exhausted the account, also for everybody else in it
// (kubernetes/autoscaler#252, #4133; ray-project/ray#1346; aws/karpenter-provider-aws#7961).
//
// What Bellows does instead: one list at a time and at most one every five seconds, whatever the size of
// the fleet; launches and releases go out in batches; a provider that throttles is left alone until the
// end it named, and lists that fail come less and less often. Promise 6.

import { expect, test } from 'vitest';
import { hours, minutes, seconds } from './sketch.ts';
import { Stage } from './stage.ts';
import type { Call } from './view.ts';

const config = `
providers:
  busy: { type: simulated }
  calm: { type: simulated }
groups:
  - { name: gpu, provider: busy, device: gpu, host: { gpu: 8 }, max: 200, pricePerHour: 30 }
  - { name: cpu, provider: calm, host: { cpu: 16 }, max: 20, pricePerHour: 1 }
limits:
  { upscalingSpeed: none, concurrentLaunches: none, createsPerMinute: none, terminationsPerMinute: none }
`;

/** The most calls in any minute. */
function peakPerMinute(calls: readonly Call[]): number {
  const counts = calls.map(({ atMs }) => {
    return calls.filter((other) => other.atMs >= atMs && other.atMs < atMs + minutes(1)).length;
  });
  return Math.max(0, ...counts);
}

test('a hundred and twenty slices come and go with a handful of calls a minute', async () => {
  const stage = new Stage(config);
  stage.submit('job', { gpu: 8, runMs: minutes(5) }, 120);
  await stage.run(minutes(35));
  expect(stage.finished()).toHaveLength(120);
  expect(stage.alive()).toEqual([]);
  const ofBusy = (kind: Call['kind']): readonly Call[] =>
    stage.callsOf(kind).filter(({ provider }) => provider === 'busy');
  expect(peakPerMinute(ofBusy('list'))).toBeLessThanOrEqual(13);
  expect(ofBusy('launch')).toHaveLength(3); // fifty in each at most
  expect(peakPerMinute(ofBusy('terminate'))).toBeLessThanOrEqual(13);
  expect(ofBusy('terminate').length).toBeLessThanOrEqual(40);
  await stage.end();
});

test('a quiet fleet is listed every quarter of a minute, and called for nothing else', async () => {
  const stage = new Stage(config);
  stage.submit('job', { gpu: 8, runMs: hours(3) }, 20);
  await stage.run(minutes(10));
  stage.calls.length = 0;
  await stage.run(minutes(30));
  expect(stage.calls.every(({ kind }) => kind === 'list')).toBe(true);
  expect(peakPerMinute(stage.calls)).toBeLessThanOrEqual(2 * 5);
  await stage.end();
});

test('a provider that throttles is left alone until the end it named; the other goes on', async () => {
  const stage = new Stage(config);
  stage.submit('first', { gpu: 8, runMs: hours(3) });
  await stage.until(() => stage.runningCount === 1, minutes(10));
  stage.cloud('busy').levers.throttle(stage.inCloud(seconds(100), 'busy'));
  stage.calls.length = 0;
  const endMs = stage.atMs + seconds(100);
  stage.submit('more', { gpu: 8, runMs: hours(3) }, 5);
  stage.submit('cpu', { cpu: 16, runMs: hours(1) }, 5);
  await stage.run(seconds(95));
  expect(stage.callsOf('launch', 'gpu')).toHaveLength(1);
  expect(stage.alive('cpu')).toHaveLength(5);
  expect(stage.reasonFor('more-0').rules).toEqual({ gpu: 'backoff', cpu: 'device' });
  await stage.run(minutes(10));
  expect(stage.callsOf('launch', 'gpu')[1]?.atMs).toBeGreaterThanOrEqual(endMs - seconds(5));
  expect(stage.alive('gpu')).toHaveLength(6);
  await stage.end();
});

test('lists that are refused come less and less often', async () => {
  const stage = new Stage(config);
  stage.submit('job', { gpu: 8, runMs: hours(3) }, 3);
  await stage.until(() => stage.slices('gpu', 'booting').length > 0, minutes(3));
  stage.cloud('busy').levers.throttle(stage.inCloud(minutes(20), 'busy'));
  await stage.run(minutes(2));
  stage.calls.length = 0;
  await stage.run(minutes(17));
  const lists = stage.callsOf('list').filter(({ provider }) => provider === 'busy');
  expect(lists.length).toBeLessThanOrEqual(18); // one a minute
  await stage.run(minutes(5));
  expect(stage.runningCount).toBe(3);
  await stage.end();
});

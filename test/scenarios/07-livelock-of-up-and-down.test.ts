// Class 7: what one rule brings up another takes down, for ever.
//
// What happened: the idle timer ended nodes while a gang was still assembling, again and again
// (ray-project/ray#50783); 2 <-> 1 replicas, because the load of the survivors grows (ai-dynamo#9294);
// churn at no load after a restart (skypilot#8562).
//
// What Bellows does instead: slices for a gang are reserved from launch until it is placed and are not
// idle meanwhile. A gang that does not come together is rolled back after `gangAssembly`, with a reason,
// and tried again only after a wait that grows. Promise 5.

import { expect, test } from 'vitest';
import { hours, minutes, seconds } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
groups:
  - name: gpu
    provider: simulated
    device: gpu
    host: { gpu: 8 }
    max: 8
    pricePerHour: 30
    idleTimeout: 1m
    quotaPool: gpus
quotaPools: { gpus: { gpu: 64 } }
timeouts: { gangAssembly: 15m }
limits: { upscalingSpeed: none }
`;

test('three of four hosts wait for the fourth beyond their idle timeout: none of them is idle', async () => {
  const stage = new Stage(config, { quotas: { gpus: 3 } });
  stage.submit('gang', { gpu: 8, gang: 4, runMs: hours(1) });
  await stage.until(() => stage.slices('gpu', 'ready').length === 3, minutes(3));
  await stage.run(minutes(4.5) - stage.atMs);
  for (const { id } of stage.slices('gpu', 'ready')) {
    expect(stage.verdictOn(id)).toEqual({ kind: 'reserved', gang: 'gang' });
  }
  stage.cloud().levers.setQuota('gpus', 4);
  // Quota is asked about again 5 min after it was refused.
  await stage.until(() => stage.runningCount === 1, minutes(5));
  expect(stage.made()).toHaveLength(4);
  expect(await stage.events('gang-rolled-back')).toEqual([]);
  await stage.end();
});

test('the fourth never comes: rolled back with a reason, and tried less and less often', async () => {
  const stage = new Stage(config, { quotas: { gpus: 3 } });
  stage.submit('gang', { gpu: 8, gang: 4, runMs: hours(1) });
  await stage.run(minutes(17));
  expect(await stage.events('gang-rolled-back')).toMatchObject([{ gang: 'gang' }]);
  expect(stage.reasonFor('gang')).toEqual({
    code: 'no-capacity',
    rules: { gpu: 'quota-exceeded' },
  });
  await stage.run(minutes(3));
  expect(stage.alive()).toEqual([]); // not held, not paid

  await stage.run(minutes(70));
  const tries = (await stage.events('gang-rolled-back')).length;
  expect(tries).toBeLessThanOrEqual(3); // an hour and a half: every half hour once the wait has grown
  expect(stage.made().length).toBeLessThanOrEqual((tries + 1) * 3);
  const waits = (await stage.events('backoff-started')).map(({ trouble }) => trouble);
  const quota = waits.filter(({ kind }) => kind === 'quota-exceeded');
  expect(quota.map(({ attempts }) => attempts)).toEqual(quota.map((_, index) => index + 1));
  await stage.end();
});

test('work goes on beside a gang that waits', async () => {
  const stage = new Stage(config, { quotas: { gpus: 5 } });
  stage.submit('gang', { gpu: 8, gang: 6, runMs: hours(1) });
  await stage.run(minutes(16)); // held five, rolled back
  stage.submit('single', { gpu: 8, runMs: minutes(5) });
  await stage.until(() => stage.finished().includes('single'), minutes(45));
  await stage.end();
});

test('a load that comes and goes within the idle timeout keeps its slice', async () => {
  const stage = new Stage(config.replace('idleTimeout: 1m', 'idleTimeout: 5m'));
  for (let n = 0; n < 20; n++) {
    stage.submit(`pulse-${n}`, { gpu: 8, runMs: minutes(1) });
    await stage.run(minutes(4) + seconds(10));
  }
  expect(stage.finished().length).toBeGreaterThanOrEqual(19);
  expect(stage.made()).toHaveLength(1);
  await stage.end();
});

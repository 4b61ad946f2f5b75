// Class 12: data that is missing is read as a number, mostly as zero.
//
// What happened: no traffic was NaN and nothing was ever scaled down (ai-dynamo#6985); empty constraints
// meant no capacity while the log said unlimited (llm-d workload-variant-autoscaler#1298); a deploy
// dropped everything to min (kedacore/keda#6762); one odd unmanaged node stopped all scale-up
// (kubernetes/autoscaler#10301).
//
// What Bellows does instead: no data is a reason to hold, never a zero. A list that fails, is empty or
// lacks most machines changes nothing; a host without a report is busy. Promises 3, 6 and 9.

import { expect, test } from 'vitest';
import { ProviderError } from '../../src/ports/provider.ts';
import { hours, minutes, seconds } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
groups:
  - { name: gpu, provider: simulated, device: gpu, host: { gpu: 8 }, max: 10, pricePerHour: 30, idleTimeout: 5m }
limits: { upscalingSpeed: none }
`;

async function atWork(): Promise<{ stage: Stage; homes: readonly string[] }> {
  const stage = new Stage(config);
  stage.submit('train', { gpu: 8, runMs: hours(2) }, 8);
  await stage.until(() => stage.runningCount === 8, minutes(10));
  return { stage, homes: stage.alive().map(({ machineId }) => machineId) };
}

test('half an hour without a list: everything is held, nothing is launched or released', async () => {
  const { stage, homes } = await atWork();
  stage.onList = () => Promise.reject(new ProviderError('unreachable', 'no route to host'));
  await stage.run(minutes(30));
  expect(stage.slices('gpu', 'ready')).toHaveLength(8);
  expect(await stage.events('provider-silent')).toHaveLength(1); // told once, not with every list
  stage.onList = (_, list) => list();
  await stage.run(minutes(5));
  expect(await stage.events('provider-back')).toHaveLength(1);
  expect(stage.alive().map(({ machineId }) => machineId)).toEqual(homes);
  expect(stage.callsOf('terminate')).toEqual([]);
  await stage.end();
});

test.each([
  ['empty', 0],
  ['lacking most machines', 3],
] as const)('two lists in a row that are %s are held back', async (_name, shown) => {
  const { stage, homes } = await atWork();
  let lies = 0;
  stage.onList = async (_, list) => {
    const rows = await list();
    return lies++ < 2 ? rows.slice(0, shown) : rows;
  };
  await stage.run(minutes(10));
  expect(lies).toBeGreaterThan(2);
  expect(stage.alive().map(({ machineId }) => machineId)).toEqual(homes);
  expect(stage.runningCount).toBe(8);
  expect(stage.made()).toHaveLength(8);
  await stage.end();
});

test('a restart while the provider is silent: what is remembered is held, nothing new is bought', async () => {
  const { stage, homes } = await atWork();
  stage.onList = () => Promise.reject(new ProviderError('timeout', 'no answer'));
  stage.fleet.kill();
  stage.submit('more', { gpu: 8, runMs: hours(1) });
  await stage.run(minutes(15));
  expect(stage.slices('gpu', 'ready')).toHaveLength(8);
  // What it holds is not known: to launch now could be to launch twice.
  expect(stage.reasonFor('more')).toEqual({ code: 'no-capacity', rules: { gpu: 'backoff' } });
  expect(stage.alive().map(({ machineId }) => machineId)).toEqual(homes);
  stage.onList = (_, list) => list();
  await stage.until(() => stage.made().length === 9, seconds(90));
  await stage.end();
});

test('no reports for half an hour: all is taken for busy, and no room is taken for free', async () => {
  const { stage, homes } = await atWork();
  stage.fleet.scheduler.reports = () => [];
  await stage.run(minutes(30));
  expect(stage.alive().map(({ machineId }) => machineId)).toEqual(homes);
  for (const { id } of stage.slices()) {
    expect(stage.verdictOn(id)).toEqual({ kind: 'unreported' });
  }
  await stage.end();
});

test('machines of others, and rows about nothing, change nothing', async () => {
  const { stage } = await atWork();
  expect(stage.cloud().truth.foreignAlive().length).toBeGreaterThan(0);
  stage.onList = async (_, list) => {
    // What a careless adapter might let through: the type promises a machine.
    const garbage = [null, {}, { machineId: 7 }, 'oops'] as unknown as [];
    return [...garbage, ...(await list())];
  };
  stage.submit('more', { gpu: 8, runMs: hours(1) });
  await stage.until(() => stage.runningCount === 9, minutes(5));
  expect(stage.cloud().truth.foreignTerminations()).toBe(0);
  await stage.end();
});

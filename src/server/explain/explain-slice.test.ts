import { expect, test } from 'vitest';
import { hours, minutes, seconds } from '../../../test/scenarios/sketch.ts';
import { Stage } from '../../../test/scenarios/stage.ts';
import { ask, why } from '../../../test/why.ts';
import { epochMs, groupName, type SliceId } from '../../model/ids.ts';
import { must } from '../../support/assert.ts';

const config = `
groups:
  - { name: spot, provider: simulated, device: gpu, host: { gpu: 8 }, max: 2, pricePerHour: 10, preemptible: true }
  - { name: on-demand, provider: simulated, device: gpu, host: { gpu: 8 }, max: 2, pricePerHour: 30 }
  - { name: cpu, provider: simulated, host: { cpu: 16 }, max: 3, pricePerHour: 1, idleTimeout: 10m }
  - { name: pod, provider: simulated, device: tpu, host: { tpu: 4 }, hostsPerSlice: 4, max: 2, pricePerHour: 20 }
limits: { upscalingSpeed: none, concurrentLaunches: none, createsPerMinute: none }
`;

const firstOf = (stage: Stage, group: string): SliceId =>
  must(stage.slices(group)[0], `a slice of ${group}`).id;

/** A slice of the cpu group that has just lost its work. */
async function idleSlice(): Promise<{ readonly stage: Stage; readonly id: SliceId }> {
  const stage = new Stage(config);
  stage.submit('job', { cpu: 8, runMs: minutes(2) });
  await stage.until(() => stage.finished().length === 1, minutes(10));
  await stage.run(seconds(30));
  return { stage, id: firstOf(stage, 'cpu') };
}

test('booting: what it waits for, and what happens when that takes too long', async () => {
  const stage = new Stage(config);
  stage.submit('job', { cpu: 8, runMs: minutes(30) });
  await stage.until(() => stage.slices('cpu', 'booting').length === 1, minutes(1));
  await stage.run(seconds(20));
  expect(await why(stage, firstOf(stage, 'cpu'))).toMatchInlineSnapshot(`
    "slice cpu-1-t85s02-0
    cpu-1-t85s02-0, a slice of cpu, has been booting for 20s: awaits all its hosts to be up
      10s planned: queued, planned: for pending work
      10s launch-sent: requesting, asked of the provider
      15s machines-seen: booting, its machines are there
      now waiting: booting; when that takes more than 10m: released; what it was for is planned anew, the group loses health
    next look 50s: awaited: all its hosts to be up; the next decision, at the latest; in 9m40s: if slice cpu-1-t85s02-0 is still booting: released; what it was for is planned anew, the group loses health"
  `);
  await stage.end();
});

test('idle: since when, and when it will drain', async () => {
  const { stage, id } = await idleSlice();
  expect(await why(stage, id)).toMatchInlineSnapshot(`
    "slice cpu-1-t85s02-0
    cpu-1-t85s02-0, a slice of cpu, has been ready for 2m30s: without work, but not for 10m yet
      10s planned: queued, planned: for pending work
      10s launch-sent: requesting, asked of the provider
      15s machines-seen: booting, its machines are there
      60s hosts-up: initializing, all its hosts are up
      95s hosts-ready: ready, all its hosts are ready for work
      215s idle: without work since then
      now idle-grace: without work, but not for 10m yet
    remedy: to let it go now: bellows drain cpu-1-t85s02-0; to keep it: bellows protect cpu-1-t85s02-0
    next look 260s: the next decision, at the latest; in 9m30s: it has been without work for 10m and drains, if still so"
  `);
  await stage.end();
});

test('protected: no end is told, and how to undo it', async () => {
  const { stage, id } = await idleSlice();
  await stage.tell({ kind: 'protect-slice', sliceId: id, isProtected: true });
  await stage.run(minutes(15));
  const answer = await why(stage, id);
  expect(answer).toContain('protected: no scale-down touches it');
  expect(answer).toContain(`remedy: to let it go: bellows protect ${id} --undo`);
  expect(answer).not.toContain('drains');
  await stage.end();
});

test('draining by an operator: who, why, and the deadline after which it ends anyway', async () => {
  const stage = new Stage(config);
  stage.submit('job', { cpu: 8, runMs: hours(2) });
  await stage.until(() => stage.runningCount === 1, minutes(10));
  const id = firstOf(stage, 'cpu');
  const deadlineMs = epochMs(stage.fleet.nowMs + minutes(20));
  const command = {
    kind: 'drain-slice',
    sliceId: id,
    author: 'ann',
    reason: 'new kernel',
  } as const;
  await stage.tell({ ...command, deadlineMs });
  await stage.run(seconds(20));
  const answer = await why(stage, id);
  expect(answer).toContain('drain-started: draining, asked to drain: ann asked for it: new kernel');
  expect(answer).toMatch(
    /in 19m\d+s: the drain is at its deadline: it is released, whatever runs there/,
  );
  expect(answer).toContain('awaited: its scheduler to say that all its hosts are drained');
  await stage.end();
});

test('failed by its bootstrap: the last words of it, and what to mend', async () => {
  const stage = new Stage(config);
  const failure = 'exit 127: agent: command not found';
  stage.onList = async (_provider, pass) =>
    (await pass()).map((machine) => {
      const isUp = machine.group === 'cpu' && machine.state === 'running';
      return isUp ? { ...machine, state: 'gone' as const, failure } : machine;
    });
  stage.submit('job', { cpu: 8, runMs: minutes(5) });
  const isOver = (): boolean =>
    stage.fleet.records().some(({ group, status }) => group === 'cpu' && status === 'terminating');
  await stage.until(isOver, minutes(5));
  const { id } = must(
    stage.fleet.records().find(({ status }) => status === 'terminating'),
    'the one that failed',
  );
  const answer = await why(stage, id);
  expect(answer).toMatch(/has been terminating for \d+s: bootstrap failed on host 0 .*: exit 127/);
  expect(answer).toContain('remedy: mend the bootstrap of cpu');
  expect(answer).toContain('awaited: a list of the provider without its machines');
  await stage.fleet.stop();
});

test('held for a gang that assembles', async () => {
  const stage = new Stage(config);
  stage.submit('pods', { tpu: 4, gang: 8, runMs: hours(1) });
  await stage.until(() => stage.slices('pod', 'booting').length === 2, minutes(1));
  await stage.run(seconds(20));
  const answer = await why(stage, firstOf(stage, 'pod'));
  expect(answer).toContain('reserved: held for gang pods alone');
  expect(answer).toMatch(/in 14m\d+s: if gang pods has not started by then, it is held no longer/);
  await stage.end();
});

test('a stand-in says for whom, and what ended says why', async () => {
  const stage = new Stage(config);
  stage.stockout('spot', minutes(30));
  stage.submit('train', { gpu: 8, runMs: hours(1) });
  await stage.until(() => stage.alive('on-demand').length === 1, minutes(2));
  await stage.run(seconds(20));
  const standIn = await why(stage, firstOf(stage, 'on-demand'));
  expect(standIn).toContain('fallback: on-demand stands in for spot, which could not launch then');
  const refused = must(
    stage.fleet.records().find(({ group }) => group === groupName('spot')),
    'the one that was refused',
  );
  const ended = await ask(stage, refused.id);
  expect(ended.summary).toMatch(/ended \d+s ago \(failed\): the provider is out of stock/);
  expect(ended.nextLookAt).toBeUndefined();
  expect(ended.nextLook).toBe('it has ended: nothing more comes of it');
  await stage.end();
});

import { expect, test } from 'vitest';
import { anAsk, anEntry } from '../../../test/builders.ts';
import { hours, minutes, seconds } from '../../../test/scenarios/sketch.ts';
import { Stage } from '../../../test/scenarios/stage.ts';
import { ask, why } from '../../../test/why.ts';
import type { Entry } from '../../model/demand.ts';
import { epochMs, groupName } from '../../model/ids.ts';

const config = `
groups:
  - { name: spot, provider: simulated, device: gpu, host: { gpu: 8 }, max: 2, pricePerHour: 10, preemptible: true }
  - { name: on-demand, provider: simulated, device: gpu, host: { gpu: 8 }, max: 1, pricePerHour: 30 }
  - { name: cpu, provider: simulated, host: { cpu: 16 }, max: 3, pricePerHour: 1 }
  - { name: pod, provider: simulated, device: tpu, host: { tpu: 4 }, hostsPerSlice: 4, max: 2, pricePerHour: 20 }
`;
const rates = (limits: string): string => `${config}limits: ${limits}\n`;
const fast = rates('{ upscalingSpeed: none, concurrentLaunches: none, createsPerMinute: none }');

/** Another scheduler's work, told to the controller directly. */
const push = (stage: Stage, source: string, entries: readonly Entry[]): Promise<unknown> =>
  stage.tell({
    kind: 'push-demand',
    push: {
      source,
      generation: 1,
      entries,
      expiresAtMs: epochMs(stage.fleet.nowMs + minutes(5)),
    },
  });

test('nothing was decided since it was pushed', async () => {
  const stage = new Stage(fast);
  stage.submit('job', { cpu: 8, runMs: minutes(30) });
  await stage.run(seconds(6));
  expect(await why(stage, 'job')).toMatchInlineSnapshot(`
    "entry job
    job is not decided on yet: it came after the last decision
      0s submitted: cpu 8
      0s decided: the last decision, with the strategy cost
      now pushed: pushed by scheduler (generation 1), kept for 4m59s more unless pushed again
      now undecided: it came after the last decision; groups are judged as of then
      - spot (host-too-small) host too small: needs cpu 8, has 0
      - on-demand (host-too-small) host too small: needs cpu 8, has 0
      - cpu (would-do) would open 1 slice, $0.500/h for its share, if other work leaves it
      - pod (host-too-small) host too small: needs cpu 8, has 0
    next look 10s: awaited: the first decision on it; the next decision, at the latest"
  `);
  await stage.end();
});

test('on its way: the slices of the group, how far they are and what ends their wait', async () => {
  const stage = new Stage(fast);
  stage.submit('job', { cpu: 8, runMs: minutes(30) });
  await stage.run(seconds(26));
  expect(await why(stage, 'job')).toMatchInlineSnapshot(`
    "entry job
    job has a place on capacity on its way of cpu: 1 booting
      0s submitted: cpu 8
      15s booting: slice cpu-1-t85s02-0 of cpu is booting
      20s decided: the last decision, with the strategy cost
      now pushed: pushed by scheduler (generation 1), kept for 4m39s more unless pushed again
      now order: the only one of its kind; priority 0, no entry has a higher one
      now on-its-way: 1 task on capacity on its way of cpu
      now room-there: nothing to pay; no other group would do now
      - spot (host-too-small) host too small: needs cpu 8, has 0
      - on-demand (host-too-small) host too small: needs cpu 8, has 0
      - cpu (taken) nothing to pay; no other group would do now
      - pod (host-too-small) host too small: needs cpu 8, has 0
    next look 35s: awaited: the slices to become ready; the next decision, at the latest; in 9m50s: if slice cpu-1-t85s02-0 is still booting: released; what it was for is planned anew, the group loses health"
  `);
  await stage.end();
});

test('placed on free room, beside work that runs there', async () => {
  const stage = new Stage(fast);
  stage.submit('first', { cpu: 8, runMs: hours(1) });
  await stage.until(() => stage.runningCount === 1, minutes(10));
  await push(stage, 'other', [anEntry({ id: 'second', owner: 'ann' })]);
  await stage.run(seconds(15));
  const answer = await why(stage, 'second');
  expect(answer).toContain('second has a place: free room of cpu');
  expect(answer).toContain('by ann: cpu 1');
  expect(answer).toContain('pushed by other (generation 1)');
  expect(answer).toContain('- cpu (taken) nothing to pay');
  expect(answer).toContain('awaited: its scheduler to start it there');
  await stage.end();
});

test('new, and deferred by a rate: which one, until when, and how to raise it', async () => {
  const stage = new Stage(rates('{ upscalingSpeed: none, createsPerMinute: 1 }'));
  stage.submit('train', { gpu: 8, runMs: hours(1) }, 3);
  await stage.until(() => (stage.fleet.leader?.last?.output.deferrals.length ?? 0) > 0, minutes(1));
  expect(await why(stage, 'train-1')).toMatchInlineSnapshot(`
    "entry train-1
    train-1 has a place on new slices of spot: 2 queued
      0s submitted: on gpu, gpu 8
      10s decided: the last decision, with the strategy cost
      10s queued: slice spot-1-t85s02-0 of spot is queued
      10s queued: slice spot-1-t85s02-1 of spot is queued
      now pushed: pushed by scheduler (generation 3), kept for 4m54s more unless pushed again
      now order: number 2 of 3 alike; priority 0, no entry has a higher one
      now new: 1 task on new slices of spot
      now least-cost: least cost, $10.000/h each; no other group would do now
      now deferred: 2 launches of spot wait for a turn, 1m at most: limits.createsPerMinute launches were sent in the last minute
      - spot (taken) least cost, $10.000/h each; no other group would do now
      - on-demand (would-do) would open 1 slice, $30.000/h for its share, if other work leaves it
      - cpu (device) device: needs gpu, has cpu
      - pod (device) device: needs gpu, has tpu
    remedy: raise limits.createsPerMinute
    next look 25s: awaited: the slices to become ready; the next decision, at the latest; in 1m: launches of spot that wait are looked at again; in 15m: if slice spot-1-t85s02-0 is still queued: given up; what it was for is planned anew"
  `);
  await stage.end();
});

test('a stockout with an end: who refused, how often, and when it is tried again', async () => {
  const stage = new Stage(fast);
  stage.stockout('spot', minutes(30));
  stage.stockout('on-demand', minutes(30));
  stage.submit('train', { gpu: 8, runMs: hours(1) }, 2);
  await stage.run(seconds(20));
  await stage.until(() => stage.reasonFor('train-0').code === 'no-capacity', minutes(2));
  expect(await why(stage, 'train-0')).toMatchInlineSnapshot(`
    "entry train-0
    train-0 waits (no-capacity): a group would do, but there is no room now and none may be opened
      0s submitted: on gpu, gpu 8
      11s decided: the last decision, with the strategy cost
      now pushed: pushed by scheduler (generation 2), kept for 4m45s more unless pushed again
      now order: number 1 of 2 alike; priority 0, no entry has a higher one
      now stockout: nothing is launched in group spot for 21s (stockout): no capacity for spot; the first refusal was 9s ago
      now stockout: nothing is launched in group on-demand for 21s (stockout): no capacity for on-demand; the first refusal was 9s ago
      now no-capacity: a group would do, but there is no room now and none may be opened; it waits: the fleet could hold it
      - spot (stockout) provider is out of stock for 21s more
      - on-demand (stockout) provider is out of stock for 21s more
      - cpu (device) device: needs gpu, has cpu
      - pod (device) device: needs gpu, has tpu
    remedy: wait 21s: spot is in stockout and is tried again after it, which admits 2 of 2
    next look 26s: the next decision, at the latest; in 21s: spot is tried again, with one launch first; in 21s: on-demand is tried again, with one launch first"
  `);
  await stage.end();
});

test('at max: every group with its rule, and the remedy with how many it admits', async () => {
  const stage = new Stage(fast);
  stage.submit('train', { gpu: 8, runMs: hours(3) }, 6);
  await stage.until(() => stage.runningCount === 3, minutes(10));
  await stage.run(seconds(20));
  const [waiting] = stage.fleet.scheduler.pending;
  expect(await why(stage, String(waiting?.id))).toMatchInlineSnapshot(`
    "entry train-3
    train-3 waits (no-capacity): a group would do, but there is no room now and none may be opened
      0s submitted: on gpu, gpu 8
      90s decided: the last decision, with the strategy cost
      now pushed: pushed by scheduler (generation 9), kept for 4m40s more unless pushed again
      now order: number 1 of 3 alike; priority 0, no entry has a higher one
      now slices: spot has 2 ready
      now slices: on-demand has 1 ready
      now no-capacity: a group would do, but there is no room now and none may be opened; it waits: the fleet could hold it
      - spot (at-max) at max: needs 1 slice, 0 left of 2
      - on-demand (at-max) at max: needs 1 slice, 0 left of 1
      - cpu (device) device: needs gpu, has cpu
      - pod (device) device: needs gpu, has tpu
    remedy: raise max of spot from 2 to 5, which admits 3 of 3
    next look 105s: the next decision, at the latest"
  `);
  await stage.end();
});

test('invalid demand: what is wrong with the request, and no group to blame', async () => {
  const stage = new Stage(fast);
  await stage.run(seconds(5));
  const zone = { key: 'zone', values: ['a'], soft: false };
  const constraints = [{ ...zone, op: 'eq' } as const, { ...zone, op: 'ne' } as const];
  await push(stage, 'other', [
    anEntry({ id: 'wrong', form: { kind: 'single', ask: anAsk({ constraints }) } }),
  ]);
  await stage.run(seconds(20));
  const answer = await ask(stage, 'wrong');
  expect(answer.summary).toBe(
    'wrong waits (invalid-demand): the request itself is wrong: no value can satisfy zone = a and zone != a',
  );
  expect(answer.alternatives).toEqual([]);
  expect(answer.remedy).toBe('correct the request and push it again');
  await stage.end();
});

test('a gang of the wrong shape can never run here', async () => {
  const stage = new Stage(fast);
  stage.submit('odd', { tpu: 4, gang: 6, runMs: hours(1) });
  await stage.run(seconds(30));
  const answer = await why(stage, 'odd');
  expect(answer).toContain('odd can never run here (gang-mismatch)');
  expect(answer).toContain('it can never run in this fleet as configured');
  expect(answer).toContain('- pod (gang-shape) gang shape: 6 tasks do not fill slices of 4 hosts');
  await stage.end();
});

test('a gang that assembles: its slices, and how long they are held', async () => {
  const stage = new Stage(fast);
  stage.submit('pods', { tpu: 4, gang: 8, runMs: hours(1) });
  await stage.until(() => stage.slices('pod', 'booting').length === 2, minutes(1));
  await stage.run(seconds(20));
  const answer = await why(stage, 'pods');
  expect(answer).toMatch(/slice pod-\S+ of pod is (booting|initializing)/);
  expect(answer).toContain('8 tasks on capacity on its way of pod');
  expect(answer).toMatch(
    /in 14m\d+s: if the gang has not started by then, its slices are given up/,
  );
  await stage.end();
});

test('the name of a task leads to its gang', async () => {
  const stage = new Stage(fast);
  await stage.run(seconds(5));
  const form = { kind: 'gang', ask: anAsk({ resources: { cpu: 4_000 } }), taskCount: 3 } as const;
  await push(stage, 'other', [anEntry({ id: 'trio', form, taskIds: ['t0', 't1', 't2'] })]);
  await stage.run(seconds(20));
  const answer = await ask(stage, 't1');
  expect(answer.subject).toBe('trio');
  const task = answer.chain.find(({ reason }) => reason?.kind === 'task');
  expect(task?.reason?.text).toBe('t1 is one of the 3 tasks of gang trio');
  await stage.end();
});

test('the name of a batch leads to the first of it that waits; a number to that one', async () => {
  const stage = new Stage(fast);
  await stage.run(seconds(5));
  const gpu = anAsk({ device: { type: 'gpu', variants: null }, resources: { gpu: 8_000 } });
  await push(stage, 'other', [
    anEntry({ id: 'sweep', count: 5, form: { kind: 'single', ask: gpu } }),
  ]);
  await stage.run(seconds(20));
  const batch = await ask(stage, 'sweep');
  expect(batch.subject).toBe('sweep/3');
  expect(batch.chain.map(({ reason }) => reason?.text)).toContain(
    'one of the 5 entries of sweep: 3 of them have a place, 2 wait',
  );
  expect((await ask(stage, 'sweep/0')).summary).toContain('sweep/0 has a place on');
  expect((await ask(stage, 'sweep/4')).summary).toContain('sweep/4 waits (no-capacity)');
  expect((await ask(stage, 'sweep/4')).chain.map(({ reason }) => reason?.text)).toContain(
    'number 5 of 5 alike; priority 0, no entry has a higher one',
  );
  await stage.end();
});

test('two schedulers that use the same name: the first is told, the other named', async () => {
  const stage = new Stage(fast);
  await stage.run(seconds(5));
  await push(stage, 'beta', [anEntry({ id: 'job', owner: 'ben' })]);
  await push(stage, 'alpha', [anEntry({ id: 'job', owner: 'ann' })]);
  await stage.run(seconds(20));
  const answer = await ask(stage, 'job');
  expect(answer.chain[0]?.reason?.text).toBe('by ann: cpu 1');
  expect(answer.also).toEqual(['entry job of beta']);
  await stage.end();
});

test('taken back since the last decision: it says so', async () => {
  const stage = new Stage(`${fast}loop: { evaluationInterval: 30s, reconcileInterval: 60s }\n`);
  await stage.run(seconds(5));
  await push(stage, 'other', [anEntry({ id: 'job' })]);
  await stage.until(() => stage.reasonFor('job').code === 'placed', minutes(2));
  const gone = { source: 'other', generation: 2, entries: [] };
  const expiresAtMs = epochMs(stage.fleet.nowMs + minutes(5));
  await stage.tell({ kind: 'push-demand', push: { ...gone, expiresAtMs } });
  const answer = await ask(stage, 'job');
  expect(answer.summary).toContain('job is not pending any more');
  expect(answer.chain.at(-1)?.reason?.kind).toBe('withdrawn');
  await stage.end();
});

test('a paused group: who paused it and why, and how to end it', async () => {
  const stage = new Stage(fast);
  await stage.run(seconds(5));
  const pause = {
    id: 'p1',
    what: 'launches',
    group: groupName('cpu'),
    author: 'ann',
    reason: 'broken image',
    sinceMs: stage.fleet.nowMs,
    untilMs: epochMs(stage.fleet.nowMs + minutes(20)),
  } as const;
  await stage.tell({ kind: 'pause', pause });
  stage.submit('job', { cpu: 8, runMs: minutes(1) });
  await stage.run(seconds(30));
  const answer = await why(stage, 'job');
  expect(answer).toMatch(/paused: ann paused launches of group cpu for 20m \(p1\): broken image/);
  expect(answer).toContain('remedy: end the pause: bellows resume p1');
  expect(answer).toMatch(/next look \d+s: .*; in 19m\d+s: pause p1 ends/);
  await stage.end();
});

test('in advisory mode a place is a place on paper', async () => {
  const stage = new Stage(fast, { mode: 'advisory' });
  stage.submit('job', { cpu: 8, runMs: minutes(1) });
  await stage.run(seconds(30));
  const answer = await why(stage, 'job');
  expect(answer).toContain('job has a place on new slices of cpu');
  expect(answer).toContain('the fleet is in advisory mode: decided and recorded, never launched');
  expect(answer).toContain('remedy: start the controller without --dry-run');
  await stage.fleet.stop();
});

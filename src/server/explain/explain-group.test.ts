import { expect, test } from 'vitest';
import { anAsk } from '../../../test/builders.ts';
import { hours, minutes, seconds } from '../../../test/scenarios/sketch.ts';
import { Stage } from '../../../test/scenarios/stage.ts';
import { ask, why } from '../../../test/why.ts';
import { entryId, epochMs, groupName } from '../../model/ids.ts';

const config = `
groups:
  - { name: spot, provider: simulated, device: gpu, host: { gpu: 8 }, max: 2, pricePerHour: 10, preemptible: true }
  - { name: cpu, provider: simulated, host: { cpu: 16 }, max: 2, pricePerHour: 1 }
limits: { upscalingSpeed: none, concurrentLaunches: none, createsPerMinute: none }
`;

test('a group out of stock: who said so, what waits for it, when it is tried again', async () => {
  const stage = new Stage(config);
  stage.stockout('spot', minutes(30));
  stage.submit('train', { gpu: 8, runMs: hours(1) }, 2);
  stage.submit('job', { cpu: 8, runMs: hours(1) });
  await stage.run(minutes(2));
  expect(await why(stage, 'spot')).toMatchInlineSnapshot(`
    "group spot
    spot (stockout): provider is out of stock for 1m41s more
      10s launch-refused: launch of slice spot-1-t85s02-1 of spot refused: the provider is out of stock: no capacity for spot
      41s launch-refused: launch of slice spot-1-t85s06-0 of spot refused: the provider is out of stock: no capacity for spot
      101s launch-refused: launch of slice spot-1-t85s0c-0 of spot refused: the provider is out of stock: no capacity for spot
      116s decided: the last decision, with the strategy cost
      now stockout: nothing is launched in group spot for 1m41s (stockout, 3 times in a row): no capacity for spot; the first refusal was 1m49s ago
      now slices: has no slice; min 0, spare 0, max 2
      now excluded: 2 entries that wait are kept out: 2 by stockout
      now stockout: availability: stockout, for 1m41s more
      now blocked: provider is out of stock for 1m41s more
    remedy: wait 1m41s: spot is in stockout and is tried again after it, which admits 2 entries
    next look 131s: the next decision, at the latest; in 1m41s: spot is tried again, with one launch first"
  `);
  await stage.end();
});

test('a group with work: how many entries go there, of which classes', async () => {
  const stage = new Stage(config);
  stage.submit('big', { cpu: 16, runMs: hours(1) });
  stage.submit('small', { cpu: 1, runMs: hours(1) }, 30);
  await stage.run(seconds(30));
  const answer = await why(stage, 'cpu');
  expect(answer).toMatch(/routed: \d+ entries go there/);
  expect(answer).toMatch(/class: 1?\d x \(cpu 1\), priority 0/);
  expect(answer).toContain('class: 1 x (cpu 16), priority 0');
  expect(answer).toMatch(/excluded: \d+ entries that wait are kept out: \d+ by at-max/);
  expect(answer).toMatch(/remedy: raise max of cpu from 2 to 3, which admits \d+ entries/);
  await stage.end();
});

test('a paused group, and a pause of terminations', async () => {
  const stage = new Stage(config);
  await stage.run(seconds(5));
  const pause = { author: 'ann', reason: '', sinceMs: stage.fleet.nowMs, untilMs: null } as const;
  const cpu = groupName('cpu');
  await stage.tell({ kind: 'pause', pause: { ...pause, id: 'p1', what: 'launches', group: cpu } });
  const all = { ...pause, id: 'p2', what: 'terminations', group: null } as const;
  await stage.tell({ kind: 'pause', pause: all });
  await stage.run(seconds(20));
  const answer = await why(stage, 'cpu');
  expect(answer).toContain('cpu (paused): paused');
  expect(answer).toContain('ann paused launches of group cpu (p1)');
  expect(answer).toContain('ann paused terminations of the fleet (p2)');
  expect(answer).toContain('remedy: end the pause: bellows resume p1');
  await stage.end();
});

test('health of a group whose machines do not come up, and its end', async () => {
  const stage = new Stage(`${config}timeouts: { booting: 1m, initializing: 1m }\n`);
  stage.cloud().levers.failBoot(groupName('cpu'), stage.inCloud(hours(2)));
  stage.submit('job', { cpu: 8, runMs: hours(1) }, 4);
  await stage.run(minutes(12));
  const answer = await why(stage, 'cpu');
  expect(answer).toMatch(/health: health 0\.\d\d, (suspect|churning|hostile): machines failed/);
  await stage.end();
});

test('a calendar that raises min, and when it changes', async () => {
  const workday = `
calendars:
  - name: workday
    timeZone: Europe/Madrid
    entries: [{ group: cpu, days: [thu], from: '09:00', to: '10:00', min: 2 }]
`;
  const wallStartMs = Date.UTC(2026, 0, 15, 8, 30); // a Thursday, 09:30 in Madrid
  const stage = new Stage(config + workday, { wallStartMs });
  await stage.run(minutes(10));
  const answer = await why(stage, 'cpu');
  expect(answer).toContain('calendar: calendar workday raises min to 2 and spare to 0 now');
  expect(answer).toContain('in 20m: calendar workday changes');
  expect(answer).toContain('min 2, spare 0, max 2');
  await stage.end();
});

const hold = (stage: Stage, count: number): Promise<unknown> =>
  stage.tell({
    kind: 'hold-floor',
    floor: {
      id: entryId('demo'),
      owner: 'ana',
      count,
      ask: anAsk({ resources: { cpu: 16_000 } }),
      expiresAtMs: epochMs(stage.fleet.nowMs + minutes(40)),
    },
  });

test('a floor that is held, and until when', async () => {
  const stage = new Stage(config);
  await stage.run(seconds(5));
  await hold(stage, 2);
  expect((await ask(stage, 'demo')).summary).toBe('floor demo is not decided on yet');
  await stage.run(seconds(25));
  expect(await why(stage, 'demo')).toMatchInlineSnapshot(`
    "floor demo
    floor demo is held: 2 of 2 copies held, with hosts that are there or coming
      30s decided: the last decision, with the strategy cost
      now floor: asked for by ana: 2 copies of (cpu 16)
      now held: 2 of 2 copies held, with hosts that are there or coming
      - spot (host-too-small) host too small: needs cpu 16, has 0
      - cpu (would-do) has room, $1.000/h for its share, if other work leaves it
    next look 45s: the next decision, at the latest; in 39m34s: the floor ends, unless it is asked for again"
  `);
  await stage.end();
});

test('a floor that is too high: what is missing, why, and the remedy', async () => {
  const stage = new Stage(config);
  await stage.run(seconds(5));
  await hold(stage, 3);
  await stage.run(seconds(25));
  const answer = await why(stage, 'demo');
  expect(answer).toContain('floor demo lacks 1 copy of 3 (no-capacity)');
  expect(answer).toContain('- cpu (at-max) at max: needs 1 slice, 0 left of 2');
  expect(answer).toContain('remedy: raise max of cpu from 2 to 3');
  await stage.end();
});

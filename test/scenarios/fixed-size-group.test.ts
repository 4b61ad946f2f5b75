// A fleet of a fixed size: min is max, and what breaks is replaced.
//
// What happens elsewhere: a broken node counts until somebody deletes it by hand, as the group is full.
//
// What Bellows does: a slice that lost a host goes as a unit, counts until its machines are released, and
// is launched again as soon as the bound allows. Promise 1.

import { expect, test } from 'vitest';
import { groupName } from '../../src/model/ids.ts';
import { must } from '../../src/support/assert.ts';
import { minutes } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
groups:
  - { name: pod, provider: simulated, device: tpu, host: { tpu: 4 }, hostsPerSlice: 4, min: 3, max: 3, pricePerHour: 20 }
limits: { upscalingSpeed: none, drainingPercent: none }
timeouts: { booting: 5m, initializing: 5m }
`;

async function whole(): Promise<Stage> {
  const stage = new Stage(config);
  await stage.until(() => stage.slices('pod', 'ready').length === 3, minutes(6));
  return stage;
}

test('a host dies: its slice is replaced as a unit, and there are never more than three', async () => {
  const stage = await whole();
  const { id } = must(stage.slices('pod')[1], 'a slice');
  stage.cloud().levers.killHost(id, 2);
  let most = 0;
  for (let n = 0; n < 40; n++) {
    await stage.run(minutes(0.25));
    most = Math.max(most, stage.alive('pod').length);
  }
  expect(most).toBeLessThanOrEqual(12);
  expect(stage.slices('pod', 'ready')).toHaveLength(3);
  expect(stage.alive('pod').map(({ sliceId }) => sliceId)).not.toContain(id);
  expect(stage.made('pod')).toHaveLength(16);
  await stage.end();
});

test('an operator drains one: it is replaced', async () => {
  const stage = await whole();
  const { id } = must(stage.slices('pod')[0], 'a slice');
  await stage.tell({
    kind: 'drain-slice',
    sliceId: id,
    author: 'ana',
    reason: 'a noisy fan',
    deadlineMs: null,
  });
  await stage.run(minutes(10));
  expect(stage.record(id).status).toBe('terminated');
  expect(stage.slices('pod', 'ready')).toHaveLength(3);
  await stage.end();
});

test('no stock for the replacement: two stay, the shortfall is told, and it heals when stock is back', async () => {
  const stage = await whole();
  stage.stockout('pod', minutes(30));
  const { id } = must(stage.slices('pod')[0], 'a slice');
  stage.cloud().levers.killHost(id, 0);
  await stage.run(minutes(20));
  expect(stage.slices('pod', 'ready')).toHaveLength(2);
  const { output } = must(stage.fleet.leader?.last, 'a tick');
  expect(output.decision.groups).toMatchObject([
    { group: 'pod', availability: 'stockout', shortfall: { slices: 1, by: { kind: 'stockout' } } },
  ]);
  await stage.until(() => stage.slices('pod', 'ready').length === 3, minutes(30));
  await stage.end();
});

test('all are lost in one moment: all come back', async () => {
  const stage = await whole();
  for (const { id } of stage.slices('pod')) {
    for (let host = 0; host < 4; host++) stage.cloud().levers.killHost(id, host);
  }
  await stage.run(minutes(12));
  expect(stage.slices('pod', 'ready')).toHaveLength(3);
  stage.cloud().levers.failBoot(groupName('pod'), stage.inCloud(0)); // and stay
  await stage.run(minutes(20));
  expect(stage.made('pod')).toHaveLength(24);
  await stage.end();
});

// Class 3: an identity is used again, or is missing and becomes a default.
//
// What happened: a recycled address made a controller kill a healthy worker's task every minute, for
// ever (iris#6450). A missing worker id silently became 0: 255 of 256 hosts registered, and the whole
// gang waited (iris#8743).
//
// What Bellows does instead: a host is one machine for life, and another one in its place does not stand
// for it. A slice is ready when every host index has its machine; one that has not is replaced as a unit
// after its timeout, and the gang gets a whole one. Promise 3.

import { expect, test } from 'vitest';
import { type Machine } from '../../src/model/machine.ts';
import { machineId, type SliceId } from '../../src/model/ids.ts';
import { minutes } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
groups:
  - { name: gpu, provider: simulated, device: gpu, host: { gpu: 8 }, max: 4, pricePerHour: 30 }
  - { name: pod, provider: simulated, device: tpu, host: { tpu: 4 }, hostsPerSlice: 4, max: 2, pricePerHour: 20 }
timeouts: { booting: 5m }
limits: { upscalingSpeed: none }
`;

test('another machine under the same name and index does not stand for the one that went', async () => {
  const stage = new Stage(config);
  stage.submit('train', { gpu: 8, runMs: minutes(20) });
  stage.submit('other', { gpu: 8, runMs: minutes(20) });
  await stage.until(() => stage.runningCount === 2, minutes(10));
  const slice = stage.slices('gpu')[0] ?? never();
  const [bystander] = stage.slices('gpu').slice(1);
  stage.cloud().levers.killHost(slice.id, 0);
  // The cloud gives the tag to a machine that has nothing of the first one's work.
  let isReleased = false;
  stage.onTerminate = (_, terminate) => {
    isReleased = true;
    return terminate();
  };
  stage.onList = async (_, list) => {
    const rows = (await list()).filter(({ sliceId }) => sliceId !== slice.id);
    return isReleased ? rows : [...rows, impostor(slice.id)];
  };
  await stage.until(() => stage.record(slice.id).status === 'terminating', minutes(3));
  expect(stage.record(slice.id).history.at(-1)?.cause).toMatchObject({
    kind: 'host-lost',
    machineId: slice.machines[0],
  });
  await stage.run(minutes(35));
  expect(stage.finished()).toEqual(['other', 'train']);
  expect(stage.made('gpu')).toHaveLength(3);
  // The one beside it was never touched.
  expect(stage.callsOf('terminate').flatMap(({ sliceIds }) => sliceIds)[0]).toBe(slice.id);
  expect(stage.record(bystander?.id ?? never()).history.map(({ event }) => event)).not.toContain(
    'host-lost',
  );
  await stage.end();
});

const impostor = (sliceId: SliceId): Machine => ({
  machineId: machineId('recycled'),
  sliceId,
  group: 'gpu' as Machine['group'], // a name of the config above
  hostIndex: 0,
  state: 'ready',
  interruptionAtMs: null,
});

test('a host whose index became 0: the slice never counts as whole, and the gang gets another', async () => {
  const stage = new Stage(config);
  let first: SliceId | null = null;
  stage.onList = async (_, list) => {
    const rows = await list();
    first ??= rows[0]?.sliceId ?? null;
    return rows.map((row) => {
      const isIll = row.sliceId === first && row.hostIndex === 3;
      return isIll ? { ...row, hostIndex: 0 } : row;
    });
  };
  // Its scheduler knows it by the same index, and so does not know it at all.
  stage.hasJoined = ({ sliceId, hostIndex }) => sliceId !== first || hostIndex !== 3;
  stage.submit('gang', { tpu: 4, gang: 4, runMs: minutes(30) });
  await stage.run(minutes(4));
  expect(stage.slices('pod', 'ready')).toEqual([]);
  await stage.until(() => stage.runningCount === 1, minutes(15));
  const ill = stage.record(first ?? never());
  expect(ill.history.map(({ status }) => status)).not.toContain('ready');
  expect(ill.history.map(({ cause }) => cause?.kind)).toContain('timeout');
  expect(stage.made('pod')).toHaveLength(8);
  await stage.run(minutes(20));
  expect(stage.alive('pod')).toHaveLength(4);
  await stage.end();
});

test('a host without an index is no host 0: its row is dropped and told', async () => {
  const stage = new Stage(config);
  let isIll = true;
  stage.onList = async (_, list) => {
    const rows = await list();
    if (!isIll) return rows;
    // What an adapter must not let through, and a careless one might.
    const without = { hostIndex: undefined } as unknown as { hostIndex: number };
    return rows.map((row) => (row.hostIndex === 3 ? { ...row, ...without } : row));
  };
  stage.hasJoined = ({ hostIndex }) => !isIll || hostIndex !== 3;
  stage.submit('gang', { tpu: 4, gang: 4, runMs: minutes(30) });
  await stage.run(minutes(4));
  expect(stage.slices('pod', 'ready')).toEqual([]);
  expect((await stage.events('garbage-dropped'))[0]).toMatchObject({ count: 1 });
  isIll = false;
  await stage.until(() => stage.runningCount === 1, minutes(2));
  expect(stage.made('pod')).toHaveLength(4);
  await stage.end();
});

function never(): never {
  throw new Error('there is one');
}

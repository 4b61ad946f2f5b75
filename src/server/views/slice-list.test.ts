import { toBinary } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { anAsk, anEntry } from '../../../test/builders.ts';
import { minutes, seconds } from '../../../test/scenarios/sketch.ts';
import { ServedStage } from '../../../test/served-stage.ts';
import { ListSlicesResponseSchema } from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import type { Slice } from '../../api/gen/bellows/v1/status_pb.ts';
import { sliceId } from '../../model/ids.ts';
import { sliceStatuses } from '../../model/slice.ts';
import { must } from '../../support/assert.ts';
import { SliceList } from './slice-list.ts';

const config = `
loop: { evaluationInterval: 1s }
limits: { createsPerMinute: none, concurrentLaunches: none, upscalingSpeed: none }
groups:
  - { name: h100, provider: simulated, device: gpu, host: { gpu: 8 }, max: 3, pricePerHour: 10 }
  - { name: pair, provider: simulated, device: cpu, host: { cpu: 16 }, hostsPerSlice: 2, min: 2, max: 2, pricePerHour: 1 }
`;
const all = {
  group: '',
  statuses: [],
  sliceIds: [],
  withHistory: false,
  pageSize: 0,
  pageToken: '',
};
const gpus = (gpu: number) =>
  ({
    kind: 'single',
    ask: anAsk({ device: { type: 'gpu', variants: null }, resources: { gpu } }),
  }) as const;

let stage: ServedStage;
let list: SliceList;
beforeEach(async () => {
  stage = await ServedStage.open(config);
  list = new SliceList(stage);
});
afterEach(() => stage.close());

const only = (slices: readonly Slice[]): Slice => {
  expect(slices).toHaveLength(1);
  return must(slices[0], 'the only one');
};

async function oneReady(): Promise<Slice> {
  await stage.push([anEntry({ id: 'a', form: gpus(8_000) })]);
  const ask = { ...all, group: 'h100', statuses: ['ready'] };
  while (list.list(ask).totalCount === 0) await stage.run(seconds(1));
  return only(list.list(ask).slices);
}

describe('a slice', () => {
  test('on its way says what for, then how long that may take; its hosts are counted', async () => {
    const { slices, totalCount } = list.list({ ...all, group: 'pair' });
    expect(totalCount).toBe(2);
    expect(slices[0]).toMatchObject({
      group: 'pair',
      priceUsdPerHour: 1,
      hosts: [{ index: 0 }, { index: 1 }],
      history: [],
    });
    expect(slices[0]?.verdict).toMatchObject({ kind: 'launched-for', text: 'launched for min' });
    await stage.run(seconds(3));
    const [later] = list.list({ ...all, group: 'pair' }).slices;
    expect(later?.verdict?.text).toMatch(/^(requesting|booting); when that takes more than/);
  });

  test('that is ready shows what was reported of it', async () => {
    const { id } = await oneReady();
    stage.report(sliceId(id), { isBusy: true, free: { gpu: 2_500 } });
    await stage.run(seconds(2));
    const slice = only(list.list({ ...all, sliceIds: [id] }).slices);
    expect(slice.verdict).toMatchObject({ kind: 'busy', text: 'work runs on it' });
    expect(slice.hosts).toMatchObject([{ index: 0, free: { gpu: 2.5 }, use: 'busy' }]);
    expect(slice.hosts[0]?.machineId).toMatch(/^sim-/);
    expect(slice.idleSince).toBeUndefined();
  });

  test('that an operator drains says who and why, at once and after it has ended', async () => {
    const { id } = await oneReady();
    const why = { author: 'ann', reason: 'bad disk', deadlineMs: null };
    const told = stage.controller.command({ kind: 'drain-slice', sliceId: sliceId(id), ...why });
    await stage.run(1);
    await told;
    const draining = only(list.list({ ...all, sliceIds: [id], withHistory: true }).slices);
    expect(draining).toMatchObject({
      status: 'draining',
      verdict: { kind: 'draining', text: 'draining: ann asked for it: bad disk' },
    });
    expect(draining.drainDeadline).toBeDefined();
    expect(draining.history.at(-1)).toMatchObject({
      event: 'drain-started',
      status: 'draining',
      cause: 'ann asked for it: bad disk',
    });
    const ended = { ...all, sliceIds: [id], statuses: ['terminated'] };
    for (let n = 0; n < 60 && list.list(ended).totalCount === 0; n++) await stage.run(minutes(1));
    const over = only(list.list(ended).slices);
    expect(over.verdict?.text).toMatch(/^draining for .*, which is too long$/);
    expect(list.list({ ...all, sliceIds: [id] }).slices).toEqual([]);
  });

  test('that is given up on its way says so', async () => {
    const [{ id }] = [only(list.list({ ...all, group: 'pair', pageSize: 1 }).slices)];
    const why = { author: 'ann', reason: 'a mistake', deadlineMs: null };
    await stage.tell({ kind: 'drain-slice', sliceId: sliceId(id), ...why });
    const slice = only(list.list({ ...all, sliceIds: [id], statuses: [...sliceStatuses] }).slices);
    expect(slice.history).toEqual([]);
    expect(slice.verdict?.text).toMatch(
      /^(ann asked for it: a mistake|its machines are being released)$/,
    );
  });
});

describe('pages', () => {
  test('are by id, have every slice once, and know how many there are', async () => {
    await stage.push([anEntry({ id: 'a', count: 3, form: gpus(8_000) })]);
    const ids: string[] = [];
    let pageToken = '';
    do {
      const page = list.list({ ...all, pageSize: 2, pageToken });
      expect(page.totalCount).toBe(5);
      expect(toBinary(ListSlicesResponseSchema, page).length).toBeGreaterThan(0);
      ids.push(...page.slices.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(ids).toEqual([...stage.controller.slices()].map(({ id }) => id).sort());
  });
});

test('more ids than may be asked for at once are refused', () => {
  const sliceIds = Array.from({ length: 1_001 }, (_, n) => `s-${n}`);
  expect(() => list.list({ ...all, sliceIds })).toThrow('slice_ids has 1001 ids');
});

test.each([
  [{ group: 'h10' }, 'there is no group "h10"; did you mean h100?'],
  [{ group: 'something-else' }, 'there is no group "something-else"'],
  [{ statuses: ['ready', 'gone'] }, 'statuses names "gone"; there is queued, requesting'],
  [{ pageSize: 5_000 }, 'page_size is 5000; it may be 1000 at most'],
  [{ pageToken: '!!' }, 'page_token "!!" is none that was given here'],
])('is refused with a sentence: %j', (over, message) => {
  expect(() => list.list({ ...all, ...over })).toThrow(message);
});

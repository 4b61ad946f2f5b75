import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { anAsk, anEntry } from '../../../test/builders.ts';
import { minutes, seconds } from '../../../test/scenarios/sketch.ts';
import { ServedStage } from '../../../test/served-stage.ts';
import { epochMs, groupName } from '../../model/ids.ts';
import { type EventRow, StoreError, type TickAsk } from '../../ports/store.ts';
import { must } from '../../support/assert.ts';
import { listEvents } from './event-list.ts';
import { toTimestamp } from './wire-values.ts';

const config = `
loop: { evaluationInterval: 1s }
groups:
  - { name: h100, provider: simulated, device: gpu, host: { gpu: 8 }, max: 3, pricePerHour: 10 }
  - { name: cpu, provider: simulated, device: cpu, host: { cpu: 16 }, min: 1, max: 2, pricePerHour: 1 }
`;
const all = { kinds: [], subject: '', pageSize: 0 };
const gpu = anAsk({ device: { type: 'gpu', variants: null }, resources: { gpu: 8_000 } });

let stage: ServedStage;
beforeEach(async () => {
  stage = await ServedStage.open(config);
});
afterEach(() => stage.close());

describe('events of a fleet', () => {
  test('come oldest first, with words and fields', async () => {
    const { events, nextAfterSeq } = await listEvents(stage, all);
    expect(nextAfterSeq).toBeUndefined();
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, n) => BigInt(n)));
    expect(events[0]).toMatchObject({
      kind: 'controller-started',
      text: 'test took the lead (epoch 1)',
      fields: { kind: 'controller-started', epoch: 1, holder: 'test' },
    });
  });

  test('come in pages, each once', async () => {
    const whole = await listEvents(stage, all);
    const seqs: bigint[] = [];
    let afterSeq: bigint | undefined;
    do {
      const page = await listEvents(stage, {
        ...all,
        pageSize: 2,
        ...(afterSeq === undefined ? {} : { afterSeq }),
      });
      seqs.push(...page.events.map(({ seq }) => seq));
      afterSeq = page.nextAfterSeq;
    } while (afterSeq !== undefined);
    expect(seqs).toEqual(whole.events.map(({ seq }) => seq));
  });

  test('of the last hour, unless said otherwise', async () => {
    await stage.run(minutes(90));
    const late = await listEvents(stage, { ...all, kinds: ['controller-started'] });
    expect(late.events).toEqual([]);
    const since = must(toTimestamp(stage.controller.now - minutes(120)), 'a time');
    const early = await listEvents(stage, { ...all, kinds: ['controller-started'], since });
    expect(early.events).toHaveLength(1);
  });

  test('by subject: a slice, a group, and a back-off that reaches the group', async () => {
    stage.cloud.levers.stockout(groupName('h100'), epochMs(stage.cloud.nowMs() + minutes(60)));
    await stage.push([anEntry({ id: 'a', form: { kind: 'single', ask: gpu } })]);
    await stage.run(seconds(30));
    const kindsOf = async (subject: string): Promise<ReadonlySet<string>> => {
      const { events } = await listEvents(stage, { ...all, subject });
      return new Set(events.map(({ kind }) => kind));
    };
    expect(await kindsOf('h100')).toEqual(
      new Set(['slice-moved', 'launch-refused', 'backoff-started']),
    );
    const slice = [...stage.controller.slices()].find(({ group }) => group === 'cpu');
    expect(await kindsOf(must(slice, 'a slice').id)).toEqual(new Set(['slice-moved']));
    expect(await kindsOf('nobody')).toEqual(new Set());
  });
});

test.each([
  [{ kinds: ['slice-move'] }, 'kinds names "slice-move"; did you mean slice-moved?'],
  [{ kinds: ['x'] }, 'kinds names "x"; there is slice-moved, launch-refused'],
  [{ pageSize: 1_001 }, 'page_size is 1001; it may be 1000 at most'],
])('is refused with a sentence: %j', async (over, message) => {
  await expect(listEvents(stage, { ...all, ...over })).rejects.toThrow(message);
});

describe('a long journal', () => {
  const rowsMade = 50_000;
  const text = JSON.stringify({ kind: 'provider-back', provider: 'aws' });
  let readCount = 0;
  const store = {
    async readEvents({ afterSeq, limit }: TickAsk): Promise<readonly EventRow[]> {
      const count = Math.min(limit, rowsMade - 1 - afterSeq);
      readCount += count;
      return Array.from({ length: count }, (_, n) => {
        return { seq: afterSeq + 1 + n, atMs: epochMs(0), text };
      });
    },
  };

  test('is looked through a bounded way at a time', async () => {
    const fleet = { ...pick(stage), store };
    const ask = { ...all, kinds: ['paused'] };
    const first = await listEvents(fleet, ask);
    expect(first).toMatchObject({ events: [], nextAfterSeq: 19_999n });
    expect(readCount).toBe(20_000);
    const second = await listEvents(fleet, { ...ask, afterSeq: 19_999n });
    expect(second.nextAfterSeq).toBe(39_999n);
    const third = await listEvents(fleet, { ...ask, afterSeq: 39_999n });
    expect(third.nextAfterSeq).toBeUndefined();
  });

  test("that cannot be read now is the store's trouble, and said", async () => {
    const broken = {
      readEvents: () => Promise.reject(new StoreError('unavailable', 'the disk is away')),
    };
    await expect(listEvents({ ...pick(stage), store: broken }, all)).rejects.toThrow(
      '[unavailable] the store cannot be read now: the disk is away; ask again',
    );
  });

  test('may have kinds that this version does not know', async () => {
    const row = { seq: 0, atMs: epochMs(0), text: '{"kind":"star-fell","where":"north"}' };
    const readEvents = async (): Promise<readonly EventRow[]> => [row];
    const { events } = await listEvents({ ...pick(stage), store: { readEvents } }, all);
    expect(events).toMatchObject([
      { kind: 'star-fell', text: 'star-fell', fields: { where: 'north' } },
    ]);
  });
});

const pick = (stage: ServedStage) => {
  const { name, controller, feed } = stage;
  return { name, controller, feed, reload: () => stage.reload() };
};

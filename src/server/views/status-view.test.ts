import { toBinary, toJson } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { arbitraryTick } from '../../../test/arbitrary-tick.ts';
import { anAsk, anEntry } from '../../../test/builders.ts';
import { minutes, seconds } from '../../../test/scenarios/sketch.ts';
import { ServedStage } from '../../../test/served-stage.ts';
import { AutoscalerStatusSchema } from '../../api/gen/bellows/v1/status_pb.ts';
import { decideTick } from '../../controller/decide-tick.ts';
import { entryId, epochMs, groupName } from '../../model/ids.ts';
import { must } from '../../support/assert.ts';
import { FleetFeed } from '../fleet-feed.ts';
import { StatusView } from './status-view.ts';

const config = `
loop: { evaluationInterval: 1s }
limits: { spendPerHour: 100, createsPerMinute: 2 }
groups:
  - { name: h100, provider: simulated, device: gpu, host: { gpu: 8, memory: 64GiB }, max: 3, pricePerHour: 10 }
  - { name: cpu, provider: simulated, device: cpu, host: { cpu: 16 }, min: 1, max: 2, pricePerHour: 1.5 }
calendars:
  - { name: always, timeZone: UTC, entries: [ { group: cpu, days: [sun, mon, tue, wed, thu, fri, sat], from: '00:00', to: '00:00', spare: 2 } ] }
`;

const stages: ServedStage[] = [];
async function open(text = config): Promise<ServedStage> {
  const stage = await ServedStage.open(text);
  stages.push(stage);
  return stage;
}
afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close();
});

const gpus = (gpu: number) =>
  ({
    kind: 'single',
    ask: anAsk({ device: { type: 'gpu', variants: null }, resources: { gpu } }),
  }) as const;

describe('before the first decision', () => {
  test('the standing says what is waited for, and nothing else is made up', async () => {
    const stage = new ServedStage(config);
    stages.push(stage);
    const view = new StatusView(stage);
    expect(view.current()).toMatchObject({ standing: 'starting', tick: 0n, groups: [] });
    stage.controller.start();
    await stage.run(100);
    const starting = view.current();
    expect(starting.standing).toBe('starting');
    expect(starting.standingDetail).toBe('waiting for provider simulated');
    expect(starting.decidedAt).toBeUndefined();
    expect(starting.nextDecisionBy).toBeUndefined();
    expect(starting.recentEvents.map(({ kind }) => kind)).toEqual([
      'config-changed',
      'controller-started',
    ]);
    await stage.run(seconds(2));
    expect(view.current()).toMatchObject({
      standing: 'leading',
      standingDetail: '',
      mode: 'active',
    });
  });
});

describe('a decision', () => {
  test('groups, classes, routing and money are as it saw them', async () => {
    const stage = await open();
    const view = new StatusView(stage);
    await stage.push([anEntry({ id: 'a', count: 30, form: gpus(3_000) })]);
    const status = view.current();
    const [h100, cpu] = status.groups;
    const [work] = status.classes;
    expect(h100).toMatchObject({
      device: 'gpu',
      max: 3,
      priceUsdPerHour: 10,
      availability: 'at-max',
      verdict: { kind: 'at-max', text: 'has 3 of 3 slices' },
      assignedEntries: 6n,
    });
    // Two are let go in a minute; the third waits for its turn, and counts as coming.
    expect(h100?.deferred).toMatchObject([{ by: 'creates-per-minute' }]);
    expect(h100?.remainingOnItsWay).toEqual({ gpu: 6, memory: 3 * 64 * 2 ** 30 });
    expect(cpu).toMatchObject({ min: 1, spare: 2, launch: 0 });
    expect(work).toMatchObject({
      text: 'on gpu, gpu 3',
      count: 30n,
      unmetCount: 24n,
      unmet: {
        reason: { kind: 'no-capacity' },
        remedy: 'raise max of h100 from 3 to 4',
        canEverRun: true,
      },
    });
    expect(work?.entryIds).toEqual(Array.from({ length: 20 }, (_, n) => `a/${n}`));
    expect(status.routing?.routed).toMatchObject([
      { group: 'h100', entryCount: 6n, classes: [{ classId: work?.id, count: 6n }] },
    ]);
    expect(status.routing?.unmet).toMatchObject([{ classId: work?.id, count: 24n }]);
    expect(status.sources).toMatchObject([{ source: 'batch', generation: 1n, entryCount: 30n }]);
    expect(status.spend?.capUsdPerHour).toBe(100);
    // Queued launches cost nothing yet, and are planned.
    expect(status.spend?.plannedUsdPerHour).toBe(33);
    expect(status.spend?.usdPerHour).toBeLessThan(33);
  });

  test('slices by status, room left and spend follow what comes up', async () => {
    const stage = await open();
    await stage.push([anEntry({ id: 'a', form: gpus(8_000) })]);
    const find = () => [...stage.controller.slices()].find(({ group }) => group === 'h100');
    while (find()?.status !== 'ready') await stage.run(seconds(1));
    stage.report(must(find(), 'a slice').id, { isBusy: false, free: { gpu: 8_000 } });
    await stage.run(seconds(20));
    const status = new StatusView(stage).current();
    expect(status.groups[0]).toMatchObject({
      slices: { ready: 1 },
      idle: 1,
      remainingOnItsWay: {},
    });
    expect(status.spend?.usdPerHour).toBe(status.spend?.plannedUsdPerHour);
  });

  test('a stockout has its end, at the group and among the troubles', async () => {
    const stage = await open();
    stage.cloud.levers.stockout(groupName('h100'), epochMs(stage.cloud.nowMs() + minutes(60)));
    await stage.push([anEntry({ id: 'a', form: gpus(8_000) })]);
    const view = new StatusView(stage);
    while (view.current().troubles.length === 0) await stage.run(seconds(1));
    const status = view.current();
    const [trouble] = status.troubles;
    expect(trouble).toMatchObject({ scope: 'group', name: 'h100', kind: 'stockout', attempts: 1 });
    expect(status.groups[0]).toMatchObject({ availability: 'stockout' });
    expect(status.groups[0]?.availabilityUntil).toEqual(trouble?.until);
    expect(status.groups[0]?.verdict?.text).toMatch(/^provider is out of stock for .* more$/);
  });

  test('floors and pauses are told as they are held', async () => {
    const stage = await open();
    const expiresAtMs = epochMs(stage.controller.now + minutes(30));
    const floor = {
      id: entryId('keep'),
      ask: gpus(8_000).ask,
      count: 5,
      owner: 'ann',
      expiresAtMs,
    };
    await stage.tell({ kind: 'hold-floor', floor });
    await stage.tell({
      kind: 'pause',
      pause: {
        id: 'p-1',
        what: 'launches',
        group: null,
        author: 'ann',
        reason: 'audit',
        sinceMs: stage.controller.now,
        untilMs: null,
      },
    });
    const status = new StatusView(stage).current();
    expect(status.floors).toMatchObject([
      {
        id: 'keep',
        text: 'on gpu, gpu 8',
        count: 5n,
        held: 3n,
        unmet: { reason: { kind: 'no-capacity' } },
      },
    ]);
    expect(status.pauses).toMatchObject([
      { id: 'p-1', what: 'launches', group: '', author: 'ann' },
    ]);
    expect(status.pauses[0]?.until).toBeUndefined();
  });
});

describe('is made once', () => {
  test('the same object until something changes; the decision is not put into words again', async () => {
    const stage = await open();
    const view = new StatusView(stage);
    const status = view.current();
    expect(view.current()).toBe(status);
    stage.feed.bounded({
      outcome: { kind: 'known', boundMicroUsdPerHour: 1_000_000, ratio: 1.5 },
      atMs: epochMs(5_000),
    });
    const bounded = view.current();
    expect(bounded).not.toBe(status);
    expect(bounded.spend).toMatchObject({
      boundUsdPerHour: 1,
      boundRatio: 1.5,
      boundAt: { seconds: 5n },
    });
    expect(bounded.groups[0]).toBe(status.groups[0]);
    expect(bounded.recentEvents[0]).toBe(status.recentEvents[0]);
    await stage.push([anEntry({ id: 'a', form: gpus(8_000) })]);
    expect(view.current().groups[0]).not.toBe(status.groups[0]);
  });

  test('a bound that is unknown says why', async () => {
    const stage = await open();
    const outcome = {
      kind: 'unknown',
      why: 'no-price',
      detail: 'cpu has no pricePerHour',
    } as const;
    stage.feed.bounded({ outcome, atMs: epochMs(0) });
    expect(new StatusView(stage).current().spend).toMatchObject({ boundUnknown: outcome.detail });
  });
});

test('whatever is decided can be told on the wire, in both forms', () => {
  fc.assert(
    fc.property(arbitraryTick, ({ input }) => {
      const last = { input, output: decideTick(input) };
      // Only what the view reads of a controller.
      const controller = {
        last,
        control: input.control,
        held: { sources: [], floors: [], pauses: [] },
        standing: { kind: 'leading' },
        nextDecisionMs: input.atMs,
        slices: () => [],
      } as unknown as ServedStage['controller'];
      const fleet = { name: 'any', controller, feed: new FleetFeed(), store: noStore, reload };
      const status = new StatusView(fleet).current();
      expect(toBinary(AutoscalerStatusSchema, status).length).toBeGreaterThan(0);
      expect(JSON.stringify(toJson(AutoscalerStatusSchema, status))).not.toMatch(/NaN|undefined/);
      const entries = input.demand.reduce((sum, { count }) => sum + BigInt(count), 0n);
      expect(status.classes.reduce((sum, { count }) => sum + count, 0n)).toBe(entries);
      for (const { count, placed, unmetCount } of status.classes) {
        expect(placed.reduce((sum, each) => sum + each.count, unmetCount)).toBe(count);
      }
      for (const { remainingOnItsWay } of status.groups) {
        expect(Object.values(remainingOnItsWay).every((left) => left >= 0)).toBe(true);
      }
    }),
    { numRuns: 60 },
  );
});

const noStore = { readEvents: () => Promise.reject(new Error('not asked')) };
const reload = (): Promise<never> => Promise.reject(new Error('not asked'));

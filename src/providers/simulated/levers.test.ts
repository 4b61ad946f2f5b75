import { describe, expect, test } from 'vitest';
import { aLaunch, CloudBench, someGroup } from '../../../test/cloud-bench.ts';
import { epochMs, type GroupName, sliceId } from '../../model/ids.ts';
import type { LaunchOutcome } from '../../ports/provider.ts';
import { hostileFaults } from './faults.ts';

const s0 = sliceId('s-0');
let minted = 0;
const anotherLaunch = (): ReturnType<typeof aLaunch> =>
  aLaunch({ sliceId: sliceId(`n-${minted++}`) });
const inMs = ({ cloud }: CloudBench, ms: number): ReturnType<typeof epochMs> =>
  epochMs(cloud.nowMs() + ms);

async function outcomeOf(bench: CloudBench, request = anotherLaunch()): Promise<LaunchOutcome> {
  const answer = await bench.launch(request);
  const outcome = answer.kind === 'answered' ? answer.value[0] : undefined;
  if (outcome === undefined) throw new Error(JSON.stringify(answer));
  return outcome;
}

const refusalOf = async (bench: CloudBench): Promise<string> => {
  const outcome = await outcomeOf(bench);
  return outcome.kind === 'refused' ? outcome.refusal.kind : outcome.kind;
};

describe('levers', () => {
  // prettier-ignore: a table is read by column
  test.each([
    [
      'stockout',
      (bench: CloudBench) => bench.cloud.levers.stockout(someGroup, inMs(bench, 9_000)),
      'stockout',
    ],
    [
      'throttle',
      (bench: CloudBench) => bench.cloud.levers.throttle(inMs(bench, 9_000)),
      'throttled',
    ],
    [
      'refuse for good',
      (bench: CloudBench) =>
        bench.cloud.levers.refuse(
          someGroup,
          { kind: 'permanent', detail: 'bad image' },
          inMs(bench, 9_000),
        ),
      'permanent',
    ],
  ] as const)('%s refuses launches until its time is up', async (_name, pull, refusal) => {
    const bench = new CloudBench();
    expect(await refusalOf(bench)).toBe('accepted');
    pull(bench);
    expect(await refusalOf(bench)).toBe(refusal);
    await bench.clock.advance(9_000);
    expect(await refusalOf(bench)).toBe('accepted');
  });

  test('a stockout is of its group alone', async () => {
    const other = 'other' as GroupName; // a second name for a second offer
    const bench = new CloudBench({ offers: [{ group: someGroup }, { group: other }] });
    bench.cloud.levers.stockout(someGroup, inMs(bench, 9_000));
    expect((await outcomeOf(bench, aLaunch({ group: other }))).kind).toBe('accepted');
  });

  test('throttle also fails lists and terminations, and names the end to launches', async () => {
    const bench = new CloudBench();
    bench.cloud.levers.throttle(inMs(bench, 60_000));
    expect(await bench.list()).toEqual({ kind: 'failed', error: 'throttled' });
    expect(await bench.terminate(s0)).toEqual({ kind: 'failed', error: 'throttled' });
    const outcome = await outcomeOf(bench);
    if (outcome.kind !== 'refused' || outcome.refusal.kind !== 'throttled')
      throw new Error('not throttled');
    expect(outcome.refusal.retryAfterMs).toBeGreaterThan(57_000);
  });

  test('hang silences calls begun before its end', async () => {
    const bench = new CloudBench();
    bench.cloud.levers.hang(inMs(bench, 5_000));
    expect((await bench.list()).kind).toBe('silent');
    expect((await bench.list()).kind).toBe('answered');
  });

  test('setQuota counts hosts on their way and queued, and frees them when gone', async () => {
    const queue = { fromMs: 60_000, toMs: 60_000 };
    const offers = [{ group: someGroup, quotaPool: 'h100', queue }];
    const bench = new CloudBench({ offers, quotas: { h100: 2 } });
    expect((await outcomeOf(bench, aLaunch({ hostCount: 2 }))).kind).toBe('accepted');
    expect(await refusalOf(bench)).toBe('quota-exceeded');
    bench.cloud.levers.setQuota('h100', 3);
    expect(await refusalOf(bench)).toBe('accepted');
    expect(await refusalOf(bench)).toBe('quota-exceeded');
    await bench.terminate(s0);
    expect(await refusalOf(bench)).toBe('accepted');
  });

  test('preempt announces the end of all hosts, then ends them', async () => {
    const bench = new CloudBench();
    await bench.launch(aLaunch({ hostCount: 3 }));
    await bench.clock.advance(200_000);
    const endMs = inMs(bench, 120_000);
    expect(bench.cloud.levers.preempt(s0, { noticeMs: 120_000 })).toBe(3);
    const rows = await bench.rows();
    expect(rows.map(({ interruptionAtMs }) => interruptionAtMs)).toEqual([endMs, endMs, endMs]);
    expect(rows.map(({ state }) => state)).toEqual(['ready', 'ready', 'ready']);
    await bench.clock.advance(120_000);
    expect(bench.cloud.truth.alive()).toEqual([]);
    expect(bench.cloud.levers.preempt(s0, { noticeMs: 0 })).toBe(0);
  });

  test('preempt without notice ends them at once', async () => {
    const bench = new CloudBench();
    await bench.launch(aLaunch({ hostCount: 3 }));
    expect(bench.cloud.levers.preempt(s0, { noticeMs: 0 })).toBe(3);
    expect(bench.cloud.truth.alive()).toEqual([]);
  });

  test('killHost ends that host alone', async () => {
    const bench = new CloudBench();
    await bench.launch(aLaunch({ hostCount: 3 }));
    expect(bench.cloud.levers.killHost(s0, 1)).toBe(true);
    expect(bench.cloud.truth.alive().map(({ hostIndex }) => hostIndex)).toEqual([0, 2]);
    expect(bench.cloud.levers.killHost(s0, 1)).toBe(false);
  });

  test('failBoot keeps hosts from coming up until its time is up', async () => {
    const bench = new CloudBench();
    bench.cloud.levers.failBoot(someGroup, inMs(bench, 9_000));
    const [failing, sound] = [anotherLaunch(), anotherLaunch()];
    await bench.launch(failing);
    await bench.clock.advance(9_000);
    await bench.launch(sound);
    await bench.clock.advance(600_000);
    const ready = bench.cloud.truth.alive().filter(({ state }) => state === 'ready');
    expect(ready.map((host) => host.sliceId)).toEqual([sound.sliceId]);
  });

  test('quiet ends all of it, levers and chance alike; what was done stays done', async () => {
    const bench = new CloudBench({ faults: hostileFaults });
    const { levers, truth } = bench.cloud;
    const farMs = inMs(bench, 1e9);
    levers.hang(farMs);
    levers.throttle(farMs);
    levers.stockout(someGroup, farMs);
    levers.failBoot(someGroup, farMs);
    levers.quiet();
    const countsBefore = truth.faultCounts();
    for (let at = 0; at < 50; at++) {
      const request = { ...anotherLaunch(), hostCount: 4, preemptible: true };
      expect((await outcomeOf(bench, request)).kind).toBe('accepted');
    }
    await bench.clock.advance(24 * 3_600_000);
    expect(truth.alive().filter(({ state }) => state === 'ready')).toHaveLength(200);
    expect(await bench.rows()).toHaveLength(200);
    expect(truth.faultCounts()).toEqual(countsBefore);
  });
});

describe('truth', () => {
  test('a bill is machine time by price, half a slice for half the money', async () => {
    const offers = [{ group: someGroup, priceMicroUsdPerHour: 8_000_000 }];
    const bench = new CloudBench({ offers });
    await bench.launch(aLaunch({ hostCount: 4 }));
    const [first] = bench.cloud.truth.alive();
    await bench.clock.run(
      (first?.fromMs ?? 0) - bench.cloud.nowMs() + bench.clock.monotonicMs() + 3_600_000,
    );
    expect(bench.cloud.truth.bill().get(someGroup)).toEqual({
      machineSeconds: 4 * 3_600,
      sliceSeconds: 3_600,
      costMicroUsd: 8_000_000,
    });
    bench.cloud.levers.killHost(s0, 0);
    bench.cloud.levers.killHost(s0, 1);
    await bench.clock.advance(3_600_000);
    expect(bench.cloud.truth.bill().get(someGroup)?.costMicroUsd).toBe(12_000_000);
  });

  test('machines of others are counted apart, and naming their slices is counted', async () => {
    const bench = new CloudBench({ foreignCount: 3 });
    const neighbour = bench.cloud.connect('neighbours');
    await bench.answer((signal) =>
      neighbour.launch([aLaunch({ sliceId: sliceId('theirs') })], signal),
    );
    expect(bench.cloud.truth.foreignAlive()).toHaveLength(4);
    expect(bench.cloud.truth.aliveByGroup()).toEqual(new Map());
    await bench.terminate(sliceId('unheard-of'), s0);
    expect(bench.cloud.truth.foreignTerminations()).toBe(0);
    await bench.terminate(sliceId('theirs'), sliceId('foreign-0'));
    await bench.terminate(sliceId('theirs'));
    await bench.clock.advance(600_000);
    expect(bench.cloud.truth.foreignTerminations()).toBe(3);
    expect(bench.cloud.truth.foreignAlive()).toHaveLength(4);
    await bench.answer((signal) => neighbour.terminate([sliceId('theirs')], signal));
    await bench.clock.advance(600_000);
    expect(bench.cloud.truth.foreignAlive()).toHaveLength(3);
    expect(bench.cloud.truth.foreignTerminations()).toBe(3);
  });

  test('the cloud keeps its own time when the wall clock jumps', async () => {
    const bench = new CloudBench();
    const openedAtMs = bench.cloud.nowMs();
    bench.clock.jumpWall(-3_600_000);
    await bench.clock.advance(1_000);
    expect(bench.cloud.nowMs()).toBe(openedAtMs + 1_000);
  });

  test('stop leaves no timer behind', async () => {
    const bench = new CloudBench({ faults: hostileFaults });
    for (let at = 0; at < 10; at++) await bench.launch(anotherLaunch());
    bench.cloud.stop();
    expect(bench.clock.pendingCount).toBe(0);
  });
});

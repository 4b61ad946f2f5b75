import { describe, expect, test } from 'vitest';
import { aLaunch, CloudBench, someGroup } from '../../../test/cloud-bench.ts';
import { groupName, sliceId } from '../../model/ids.ts';
import type { FaultKind, Faults } from './faults.ts';
import { faultTimes } from './offer.ts';

const s0 = sliceId('s-0');
const countOf = ({ cloud }: CloudBench, kind: FaultKind): number => cloud.truth.faultCounts()[kind];
const HOUR_MS = 3_600_000;
const withFaults = (faults: Partial<Faults>): CloudBench => new CloudBench({ faults });

describe('launches', () => {
  test('a late create appears minutes after its error', async () => {
    const bench = withFaults({ lateCreateRatio: 1 });
    await bench.launch(aLaunch());
    await bench.clock.advance(faultTimes.lateCreate.toMs);
    const [machine] = bench.cloud.truth.alive();
    expect(machine?.sliceId).toBe(s0);
    const lateMs = (machine?.fromMs ?? 0) - bench.cloud.nowMs() + bench.clock.monotonicMs();
    expect(lateMs).toBeGreaterThan(faultTimes.lateCreate.fromMs);
  });

  test('a termination forestalls a late create, unless that is the fault', async () => {
    for (const createAfterTerminateRatio of [0, 1]) {
      const bench = withFaults({ lateCreateRatio: 1, createAfterTerminateRatio });
      await bench.launch(aLaunch());
      await bench.terminate(s0);
      await bench.clock.advance(faultTimes.lateCreate.toMs);
      expect(bench.cloud.truth.alive()).toHaveLength(createAfterTerminateRatio);
      expect(countOf(bench, 'create-after-terminate')).toBe(createAfterTerminateRatio);
    }
  });

  test('a doubled request makes one slice; two only in a broken cloud', async () => {
    for (const nonIdempotentRatio of [0, 1]) {
      const bench = withFaults({ duplicateRequestRatio: 1, nonIdempotentRatio });
      await bench.launch(aLaunch({ hostCount: 2 }));
      await bench.clock.advance(60_000);
      const { truth } = bench.cloud;
      expect(truth.launchesReceived(s0)).toBe(2);
      expect(truth.launchesExecuted(s0)).toBe(1 + nonIdempotentRatio);
      expect(truth.alive()).toHaveLength(2 + 2 * nonIdempotentRatio);
      expect(countOf(bench, 'duplicate-request')).toBe(1);
      expect(countOf(bench, 'non-idempotent')).toBe(nonIdempotentRatio);
    }
  });

  // prettier-ignore: a table is read by column
  test.each([
    ['stockout', 'stockout', { faults: { stockoutRatio: 1 } }],
    ['stockout', 'stockout', { offers: [{ group: someGroup, stockoutRatio: 1 }] }],
    [
      'stockout',
      'stockout',
      { offers: [{ group: someGroup, stockouts: [{ fromMs: 0, toMs: 9_999 }] }] },
    ],
    ['refused-unknown', 'unknown', { faults: { refusedUnknownRatio: 1 } }],
    ['refused-permanent', 'permanent', { offers: [{ group: groupName('other') }] }],
    [
      'quota-exceeded',
      'quota-exceeded',
      { offers: [{ group: someGroup, quotaPool: 'h100' }], quotas: { h100: 3 } },
    ],
  ] as const)('%s: refused as %s, and nothing is made', async (kind, refusal, options) => {
    const bench = new CloudBench(options);
    const answer = await bench.launch(aLaunch({ hostCount: 4 }));
    expect(answer).toMatchObject({
      value: [{ kind: 'refused', sliceId: s0, refusal: { kind: refusal } }],
    });
    expect(bench.cloud.truth.alive()).toEqual([]);
    expect(countOf(bench, kind)).toBe(1);
  });

  test('throttled launches are refused with a word on when to come back, or fail', async () => {
    const bench = withFaults({ throttledRatio: 0.8 });
    const kinds = new Set<string>();
    for (let at = 0; at < 40; at++) {
      const answer = await bench.launch(aLaunch({ sliceId: sliceId(`s-${at}`) }));
      if (answer.kind === 'failed') kinds.add(answer.error);
      const outcome = answer.kind === 'answered' ? answer.value[0] : undefined;
      if (outcome?.kind !== 'refused') continue;
      expect(outcome.refusal).toMatchObject({ kind: 'throttled', retryAfterMs: 5_000 });
      kinds.add('refused');
    }
    expect(kinds).toEqual(new Set(['throttled', 'refused']));
  });

  test('a stockout window ends', async () => {
    const bench = new CloudBench({
      offers: [{ group: someGroup, stockouts: [{ fromMs: 5_000, toMs: 20_000 }] }],
    });
    const kindsAt: string[] = [];
    for (const index of [0, 1, 2]) {
      const answer = await bench.launch(aLaunch({ sliceId: sliceId(`s-${index}`) }));
      kindsAt.push(answer.kind === 'answered' ? (answer.value[0]?.kind ?? 'none') : answer.kind);
      await bench.clock.advance(10_000);
    }
    expect(kindsAt).toEqual(['accepted', 'refused', 'accepted']);
  });

  test('partial slices lack hosts or lose them young', async () => {
    const bench = withFaults({ partialSliceRatio: 1 });
    const endings = new Set<string>();
    for (let at = 0; at < 30; at++) {
      const id = sliceId(`s-${at}`);
      await bench.launch(aLaunch({ sliceId: id, hostCount: 4 }));
      const comeCount = bench.cloud.truth.alive().filter((host) => host.sliceId === id).length;
      if (comeCount < 4) endings.add('missing');
      else endings.add('all came');
    }
    await bench.clock.advance(faultTimes.earlyDeath.toMs);
    const left = bench.cloud.truth.alive();
    for (let at = 0; at < 30; at++) {
      expect(left.filter((host) => host.sliceId === sliceId(`s-${at}`)).length).toBeLessThan(4);
    }
    expect(endings).toEqual(new Set(['missing', 'all came']));
    expect(countOf(bench, 'partial-slice')).toBe(30);
  });
});

describe('terminations', () => {
  test('get lost: accepted, and nothing happens; asked again they work', async () => {
    const bench = withFaults({ terminateLostRatio: 1 });
    await bench.launch(aLaunch());
    expect((await bench.terminate(s0)).kind).toBe('answered');
    await bench.clock.advance(HOUR_MS);
    expect(bench.cloud.truth.alive()).toHaveLength(1);
    bench.cloud.levers.quiet();
    await bench.terminate(s0);
    await bench.clock.advance(60_000);
    expect(bench.cloud.truth.alive()).toEqual([]);
  });

  test('take their time, shown as stopping', async () => {
    const bench = withFaults({ terminateSlowRatio: 1 });
    await bench.launch(aLaunch());
    await bench.terminate(s0);
    await bench.clock.advance(faultTimes.slowStop.fromMs - 1_000);
    expect((await bench.rows()).map(({ state }) => state)).toEqual(['stopping']);
    await bench.clock.advance(faultTimes.slowStop.toMs);
    expect(bench.cloud.truth.alive()).toEqual([]);
    expect(countOf(bench, 'terminate-slow')).toBe(1);
  });
});

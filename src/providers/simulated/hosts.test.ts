import { describe, expect, test } from 'vitest';
import { aLaunch, CloudBench } from '../../../test/cloud-bench.ts';
import { sliceId } from '../../model/ids.ts';
import type { FaultKind, Faults } from './faults.ts';

const s0 = sliceId('s-0');
const countOf = ({ cloud }: CloudBench, kind: FaultKind): number => cloud.truth.faultCounts()[kind];
const HOUR_MS = 3_600_000;
const withFaults = (faults: Partial<Faults>, more = {}): CloudBench =>
  new CloudBench({ faults, ...more });

describe('hosts', () => {
  test('fail to boot in three ways', async () => {
    const bench = withFaults({ bootFailedRatio: 1 });
    await bench.launch(aLaunch({ hostCount: 30 }));
    await bench.clock.advance(HOUR_MS);
    const states = bench.cloud.truth
      .machines()
      .filter(({ fleet }) => fleet !== null)
      .map(({ state }) => state);
    expect(new Set(states)).toEqual(new Set(['starting', 'running', 'gone']));
    expect(countOf(bench, 'boot-failed')).toBe(30);
  });

  test('fail later on their own, said to be gone or just not listed', async () => {
    const bench = withFaults({ failuresPerHour: 60 }, { goneListedMs: 24 * HOUR_MS });
    await bench.launch(aLaunch({ hostCount: 40 }));
    await bench.clock.advance(HOUR_MS);
    expect(bench.cloud.truth.alive()).toEqual([]);
    const listedCount = (await bench.rows()).filter(({ state }) => state === 'gone').length;
    expect(listedCount).toBeGreaterThan(8);
    expect(listedCount).toBeLessThan(32);
    expect(countOf(bench, 'host-failed')).toBe(40);
  });

  test.each([
    ['preempted', 0],
    ['preempted-without-notice', 1],
  ] as const)('are %s, if preemptible', async (kind, preemptedWithoutNoticeRatio) => {
    const bench = withFaults({ preemptionsPerHour: 2, preemptedWithoutNoticeRatio });
    const bound = aLaunch({ hostCount: 2, sliceId: sliceId('stays') });
    await bench.launch(aLaunch({ hostCount: 2, preemptible: true }), bound);
    let noticeMs = 0;
    while (countOf(bench, kind) === 0) await bench.clock.advance(1_000);
    for (const row of await bench.rows()) {
      if (row.interruptionAtMs !== null) noticeMs = row.interruptionAtMs - bench.cloud.nowMs();
    }
    if (preemptedWithoutNoticeRatio === 0) expect(noticeMs).toBeGreaterThan(110_000);
    else expect(noticeMs).toBe(0);
    await bench.clock.advance(130_000);
    const left = bench.cloud.truth.alive();
    expect(left.filter((host) => host.sliceId === s0).length).toBeLessThan(2);
    expect(left.filter((host) => host.sliceId === bound.sliceId)).toHaveLength(2);
  });
});

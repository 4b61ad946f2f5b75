import { describe, expect, test } from 'vitest';
import { aLaunch, CloudBench } from '../../../test/cloud-bench.ts';
import { sliceId } from '../../model/ids.ts';
import { type Machine, machineStates } from '../../model/machine.ts';
import type { FaultKind, Faults } from './faults.ts';

const s0 = sliceId('s-0');
const countOf = ({ cloud }: CloudBench, kind: FaultKind): number => cloud.truth.faultCounts()[kind];
const HOUR_MS = 3_600_000;
const withFaults = (faults: Partial<Faults>, more = {}): CloudBench =>
  new CloudBench({ faults, ...more });

describe('lists', () => {
  test('lag: machines missing, stale and resurrected', async () => {
    const bench = withFaults({ listStaleRatio: 1 }, { goneListedMs: 0 });
    for (let at = 0; at < 12; at++) {
      const id = sliceId(`s-${at}`);
      await bench.launch(aLaunch({ sliceId: id, hostCount: 4 }));
      for (let looks = 0; looks < 40; looks++) {
        await bench.rows();
        await bench.clock.advance(2_000);
      }
      await bench.terminate(id);
    }
    for (let looks = 0; looks < 40; looks++) {
      await bench.rows();
      await bench.clock.advance(2_000);
    }
    for (const kind of ['list-missing', 'list-stale', 'list-resurrected'] as const) {
      expect([kind, countOf(bench, kind) > 0]).toEqual([kind, true]);
    }
  });

  test('leave out a machine that has been there for hours', async () => {
    const bench = withFaults({ listMissingRatio: 0.5 });
    await bench.launch(aLaunch({ hostCount: 10 }));
    await bench.clock.advance(HOUR_MS);
    const lengths = new Set<number>();
    for (let looks = 0; looks < 20; looks++) {
      lengths.add((await bench.rows()).length);
      await bench.clock.advance(5_000);
    }
    expect(lengths.has(10)).toBe(true);
    expect(Math.min(...lengths)).toBeLessThan(10);
  });

  test('have rows that are malformed, doubled, or about nothing', async () => {
    const bench = withFaults({ garbageRowRatio: 1 });
    await bench.launch(aLaunch({ hostCount: 2 }));
    const seen = new Set<string>();
    for (let looks = 0; looks < 60; looks++) {
      const rows = await bench.rows();
      for (const row of rows) seen.add(flawOf(row));
      const ids = rows.map((row) => (row as Machine | null)?.machineId);
      if (new Set(ids).size < ids.length) seen.add('doubled');
    }
    const flaws = ['not a row', 'id', 'state', 'index', 'time', 'slice', 'doubled', 'none'];
    expect([...seen].sort()).toEqual(flaws.sort());
  });
});

/** What is wrong with a row, taken for what it is and not for what its type says. */
function flawOf(row: unknown): string {
  if (typeof row !== 'object' || row === null || !('machineId' in row)) return 'not a row';
  const { machineId, sliceId: slice, hostIndex, state, interruptionAtMs } = row as Machine;
  if (typeof machineId !== 'string') return 'id';
  if (!machineStates.includes(state)) return 'state';
  if (!Number.isInteger(hostIndex) || hostIndex < 0 || hostIndex > 1_000) return 'index';
  if (interruptionAtMs !== null && typeof interruptionAtMs !== 'number') return 'time';
  return slice === s0 ? 'none' : 'slice';
}

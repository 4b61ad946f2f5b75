import { describe, expect, test } from 'vitest';
import type { Control } from '../model/control.ts';
import { entryId, epochMs } from '../model/ids.ts';
import type { HistoryStep, SliceRecord } from '../model/slice-record.ts';
import { aControl, aRecord, aReport, anAsk, anEntry } from '../../test/builders.ts';
import { Memory } from './memory.ts';
import { Sights } from './sights.ts';
import { TickInputs } from './tick-input.ts';

const control = aControl();

function aFleet(...records: readonly SliceRecord[]) {
  return aFleetUnder(control, ...records);
}

function aFleetUnder(control: Control, ...records: readonly SliceRecord[]) {
  const memory = new Memory();
  for (const record of records) memory.slices.put(record.id, record);
  const sights = new Sights(epochMs(0));
  const inputs = new TickInputs();
  const freeze = (atMs: number) =>
    inputs.freeze(memory, sights, { atMs: epochMs(atMs), epoch: 1, seq: 1, control });
  return { memory, sights, freeze };
}

describe('slices', () => {
  test('those that ended are left out, the others come by id', () => {
    const records = ['b', 'a', 'c'].map((id) =>
      aRecord({ id, status: id === 'c' ? 'failed' : 'ready' }),
    );
    expect(
      aFleet(...records)
        .freeze(0)
        .slices.map(({ id }) => id),
    ).toEqual(['a', 'b']);
  });

  test('where nobody reports, a host counts as empty if its group says so', () => {
    const idle = aControl({ own: { unreported: 'idle' } });
    const { sights, freeze } = aFleetUnder(idle, aRecord());
    const { host } = idle.fleet.groups[0]!;
    expect(freeze(0).slices[0]?.hosts).toEqual([{ free: host, isBusy: false }]);
    sights.report(aRecord(), aReport({ isBusy: true }));
    expect(freeze(0).slices[0]?.hosts).toMatchObject([{ isBusy: true }]);
    // Once somebody reported, only a report can say that nothing runs there.
    const reported = aFleetUnder(idle, aRecord({ isReported: true }));
    expect(reported.freeze(0).slices[0]?.hosts).toEqual([{ free: null, isBusy: null }]);
  });

  test('a report counts for five minutes; then nothing is known', () => {
    const { sights, freeze } = aFleet(aRecord());
    sights.report(aRecord(), aReport());
    const known = { free: { cpu: 16_000 }, isBusy: false };
    expect(freeze(300_000).slices[0]?.hosts).toEqual([known]);
    expect(freeze(300_001).slices[0]?.hosts).toEqual([{ free: null, isBusy: null }]);
  });

  test('what did not change is the same object, so that to record it again costs nothing', () => {
    const { sights, freeze, memory } = aFleet(aRecord());
    sights.report(aRecord(), aReport());
    const [before] = freeze(0).slices;
    sights.report(aRecord(), aReport({ atMs: epochMs(5) }));
    expect(freeze(10).slices[0]).toBe(before);
    sights.report(aRecord(), aReport({ isBusy: true }));
    expect(freeze(20).slices[0]).not.toBe(before);
    memory.slices.put('slice', aRecord({ isProtected: true }));
    expect(freeze(30).slices[0]?.isProtected).toBe(true);
  });
});

describe('work', () => {
  const push = (source: string, ...ids: readonly string[]) => {
    const entries = ids.map((id) =>
      anEntry({ id, form: { kind: 'gang', ask: anAsk(), taskCount: 2 } }),
    );
    return { source, generation: 1, entries, expiresAtMs: epochMs(9) };
  };

  test('of all schedulers is one list, and the same object until one pushes anew', () => {
    const { memory, freeze } = aFleet();
    memory.demand.put('b', push('b', 'y'));
    memory.demand.put('a', push('a', 'x'));
    const { demand } = freeze(0);
    expect(demand[0]?.batches.map(({ id }) => id)).toEqual(['x', 'y']);
    expect(freeze(1).demand).toBe(demand);
    memory.demand.put('a', push('a', 'z'));
    expect(freeze(2).demand).not.toBe(demand);
  });

  test('gangs with slices of their own are classes of their own', () => {
    const { memory, freeze } = aFleet(aRecord({ reservedFor: entryId('x') }));
    memory.demand.put('a', push('a', 'x', 'y'));
    expect(freeze(0).demand.map(({ isReserved }) => isReserved)).toEqual([true, false]);
  });
});

describe('the last minute', () => {
  test('launches are counted once for a gang', () => {
    const sent = (id: string, atMs: number, gang: string | null = null) =>
      aRecord({
        id,
        requestedAtMs: epochMs(atMs),
        reservedFor: gang === null ? null : entryId(gang),
      });
    const { freeze } = aFleet(
      sent('a', 50_000),
      sent('b', 40_000, 'g'),
      sent('c', 40_000, 'g'),
      sent('d', 0),
    );
    expect(freeze(60_000).launchedAtMs).toEqual([40_000, 50_000]);
  });

  const step = (over: Partial<HistoryStep>): HistoryStep => {
    return {
      atMs: epochMs(50_000),
      event: 'drain-started',
      status: 'draining',
      cause: null,
      ...over,
    };
  };
  const idle = { kind: 'idle', idleForMs: 1 } as const;
  const taken = { kind: 'interrupted', atMs: epochMs(9) } as const;
  const notNeeded = { kind: 'not-needed', sinceMs: epochMs(9) } as const;
  test.each([
    ['a drain counts', step({ cause: { kind: 'draining', why: idle } }), 1],
    [
      'a cancelled launch counts',
      step({
        event: 'cancelled',
        status: 'terminating',
        cause: { kind: 'cancelled', why: notNeeded },
      }),
      1,
    ],
    [
      'one that was never sent releases nothing',
      step({
        event: 'cancelled',
        status: 'terminated',
        cause: { kind: 'cancelled', why: notNeeded },
      }),
      0,
    ],
    [
      'what the provider takes is not our doing',
      step({ cause: { kind: 'draining', why: taken } }),
      0,
    ],
    [
      'a loss is not our doing',
      step({
        event: 'host-lost',
        status: 'terminating',
        cause: { kind: 'host-lost', hostIndex: 0, machineId: null },
      }),
      0,
    ],
    [
      'what is a minute old counts no longer',
      step({ atMs: epochMs(0), cause: { kind: 'draining', why: idle } }),
      0,
    ],
  ] as const)('%s', (_name, each, count) => {
    const record = aRecord({ statusSinceMs: epochMs(55_000), history: [each] });
    expect(aFleet(record).freeze(60_000).releasedAtMs).toHaveLength(count);
  });
});

test('providers that never gave a list are named', () => {
  const { freeze, sights } = aFleet();
  expect(freeze(0).unlisted).toEqual(['local']);
  sights.list('local', { startedMs: epochMs(1), machines: [] }, () => false);
  expect(freeze(2).unlisted).toEqual([]);
});

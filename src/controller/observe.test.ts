import { describe, expect, test } from 'vitest';
import type { FleetEvent } from '../model/event.ts';
import { entryId, epochMs, groupName, machineId, sliceId } from '../model/ids.ts';
import type { Machine } from '../model/machine.ts';
import type { SliceRecord } from '../model/slice-record.ts';
import { aControl, aRecord, aTimeouts } from '../../test/builders.ts';
import { Memory } from './memory.ts';
import { indexGroups, observe } from './observe.ts';
import { Sights } from './sights.ts';

function aFleet(...records: readonly SliceRecord[]) {
  const memory = new Memory();
  for (const record of records) memory.slices.put(record.id, record);
  memory.keep();
  const sights = new Sights(epochMs(0));
  const events: FleetEvent[] = [];
  const control = aControl();
  const look = (nowMs: number): boolean =>
    observe({
      memory,
      sights,
      control,
      groups: indexGroups(control),
      nowMs: epochMs(nowMs),
      listLagMs: new Map([['local', 1_000]]),
      tell: (event) => void events.push(event),
    });
  const list = (startedMs: number, ...machines: readonly Machine[]): boolean =>
    sights.list('local', { startedMs: epochMs(startedMs), machines }, () => false);
  return { memory, sights, events, look, list };
}

const aMachine = (over: Partial<Machine> = {}): Machine => {
  return {
    machineId: machineId('m'),
    sliceId: sliceId('slice'),
    group: groupName('group'),
    hostIndex: 0,
    state: 'ready',
    interruptionAtMs: null,
    ...over,
  };
};
const kindsOf = (events: readonly FleetEvent[]): readonly string[] =>
  events.map(({ kind }) => kind);
const requesting = aRecord({
  status: 'requesting',
  statusSinceMs: epochMs(0),
  requestedAtMs: epochMs(0),
});
const stockout = { kind: 'stockout', detail: 'none left' } as const;

describe('what a step teaches about its group', () => {
  test('a refusal starts a back-off and asks for a new plan', () => {
    const { sights, events, look, memory } = aFleet(requesting);
    sights.answer(requesting, { kind: 'refused', refusal: stockout });
    expect(look(1_000)).toBe(true);
    expect(kindsOf(events)).toEqual(['slice-moved', 'launch-refused', 'backoff-started']);
    expect([...memory.troubles.values()]).toMatchObject([{ kind: 'stockout', untilMs: 31_000 }]);
    expect([...memory.health.values()]).toEqual([]);
  });

  test('a call that nobody answered starts one too, and is asked again', () => {
    const { sights, look, memory } = aFleet(requesting);
    const refusal = { kind: 'unknown', detail: 'no answer' } as const;
    sights.answer(requesting, { kind: 'unanswered', atMs: epochMs(500), refusal });
    expect(look(1_000)).toBe(false);
    expect(sights.of(requesting).launch).toEqual({ kind: 'none' });
    expect([...memory.troubles.values()]).toMatchObject([{ kind: 'unknown' }]);
  });

  test.each([
    ['asked for after the wait end it', stockout, 31_000, []],
    ['asked for before, of the same batch for one, teach nothing', stockout, 0, ['stockout']],
    ['answer a call that nobody answered', { kind: 'unknown', detail: '' }, 0, []],
  ] as const)('machines %s', (_name, refusal, requestedAtMs, left) => {
    const other = aRecord({ ...requesting, id: 't' });
    const mine = { ...requesting, requestedAtMs: epochMs(requestedAtMs) };
    const { sights, look, list, memory, events } = aFleet(mine, other);
    sights.answer(other, { kind: 'refused', refusal });
    look(1_000);
    list(32_000, aMachine({ state: 'starting' }));
    look(32_000);
    expect([...memory.troubles.values()].map(({ kind }) => kind)).toEqual(left);
    const ended = events.filter(({ kind }) => kind === 'backoff-ended');
    expect(ended).toHaveLength(1 - left.length);
  });

  test.each([
    ['it did not come up', { status: 'booting', statusSinceMs: epochMs(0) }, 600_000, 0.7],
    [
      'its launch yielded nothing',
      { status: 'requesting', statusSinceMs: epochMs(0) },
      120_000,
      0.7,
    ],
    [
      'nobody confirmed its release',
      { status: 'terminating', statusSinceMs: epochMs(0) },
      120_000,
      null,
    ],
    ['no rate let it go', { status: 'queued', statusSinceMs: epochMs(0) }, 900_000, null],
  ] as const)('health after a timeout: %s', (_name, over, nowMs, score) => {
    const { look, memory } = aFleet(aRecord(over));
    look(nowMs);
    expect(memory.health.get('group')?.score ?? null).toBe(score);
  });

  test.each([
    ['young', 0, 100_000, 0.7],
    ['just old enough', 0, 900_000, null],
  ] as const)('health after the loss of a machine: %s', (_name, requestedAtMs, nowMs, score) => {
    const { look, list, memory } = aFleet(
      aRecord({ requestedAtMs: epochMs(requestedAtMs), machines: [machineId('m')] }),
    );
    list(nowMs, aMachine({ state: 'gone' }));
    look(nowMs);
    expect(memory.slices.get('slice')?.status).toBe('terminating');
    expect(memory.health.get('group')?.score ?? null).toBe(score);
  });

  test('five young losses stop launches for a while', () => {
    const slices = [1, 2, 3, 4, 5].map((n) =>
      aRecord({ id: `s${n}`, status: 'booting', statusSinceMs: epochMs(0) }),
    );
    const { look, memory } = aFleet(...slices);
    look(aTimeouts.bootingMs);
    expect([...memory.troubles.values()]).toMatchObject([{ kind: 'churn', attempts: 5 }]);
  });
});

describe('machines that nobody remembers', () => {
  test('are adopted when their group is known', () => {
    const { look, list, memory, events } = aFleet();
    list(1_000, aMachine({ sliceId: sliceId('lost') }));
    look(1_000);
    expect(memory.slices.get('lost')).toMatchObject({ status: 'ready', machines: ['m'] });
    expect(kindsOf(events).slice(0, 2)).toEqual(['stray-machine', 'slice-moved']);
    expect(memory.slices.get('lost')?.history[0]).toMatchObject({ event: 'adopted' });
  });

  test.each([
    ['of a group that nobody knows', { group: groupName('other') }],
    ['on their way out', { state: 'stopping' }],
  ] as const)('are not adopted: %s', (_name, over) => {
    const { look, list, memory } = aFleet();
    list(1_000, aMachine({ sliceId: sliceId('lost'), ...over }));
    look(1_000);
    expect(memory.slices.get('lost')).toBeUndefined();
  });

  test('of a slice that has ended do not revive it', () => {
    const { look, list, memory } = aFleet(
      aRecord({ status: 'terminated', statusSinceMs: epochMs(0) }),
    );
    list(1_000, aMachine());
    look(1_000);
    expect(memory.slices.get('slice')?.status).toBe('terminated');
  });
});

describe('what has an end', () => {
  test('comes to it: pauses, floors, pushed work, troubles', () => {
    const { look, memory, events } = aFleet();
    const untilMs = epochMs(5_000);
    const pause = { id: 'p', what: 'both', group: null, author: 'ann', reason: '' } as const;
    memory.pauses.put('p', { ...pause, sinceMs: epochMs(0), untilMs });
    memory.pauses.put('q', { ...pause, id: 'q', sinceMs: epochMs(0), untilMs: null });
    const ask = { device: null, preemptible: null, constraints: [], resources: {} };
    memory.floors.put('f', { id: entryId('f'), ask, count: 1, owner: 'ann', expiresAtMs: untilMs });
    memory.demand.put('d', { source: 'd', generation: 1, entries: [], expiresAtMs: untilMs });
    look(4_999);
    expect(events).toEqual([]);
    look(5_000);
    expect([...memory.pauses.entries()].map(([id]) => id)).toEqual(['q']);
    expect([memory.floors.get('f'), memory.demand.get('d')]).toEqual([undefined, undefined]);
    expect(events).toEqual([{ kind: 'resumed', pauseId: 'p', by: 'expiry' }]);
  });

  test('ended slices are remembered for an hour', () => {
    const { look, memory } = aFleet(aRecord({ status: 'failed', statusSinceMs: epochMs(0) }));
    look(3_599_999);
    expect(memory.slices.get('slice')).toBeDefined();
    look(3_600_000);
    expect(memory.slices.get('slice')).toBeUndefined();
  });
});

test('to look twice at the same time is to look once', () => {
  const { look, list, memory, events } = aFleet(requesting);
  list(1_000, aMachine());
  look(1_000);
  const told = events.length;
  memory.keep();
  look(1_000);
  expect([events.length, memory.isChanged]).toEqual([told, false]);
});

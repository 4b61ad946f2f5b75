import { describe, expect, test } from 'vitest';
import type { FleetEvent } from '../model/event.ts';
import { entryId, epochMs, groupName, sliceId } from '../model/ids.ts';
import type { SliceRecord } from '../model/slice-record.ts';
import { sliceStatuses } from '../model/slice.ts';
import { aControl, aGroup, aRecord, anAsk } from '../../test/builders.ts';
import { changeControl, type Command, obey } from './commands.ts';
import { Memory } from './memory.ts';
import { indexGroups } from './observe.ts';

const nowMs = epochMs(1_000);

function aFleet(...records: readonly SliceRecord[]) {
  const memory = new Memory();
  memory.control = aControl();
  for (const record of records) memory.slices.put(record.id, record);
  memory.keep();
  const events: FleetEvent[] = [];
  const groups = indexGroups(aControl());
  const tell = (event: FleetEvent): void => void events.push(event);
  const out = { memory, groups, nowMs, tell };
  return { memory, events, order: (command: Command) => obey(command, out) };
}

const push = (generation: number): Command => {
  const expiresAtMs = epochMs(9_000);
  return { kind: 'push-demand', push: { source: 's', generation, entries: [], expiresAtMs } };
};

describe('pushed work', () => {
  test.each([
    ['newer', 6, { kind: 'done' }, 6],
    ['the same again, as after a lost answer', 5, { kind: 'done' }, 5],
    ['older, overtaken on its way', 4, { kind: 'stale-generation', generation: 5 }, 5],
  ] as const)('%s', (_name, generation, answer, kept) => {
    const { order, memory } = aFleet();
    order(push(5));
    expect(order(push(generation))).toEqual(answer);
    expect(memory.demand.get('s')?.generation).toBe(kept);
  });
});

test('a floor is held until it is dropped; to drop it twice is fine', () => {
  const { order, memory } = aFleet();
  const floor = { id: entryId('f'), ask: anAsk(), count: 1, owner: 'ann', expiresAtMs: epochMs(9) };
  expect(order({ kind: 'hold-floor', floor })).toEqual({ kind: 'done' });
  expect(memory.floors.get('f')).toEqual(floor);
  expect(order({ kind: 'drop-floor', id: 'f' })).toEqual({ kind: 'done' });
  expect(order({ kind: 'drop-floor', id: 'f' })).toEqual({ kind: 'done' });
  expect(memory.floors.get('f')).toBeUndefined();
});

test('a pause is told, and so is its end', () => {
  const { order, events } = aFleet();
  const pause = { id: 'p', what: 'both', group: null, author: 'ann', reason: 'x' } as const;
  order({ kind: 'pause', pause: { ...pause, sinceMs: nowMs, untilMs: null } });
  expect(order({ kind: 'resume', pauseId: 'p' })).toEqual({ kind: 'done' });
  expect(order({ kind: 'resume', pauseId: 'p' })).toEqual({ kind: 'unknown-pause' });
  expect(events).toMatchObject([
    { kind: 'paused', pause: { id: 'p' } },
    { kind: 'resumed', pauseId: 'p', by: 'operator' },
  ]);
});

describe('an order to drain a slice', () => {
  const drain = (deadlineMs: number | null = null): Command => {
    const words = { sliceId: sliceId('slice'), author: 'ann', reason: 'repair' };
    return {
      kind: 'drain-slice',
      ...words,
      deadlineMs: deadlineMs === null ? null : epochMs(deadlineMs),
    };
  };
  const why = { kind: 'operator', author: 'ann', reason: 'repair' };
  const after = {
    queued: 'terminated',
    requesting: 'terminating',
    booting: 'terminating',
    initializing: 'terminating',
    ready: 'draining',
    draining: 'draining',
    terminating: null,
    terminated: null,
    failed: null,
  } as const;

  test.each(sliceStatuses)('a slice that is %s', (status) => {
    const order = { why: { kind: 'outdated' }, deadlineMs: epochMs(5_000) } as const;
    const record = aRecord({ status, drain: status === 'draining' ? order : null });
    const fleet = aFleet(record);
    const answer = fleet.order(drain());
    const next = fleet.memory.slices.get('slice');
    expect(answer).toEqual(
      after[status] === null ? { kind: 'too-late', status } : { kind: 'done' },
    );
    expect(next?.status).toBe(after[status] ?? status);
    if (after[status] === 'draining') expect(next?.drain?.why).toEqual(why);
  });

  test.each([
    ["its group's time", aRecord(), null, 1_801_000],
    ['the time given', aRecord(), 7_000, 7_000],
    [
      'the time it had, when it drains already',
      aRecord({
        status: 'draining',
        drain: { why: { kind: 'outdated' }, deadlineMs: epochMs(5_000) },
      }),
      null,
      5_000,
    ],
  ] as const)('gives work %s', (_name, record, deadlineMs, until) => {
    const { order, memory } = aFleet(record);
    order(drain(deadlineMs));
    expect(memory.slices.get('slice')?.drain).toEqual({ why, deadlineMs: until });
  });

  test('names a slice that is there', () => {
    expect(aFleet().order(drain())).toEqual({ kind: 'unknown-slice' });
  });
});

test('a slice can be protected and let go again', () => {
  const { order, memory } = aFleet(aRecord());
  const protect = (isProtected: boolean, id = 'slice'): Command => {
    return { kind: 'protect-slice', sliceId: sliceId(id), isProtected };
  };
  order(protect(true));
  expect(memory.slices.get('slice')?.isProtected).toBe(true);
  order(protect(false));
  expect(memory.slices.get('slice')?.isProtected).toBe(false);
  expect(order(protect(true, 'none'))).toEqual({ kind: 'unknown-slice' });
});

describe('a new configuration', () => {
  const other = aControl({ fleet: { groups: [aGroup({ name: 'other' })] } });

  test('keeps dropped groups that have slices, and says how many live', () => {
    const dead = aRecord({ id: 'dead', status: 'terminated' });
    const { order, memory, events } = aFleet(aRecord(), dead);
    order({ kind: 'change-control', control: other });
    expect(memory.control?.retired).toEqual([groupName('group')]);
    expect(events).toEqual([
      { kind: 'group-removed', group: 'group', slices: 1 },
      { kind: 'config-changed', groups: 2 },
    ]);
  });

  test('that says nothing new is no change', () => {
    const { memory, events } = aFleet(aRecord());
    changeControl(aControl(), { memory, tell: (event) => events.push(event) });
    expect([memory.isChanged, events]).toEqual([false, []]);
  });
});

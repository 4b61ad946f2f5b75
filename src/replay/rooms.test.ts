import { describe, expect, test } from 'vitest';
import { aGroup, anAsk } from '../../test/builders.ts';
import type { BundleStrategy, EntryForm } from '../model/demand.ts';
import type { Group } from '../model/group.ts';
import { entryId, sliceId } from '../model/ids.ts';
import { type Room, Rooms } from './rooms.ts';

const node = aGroup({ name: 'node', host: { cpu: 8_000 } });
const gpu = aGroup({
  name: 'gpu',
  host: { cpu: 8_000, gpu: 1_000 },
  device: { type: 'gpu', variant: null },
});
const pod = aGroup({ name: 'pod', host: { cpu: 8_000 }, hostsPerSlice: 2 });

const aRoom = (slice: string, group: Group, cpu: number, over: Partial<Room> = {}): Room => ({
  sliceId: sliceId(slice),
  hostIndex: 0,
  group,
  reservedFor: null,
  free: { ...group.host, cpu: cpu * 1_000 },
  whole: group.host,
  isEmpty: cpu === 8,
  ...over,
});

const single = (cpu: number): EntryForm => {
  return { kind: 'single', ask: anAsk({ resources: { cpu: cpu * 1_000 } }) };
};
const gang = (cpu: number, taskCount: number): EntryForm => {
  return { kind: 'gang', ask: anAsk({ resources: { cpu: cpu * 1_000 } }), taskCount };
};
const bundles = (strategy: BundleStrategy, ...cpus: readonly number[]): EntryForm => {
  const asks = cpus.map((cpu) => anAsk({ resources: { cpu: cpu * 1_000 } }));
  return { kind: 'bundles', strategy, bundles: asks };
};

/** Slices that were given, by place; null where there was no room for all of it. */
const take = (rooms: Rooms, form: EntryForm, id = 'a'): readonly string[] | null =>
  rooms.take(entryId(id), form)?.map(({ room }) => room.sliceId) ?? null;

test('single tasks go to the first host with room', () => {
  const rooms = new Rooms([aRoom('n1', node, 3), aRoom('n2', node, 8)]);
  const two = single(2);
  expect([two, two, two, two, two, two].map((form) => take(rooms, form))).toEqual([
    ['n1'],
    ['n2'],
    ['n2'],
    ['n2'],
    ['n2'],
    null,
  ]);
  expect(take(rooms, single(1))).toEqual(['n1']);
});

test('work that needs no accelerator leaves one alone while it can', () => {
  const rooms = new Rooms([aRoom('g1', gpu, 8), aRoom('n1', node, 4)]);
  const four = single(4);
  expect([take(rooms, four), take(rooms, four)]).toEqual([['n1'], ['g1']]);
});

describe('a gang', () => {
  test('goes whole into one group, several tasks to a host where they fit', () => {
    const rooms = new Rooms([aRoom('g1', gpu, 4), aRoom('n1', node, 8), aRoom('n2', node, 4)]);
    expect(take(rooms, gang(4, 3))).toEqual(['n1', 'n1', 'n2']);
    expect(take(rooms, gang(4, 2))).toBeNull();
    expect(take(rooms, gang(4, 1))).toEqual(['g1']);
  });

  test('takes whole slices where they have several hosts', () => {
    const hosts = (slice: string, ...free: readonly number[]): Room[] =>
      free.map((cpu, hostIndex) => aRoom(slice, pod, cpu, { hostIndex }));
    const rooms = new Rooms([...hosts('p1', 8, 4), ...hosts('p2', 8, 8)]);
    expect(take(rooms, gang(2, 4))).toBeNull();
    expect(take(rooms, gang(2, 2))).toEqual(['p2', 'p2']);
    expect(take(rooms, gang(2, 2))).toBeNull(); // its hosts are its own, however much is left
  });

  test('alone may use what is held for it', () => {
    const held = { reservedFor: entryId('mine') };
    const rooms = new Rooms([aRoom('n1', node, 8, held)]);
    expect(take(rooms, gang(4, 1), 'other')).toBeNull();
    expect(take(rooms, gang(4, 1), 'mine')).toEqual(['n1']);
  });
});

// prettier-ignore: a table is read by column
test.each([
  ['PACK', [2, 2], ['n1', 'n1']],
  ['SPREAD', [2, 2], ['n1', 'n2']],
  ['SPREAD', [2, 2, 2], ['n1', 'n2', 'n1']],
  ['STRICT_SPREAD', [2, 2], ['n1', 'n2']],
  ['STRICT_SPREAD', [2, 2, 2], null],
  ['STRICT_PACK', [4, 4], ['n1']],
  ['STRICT_PACK', [4, 6], null],
] as const)('bundles %s %j', (strategy, cpus, expected) => {
  const rooms = new Rooms([aRoom('n1', node, 8), aRoom('n2', node, 8)]);
  expect(take(rooms, bundles(strategy, ...cpus))).toEqual(expected);
  if (expected === null) expect(take(rooms, single(8))).toEqual(['n1']); // nothing was kept
});

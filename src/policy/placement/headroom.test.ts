import fc from 'fast-check';
import { expect, test } from 'vitest';
import { epochMs, groupName } from '../../model/ids.ts';
import { createCatalogue, type HostType } from './catalogue.ts';
import { decideHeadroom, headroomDefaults, type Room, type RoomState } from './headroom.ts';

const aType = (name: string, capacity: number, usd: number): HostType => {
  const priceMicroUsdPerHour = usd * 1_000_000;
  return { name: groupName(name), capacity: Float64Array.of(capacity), priceMicroUsdPerHour };
};
const types = [aType('small', 4, 2), aType('plain', 8, 3), aType('dear', 64, 90)];
const anywhere = { mayOpen: Uint8Array.of(1, 1, 1), mayVisit: new Uint8Array(3) };
const SMALL = 0;
const DEAR = 2;
const shapes = [2, 6, 60].map((need) => ({ ...anywhere, need: Float64Array.of(need) }));
const catalogue = createCatalogue({ types, shapes, deviceResource: null });
const nowMs = epochMs(10_000_000);
const arrived = (shape: number, ageMs: number) => ({ shape, arrivedAtMs: epochMs(nowMs - ageMs) });
const aRoom = (hostId: string, free: number, state: RoomState = 'busy'): Room => {
  return { hostId, type: 1, free: Float64Array.of(free), state };
};
const config = { ...headroomDefaults, windowMs: 600_000, arrivalShare: 0.05 };
const two = { ...config, arrivalCountMin: 2 };

// prettier-ignore: a table is read by column
test.each([
  ['nothing came, nothing is held', [], [aRoom('a', 8)], [], []],
  ['room for the last two', [arrived(0, 50), arrived(0, 9)], [aRoom('a', 4)], ['a', 'a'], []],
  ['room for one of them only', [arrived(0, 50), arrived(0, 9)], [aRoom('a', 3)], ['a'], [SMALL]],
  ['old arrivals are forgotten', [arrived(0, 600_001)], [], [], []],
  ['nothing is held for dear work', [arrived(DEAR, 9)], [], [], []],
  ['an idle host is held last', [arrived(0, 9)], [aRoom('i', 8, 'idle'), aRoom('b', 2)], ['b'], []],
  ['booting hosts count', [arrived(0, 9)], [aRoom('b', 8, 'booting')], ['b'], []],
] as const)('%s', (_name, arrivals, rooms, held, backlog) => {
  const decision = decideHeadroom(catalogue, { arrivals, rooms, nowMs }, two);
  expect(decision.held).toEqual(held);
  expect(decision.kind === 'short' ? decision.backlog : []).toEqual(backlog);
});

test('room is held for a share of many arrivals, up to a limit', () => {
  const heldFor = (count: number): number => {
    const arrivals = Array.from({ length: count }, () => arrived(SMALL, 1_000));
    return decideHeadroom(catalogue, { arrivals, rooms: [aRoom('a', 1_000)], nowMs }, config).held
      .length;
  };
  expect([1, 20, 60, 100, 5_000].map(heldFor)).toEqual([1, 1, 3, 5, 20]);
});

test('what is held fits where it is held', () => {
  const arrivals = fc.array(fc.tuple(fc.nat(1), fc.nat(900_000)), { maxLength: 9 });
  const rooms = fc.array(fc.nat(8), { maxLength: 5 });
  fc.assert(
    fc.property(arrivals, rooms, (came, free) => {
      const list = came.map(([shape, ageMs]) => arrived(shape, ageMs));
      const all = free.map((left, index) => aRoom(`h${index}`, left));
      const nine = { ...config, arrivalCountMin: 9 };
      const { held } = decideHeadroom(catalogue, { arrivals: list, rooms: all, nowMs }, nine);
      for (const room of all) {
        const count = held.filter((hostId) => hostId === room.hostId).length;
        expect(count * 2).toBeLessThanOrEqual(room.free[0]!);
      }
    }),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitrarySnapshot } from '../../../test/arbitraries.ts';
import { aGroup, aSlice, aSnapshot, anAsk, anEntry } from '../../../test/builders.ts';
import type { Ask, Floor } from '../../model/demand.ts';
import { type Strategy, strategies } from '../../model/fleet.ts';
import { entryId } from '../../model/ids.ts';
import type { SliceStatus } from '../../model/slice.ts';
import { decideDemand } from './decide.ts';

const RUNS = Number(process.env['BELLOWS_FUZZ_RUNS'] ?? 100);

const aFloor = (count: number, ask: Partial<Ask> = {}): Floor => {
  return { id: entryId('floor'), count, ask: anAsk({ resources: { cpu: 8_000 }, ...ask }) };
};
const slices = (status: SliceStatus, count: number) =>
  Array.from({ length: count }, (_, n) => aSlice({ id: `${status}-${n}`, group: 'group', status }));

// Two copies fit a host of 16 CPUs; max is 3.
// prettier-ignore: a table is read by column
test.each([
  ['is launched', aFloor(4), [], 0, 2, 4],
  ['counts busy hosts as whole', aFloor(4), slices('ready', 2), 0, 0, 4],
  ['counts hosts on their way', aFloor(4), slices('booting', 1), 0, 1, 4],
  ['counts no hosts that leave', aFloor(4), slices('draining', 1), 0, 2, 4],
  ['counts hosts opened for work', aFloor(4), [], 16, 1, 4],
  ['is held as far as bounds allow', aFloor(9), [], 0, 3, 6],
  ['of what no host has is not held', aFloor(1, { resources: { gpu: 1 } }), [], 0, 0, 0],
])('a floor %s', (_name, floor, there, tasks, launchedForIt, held) => {
  for (const strategy of strategies) {
    const decision = decideDemand(
      aSnapshot({
        fleet: { strategy, groups: [aGroup({ max: 3 })] },
        slices: there,
        floors: [floor],
        entries: tasks === 0 ? [] : [anEntry({ count: tasks })],
      }),
    );
    expect([decision.groups[0]?.causes.floor, decision.floors[0]?.heldCount]).toEqual([
      launchedForIt,
      held,
    ]);
    expect(decision.floors[0]?.unmet === null).toBe(held === floor.count);
  }
});

test('a floor that is short says why, and what would help', () => {
  const groups = [aGroup({ max: 1 })];
  const decision = decideDemand(aSnapshot({ fleet: { groups }, floors: [aFloor(4)] }));
  expect(decision.floors[0]?.unmet).toMatchObject({
    code: 'no-capacity',
    groups: [{ exclusion: { kind: 'at-max', need: 1, have: 0, max: 1 } }],
    change: { kind: 'raise-max', from: 1, to: 2 },
  });
});

test.each(strategies)('under %s a floor takes nothing from work', (strategy: Strategy) => {
  fc.assert(
    fc.property(arbitrarySnapshot(strategy), (snapshot) => {
      const [withFloors, without] = [snapshot, { ...snapshot, floors: [] }].map(decideDemand);
      const unmet = (decision: typeof without) =>
        decision?.classes.map(({ unmetCount }) => unmetCount);
      expect(unmet(withFloors)).toEqual(unmet(without));
    }),
    { numRuns: RUNS },
  );
});

import { expect, test } from 'vitest';
import { aGroup, anAsk, anEntry } from '../../../test/builders.ts';
import type { ClassVerdict, Spot } from '../../model/decision.ts';
import type { EntryForm } from '../../model/demand.ts';
import { groupName } from '../../model/ids.ts';
import { classify } from '../../policy/demand/classes.ts';
import { roomLeftOnItsWay, roomTakenOnItsWay } from './coming-room.ts';

const spot = (room: Spot['room'], tasks: number, group = 'group'): Spot => {
  return { group: groupName(group), room, tasks };
};
const verdict = (count: number, ...spots: readonly Spot[]): ClassVerdict => {
  const placed = [{ count, spots, why: { kind: 'room-there' }, runnerUp: null } as const];
  return { placed, unmetCount: 0, unmet: null };
};
const cpu = (amount: number) => anAsk({ resources: { cpu: amount } });

test.each<readonly [string, EntryForm, ClassVerdict, number | undefined]>([
  ['singles', { kind: 'single', ask: cpu(1_000) }, verdict(3, spot('on-its-way', 1)), 3_000],
  [
    'what is not on its way',
    { kind: 'single', ask: cpu(1_000) },
    verdict(3, spot('new', 1)),
    undefined,
  ],
  [
    'a gang over two kinds of room',
    { kind: 'gang', ask: cpu(1_000), taskCount: 5 },
    verdict(2, spot('on-its-way', 3), spot('free-room', 2)),
    6_000,
  ],
  [
    'unlike parts, by their average, rounded up',
    { kind: 'bundles', strategy: 'PACK', bundles: [cpu(1_000), cpu(2_000), cpu(1_001)] },
    verdict(1, spot('on-its-way', 1), spot('new', 2)),
    1_334,
  ],
])('%s', (_, form, told, taken) => {
  const demand = classify([anEntry({ form, count: 5 })]);
  expect(roomTakenOnItsWay(demand, [told]).get('group')?.['cpu']).toBe(taken);
});

const pair = aGroup({ hostsPerSlice: 2, host: { cpu: 4_000, gpu: 1_000 } });

test.each([
  ['nothing is coming', 0, {}, {}],
  ['all of it', 1, {}, { cpu: 8_000, gpu: 2_000 }],
  ['some is taken', 2, { cpu: 5_000 }, { cpu: 11_000, gpu: 4_000 }],
  ['never below nothing', 1, { cpu: 9_000 }, { cpu: 0, gpu: 2_000 }],
])('left of what is on its way: %s', (_, coming, taken, left) => {
  expect(roomLeftOnItsWay(pair, coming, taken)).toEqual(left);
});

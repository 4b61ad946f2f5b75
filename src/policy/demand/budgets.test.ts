import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitrarySnapshot } from '../../../test/arbitraries.ts';
import { aGroup, aSnapshot, noLimits } from '../../../test/builders.ts';
import type { Fleet } from '../../model/fleet.ts';
import { groupName } from '../../model/ids.ts';
import type { GroupCondition } from '../../model/snapshot.ts';
import { Budgets, wholeTimes } from './budgets.ts';

const budgetsOf = (
  fleet: Partial<Fleet>,
  totals: readonly number[] = [0],
  conditions: readonly GroupCondition[] = [],
) => new Budgets({ fleet: aSnapshot({ fleet }).fleet, totals, conditions });

const pool = { quotaPools: [{ name: 'p', limits: { cpu: 40_000 } }] };

// prettier-ignore: a table is read by column
test.each([
  ['up to its max', {}, [0], 10],
  ['what its max leaves', {}, [7], 3],
  ['nothing above its max', {}, [12], 0],
  ['what the fleet leaves', { limits: { ...noLimits, slicesMax: 9 } }, [7], 2],
  [
    'what the money leaves',
    { limits: { ...noLimits, spendMaxMicroUsdPerHour: 8_500_000 } },
    [7],
    1,
  ],
  ['what its pool leaves', { ...pool, groups: [aGroup({ quotaPool: 'p' })] }, [1], 1],
  [
    'a pool counts all hosts',
    { ...pool, groups: [aGroup({ quotaPool: 'p', hostsPerSlice: 2 })] },
    [0],
    1,
  ],
  ['a pool of others is no matter', { ...pool, groups: [aGroup()] }, [1], 9],
  [
    'free slices cost no money',
    {
      limits: { ...noLimits, spendMaxMicroUsdPerHour: 0 },
      groups: [aGroup({ priceMicroUsdPerHour: 0 })],
    },
    [0],
    10,
  ],
])('a group may open %s', (_name, fleet, totals, openable) => {
  expect(budgetsOf(fleet, totals).openable(0)).toBe(openable);
});

test.each(['backoff', 'stockout', 'quota-exceeded', 'paused', 'draining'] as const)(
  'a group in %s opens nothing and says so last',
  (kind) => {
    const group = groupName('group');
    const condition: GroupCondition =
      kind === 'draining' ? { kind, group } : { kind, group, untilMs: null };
    const budgets = budgetsOf({}, [10], [condition]);
    expect([budgets.openable(0), budgets.headroom(0)]).toEqual([0, 0]);
    expect(budgets.forbids(0, 1).map((rule) => rule.kind)).toEqual([
      'at-max',
      kind === 'draining' ? 'draining-group' : kind,
    ]);
  },
);

describe('min', () => {
  const groups = [aGroup({ name: 'a' }), aGroup({ name: 'b', min: 2 })];
  const limits = { ...noLimits, slicesMax: 5 };

  test('is set aside before anything else', () => {
    const budgets = budgetsOf({ groups, limits }, [1, 0]);
    expect([...budgets.reserved]).toEqual([0, 2]);
    expect([budgets.openable(0), budgets.openable(1)]).toEqual([2, 4]);
  });

  test('is what a group opens first', () => {
    const budgets = budgetsOf({ groups, limits }, [1, 0]);
    budgets.open(1, 2);
    expect([budgets.reserved[1], budgets.openable(0)]).toEqual([0, 2]);
    budgets.open(1, 1);
    expect(budgets.openable(0)).toBe(1);
    budgets.close(1, 3);
    expect([budgets.reserved[1], budgets.openable(0)]).toEqual([2, 2]);
  });
});

test('rules come in the order of the list, with need and have', () => {
  const limits = { ...noLimits, slicesMax: 1, spendMaxMicroUsdPerHour: 1_000_000 };
  const groups = [aGroup({ max: 1, quotaPool: 'p' })];
  const budgets = budgetsOf({
    groups,
    limits,
    quotaPools: [{ name: 'p', limits: { cpu: 16_000 } }],
  });
  expect(budgets.forbids(0, 2)).toEqual([
    { kind: 'at-max', need: 2, have: 1, max: 1 },
    {
      kind: 'quota-pool',
      pool: 'p',
      resource: 'cpu',
      need: 32_000,
      have: 16_000,
      max: 16_000,
      owed: 0,
    },
    { kind: 'spend-cap', need: 2_000_000, have: 1_000_000, max: 1_000_000, owed: 0 },
    { kind: 'fleet-max', need: 2, have: 1, max: 1, owed: 0 },
  ]);
  expect(budgets.forbids(0, 1)).toEqual([]);
});

test('a bound may be opened up to and forbids one more', () => {
  fc.assert(
    fc.property(arbitrarySnapshot(), fc.array(fc.nat(4)), ({ fleet, conditions }, opens) => {
      const budgets = new Budgets({ fleet, conditions, totals: fleet.groups.map(() => 0) });
      for (const at of opens) {
        const group = at % fleet.groups.length;
        const openable = budgets.openable(group);
        expect(openable).toBeLessThanOrEqual(budgets.headroom(group));
        expect(budgets.forbids(group, openable).length > 0).toBe(budgets.blockOf(group) !== null);
        expect(budgets.forbids(group, openable + 1)).not.toEqual([]);
        if (openable > 0) budgets.open(group, 1);
      }
    }),
  );
});

test('closing what was opened leaves no trace', () => {
  fc.assert(
    fc.property(arbitrarySnapshot(), ({ fleet, conditions }) => {
      const budgets = new Budgets({ fleet, conditions, totals: fleet.groups.map(() => 0) });
      const state = () => [
        [...budgets.total],
        [...budgets.reserved],
        budgets.shared.map(({ left }) => left),
        fleet.groups.map((_, group) => budgets.openable(group)),
      ];
      const before = state();
      const opened = fleet.groups.map((_, group) => {
        const slices = Math.min(3, budgets.openable(group));
        budgets.open(group, slices);
        return slices;
      });
      opened.forEach((slices, group) => budgets.close(group, slices));
      expect(state()).toEqual(before);
    }),
  );
});

test.each([
  [10, 3, 3],
  [9, 3, 3],
  [0, 3, 0],
  [-5, 3, 0],
  [2, 3, 0],
])('of %d, %d fits %d times', (left, use, times) => {
  expect(wholeTimes(left, use)).toBe(times);
});

test('whole times never draw more than there is', () => {
  const amount = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
  fc.assert(
    fc.property(amount, amount, (left, use) => {
      const times = BigInt(wholeTimes(left, use));
      expect(times * BigInt(use) <= BigInt(left)).toBe(true);
      expect((times + 1n) * BigInt(use) > BigInt(left)).toBe(true);
    }),
  );
});

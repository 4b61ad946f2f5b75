import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitrarySnapshot } from '../../../test/arbitraries.ts';
import { aGroup, aSnapshot, anAsk, noLimits } from '../../../test/builders.ts';
import type { Ask, EntryForm } from '../../model/demand.ts';
import { type Fleet, strategies } from '../../model/fleet.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { decideDemand } from './decide.ts';
import { couldEverRun } from './gate.ts';

const RUNS = Number(process.env['BELLOWS_FUZZ_RUNS'] ?? 150);

const single = (over: Partial<Ask> = {}): EntryForm => ({ kind: 'single', ask: anAsk(over) });
const fleetOf = (over: Partial<Fleet>): Fleet => aSnapshot({ fleet: over }).fleet;

// prettier-ignore: a table is read by column
test.each([
  ['what fits a host', {}, single(), true],
  ['more than a host has', {}, single({ resources: { cpu: 17_000 } }), false],
  ['a device nobody has', {}, single({ device: { type: 'npu', variants: null } }), false],
  ['a group that may open nothing', { groups: [aGroup({ max: 0 })] }, single(), false],
  [
    'more money than there is',
    { limits: { ...noLimits, spendMaxMicroUsdPerHour: 1 } },
    single(),
    false,
  ],
  [
    'a gang beyond max',
    { groups: [aGroup({ max: 3 })] },
    { kind: 'gang', ask: anAsk({ resources: { cpu: 16_000 } }), taskCount: 4 },
    false,
  ],
  [
    'a gang up to max',
    { groups: [aGroup({ max: 3 })] },
    { kind: 'gang', ask: anAsk({ resources: { cpu: 16_000 } }), taskCount: 3 },
    true,
  ],
  [
    'a gang that fills no slices',
    { groups: [aGroup({ hostsPerSlice: 2 })] },
    { kind: 'gang', ask: anAsk(), taskCount: 3 },
    false,
  ],
  [
    'parts apart on hosts enough',
    { groups: [aGroup({ max: 2 })] },
    { kind: 'bundles', strategy: 'STRICT_SPREAD', bundles: [anAsk(), anAsk()] },
    true,
  ],
  [
    'parts apart on too few hosts',
    { groups: [aGroup({ max: 1 })] },
    { kind: 'bundles', strategy: 'STRICT_SPREAD', bundles: [anAsk(), anAsk()] },
    false,
  ],
  [
    'bundles under priority',
    { strategy: 'priority' },
    { kind: 'bundles', strategy: 'PACK', bundles: [anAsk()] },
    false,
  ],
] satisfies readonly (readonly [string, Partial<Fleet>, EntryForm, boolean])[])(
  '%s: %#',
  (_name, fleet, form, could) => {
    expect(couldEverRun(fleetOf(fleet), form)).toBe(could);
  },
);

/** Nothing there, nothing in the way, and nothing that must be there. */
const untroubled = (snapshot: Snapshot): Snapshot => ({
  ...snapshot,
  slices: [],
  conditions: [],
  floors: [],
  fleet: {
    ...snapshot.fleet,
    groups: snapshot.fleet.groups.map((group) => ({ ...group, min: 0, spare: 0 })),
  },
});

describe.each(strategies)('the gate and the plan of %s', (strategy) => {
  test('agree on every entry alone in an untroubled fleet', () => {
    fc.assert(
      fc.property(arbitrarySnapshot(strategy).map(untroubled), (snapshot) => {
        for (const demand of snapshot.demand) {
          if (demand.invalid !== null) continue;
          const batches = demand.batches.slice(0, 1).map((batch) => ({ ...batch, count: 1 }));
          const alone = { ...snapshot, demand: [{ ...demand, count: 1, batches }] };
          const [verdict] = decideDemand(alone).classes;
          expect(verdict?.unmetCount === 0).toBe(couldEverRun(snapshot.fleet, demand.form));
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('agree on what never runs: it is not placed among others either', () => {
    fc.assert(
      fc.property(arbitrarySnapshot(strategy).map(untroubled), (snapshot) => {
        decideDemand(snapshot).classes.forEach(({ placed, unmet }, index) => {
          const demand = snapshot.demand[index]!;
          if (demand.invalid !== null) return;
          const could = couldEverRun(snapshot.fleet, demand.form);
          if (!could) expect(placed).toEqual([]);
          if (unmet !== null) expect(unmet.isEverAdmitted).toBe(could);
        });
      }),
      { numRuns: RUNS },
    );
  });
});

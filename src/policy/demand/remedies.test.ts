import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitrarySnapshot } from '../../../test/arbitraries.ts';
import { aGroup, aSlice, aSnapshot, anAsk, anEntry, noLimits } from '../../../test/builders.ts';
import type { EntryForm } from '../../model/demand.ts';
import { strategies } from '../../model/fleet.ts';
import { epochMs, groupName } from '../../model/ids.ts';
import type { Change } from '../../model/reason.ts';
import type { Resources } from '../../model/resources.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { must, unreachable } from '../../support/assert.ts';
import { applyToAsk, applyToFleet } from './changes.ts';
import { allocate, decideDemand } from './decide.ts';
import { createProblem } from './problem.ts';

const RUNS = Number(process.env['BELLOWS_FUZZ_RUNS'] ?? 3_400);

function applyToForm(form: EntryForm, change: Change): EntryForm {
  switch (form.kind) {
    case 'single':
      return { ...form, ask: applyToAsk(form.ask, change) };
    case 'gang': {
      const taskCount = change.kind === 'ask-tasks' ? change.to : form.taskCount;
      return { ...form, ask: applyToAsk(form.ask, change), taskCount };
    }
    case 'bundles':
      return { ...form, bundles: form.bundles.map((ask) => applyToAsk(ask, change)) };
    default:
      return unreachable(form);
  }
}

/** The fleet as the plan leaves it: what was launched is there, and only leftover room is free. */
function afterPlan(snapshot: Snapshot): Snapshot {
  const problem = createProblem(snapshot);
  const { rooms, budgets } = allocate(problem).allocation.ledger;
  const toResources = (free: Float64Array): Resources =>
    Object.fromEntries(problem.resources.map((name, k) => [name, free[k] ?? 0]));
  const slices = problem.groups.flatMap((group, index) => {
    const hosts = rooms
      .view(index)
      .flatMap(({ free, count }) =>
        Array.from({ length: count }, () => ({ free: toResources(free) })),
      );
    return Array.from({ length: budgets.total[index] ?? 0 }, (_, n) => {
      const own = hosts.slice(n * group.hostsPerSlice, (n + 1) * group.hostsPerSlice);
      return aSlice({ id: `${group.name}-${n}`, group: group.name, hosts: own });
    });
  });
  return { ...snapshot, slices, floors: [] };
}

describe.each(strategies)('a change suggested under %s', (strategy) => {
  test('admits what waits when it is made, the plan otherwise unchanged', () => {
    // Slices of several hosts are left out: their leftover hosts cannot be told as whole slices.
    const arbitrary = arbitrarySnapshot(strategy).map((snapshot) => {
      const groups = snapshot.fleet.groups.map((group) => ({ ...group, hostsPerSlice: 1 }));
      return { ...snapshot, fleet: { ...snapshot.fleet, groups }, slices: [] };
    });
    fc.assert(
      fc.property(arbitrary, (snapshot) => {
        const planned = afterPlan(snapshot);
        decideDemand(snapshot).classes.forEach(({ unmet }, index) => {
          if (unmet === null || unmet.change === null) return;
          const { change, changeAdmits: count } = unmet;
          const demand = must(snapshot.demand[index], 'one verdict per class');
          const form = applyToForm(demand.form, change);
          const batches = [{ ...must(demand.batches[0], 'a batch'), count }];
          const alone = { ...demand, form, count, batches };
          const changed = { ...planned, ...applyToFleet(planned, change), demand: [alone] };
          expect(decideDemand(changed).classes[0]?.unmetCount).toBe(0);
        });
      }),
      { numRuns: Math.ceil(RUNS / 5) },
    );
  });
});

const gpu = { type: 'gpu', variant: 'H100' };
const us = { zone: 'us-east1-b', region: 'us-east1' };

// prettier-ignore: a table is read by column
test.each([
  ['a bound that is raised', { max: 0 }, {}, { kind: 'raise-max', from: 0, to: 2 }],
  [
    'a misspelt zone',
    { attributes: us },
    { constraints: [{ key: 'zone', op: 'eq', values: ['us-east1b'], soft: false }] },
    { kind: 'ask-value', to: ['us-east1-b'] },
  ],
  [
    'a variant nobody has',
    { device: gpu },
    { device: { type: 'gpu', variants: ['h1000'] } },
    { kind: 'ask-variant', to: 'H100' },
  ],
  [
    'a kind of capacity',
    { preemptible: true },
    { preemptible: false },
    { kind: 'ask-preemptible', to: true },
  ],
  [
    'a task too large',
    { host: { cpu: 500 } },
    {},
    { kind: 'ask-less', shortages: [{ resource: 'cpu', need: 1_000, have: 500 }] },
  ],
] as const)('names %s', (_name, group, ask, change) => {
  const form: EntryForm = { kind: 'single', ask: anAsk(ask) };
  const snapshot = aSnapshot({
    fleet: { groups: [aGroup({ host: { cpu: 1_000 }, ...group })] },
    entries: [anEntry({ form, count: 2 })],
  });
  expect(decideDemand(snapshot).classes[0]?.unmet?.change).toMatchObject(change);
});

test('a fleet limit is raised by what the missing slices draw', () => {
  const groups = [aGroup({ host: { cpu: 1_000 }, priceMicroUsdPerHour: 2_000_000 })];
  const limits = { ...noLimits, spendMaxMicroUsdPerHour: 5_000_000 };
  const snapshot = aSnapshot({ fleet: { groups, limits }, entries: [anEntry({ count: 4 })] });
  const [verdict] = decideDemand(snapshot).classes;
  expect(verdict?.unmetCount).toBe(2);
  expect(verdict?.unmet).toMatchObject({
    change: { kind: 'raise-spend-cap', from: 5_000_000, to: 8_000_000 },
    changeAdmits: 2,
  });
});

test('waiting for a condition to end carries its end', () => {
  const snapshot = aSnapshot({
    conditions: [{ kind: 'stockout', group: groupName('group'), untilMs: epochMs(60_000) }],
    entries: [anEntry()],
  });
  expect(decideDemand(snapshot).classes[0]?.unmet?.change).toMatchObject({
    kind: 'end-condition',
    condition: 'stockout',
    untilMs: 60_000,
  });
});

test('two rules in the way leave no single change', () => {
  const snapshot = aSnapshot({
    fleet: { groups: [aGroup({ max: 0, preemptible: true })] },
    entries: [anEntry({ form: { kind: 'single', ask: anAsk({ preemptible: false }) } })],
  });
  expect(decideDemand(snapshot).classes[0]?.unmet?.change).toBeNull();
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitrarySnapshot } from '../../../test/arbitraries.ts';
import { aGroup, aSlice, aSnapshot, anAsk, anEntry } from '../../../test/builders.ts';
import type { BundleStrategy, EntryForm } from '../../model/demand.ts';
import type { Group } from '../../model/group.ts';
import type { Slice } from '../../model/slice.ts';
import { decideDemand } from './decide.ts';
import { partsOf } from './eligibility.ts';

const RUNS = Number(process.env['BELLOWS_FUZZ_RUNS'] ?? 150);

const bundles = (strategy: BundleStrategy, ...cpus: readonly number[]): EntryForm => {
  const parts = cpus.map((cpu) => anAsk({ resources: { cpu: cpu * 1_000 } }));
  return { kind: 'bundles', strategy, bundles: parts };
};

interface Given {
  readonly form: EntryForm;
  readonly groups?: readonly Group[];
  readonly slices?: readonly Slice[];
}

const decide = (
  strategy: 'cost' | 'utilization',
  { form, groups = [aGroup()], slices = [] }: Given,
) => decideDemand(aSnapshot({ fleet: { strategy, groups }, slices, entries: [anEntry({ form })] }));

const hostsWith = (...cpus: readonly number[]): readonly Slice[] =>
  cpus.map((cpu, index) =>
    aSlice({ id: `s${index}`, group: 'group', hosts: [{ free: { cpu: cpu * 1_000 } }] }),
  );

// Hosts have 16 CPUs.
describe.each(['cost', 'utilization'] as const)('bundles under %s', (strategy) => {
  test.each([
    ['PACK shares a host', bundles('PACK', 8, 8), 1],
    ['PACK takes another host where one is full', bundles('PACK', 8, 8, 1), 2],
    ['STRICT_PACK shares a host', bundles('STRICT_PACK', 8, 4, 4), 1],
    ['STRICT_SPREAD has a host for each', bundles('STRICT_SPREAD', 1, 1, 1), 3],
  ])('%s', (_name, form, launch) => {
    const { groups, classes } = decide(strategy, { form });
    expect([groups[0]?.launch, classes[0]?.unmetCount]).toEqual([launch, 0]);
  });

  test('STRICT_PACK never leaves its host, not even to be placed', () => {
    const { classes } = decide(strategy, { form: bundles('STRICT_PACK', 9, 8) });
    expect(classes[0]?.unmet).toMatchObject({
      code: 'insufficient-resources',
      isEverAdmitted: false,
      groups: [{ exclusion: { kind: 'host-too-small' } }],
    });
  });

  test('STRICT_SPREAD with too few hosts waits whole', () => {
    const groups = [aGroup({ max: 2 })];
    const { groups: reports, classes } = decide(strategy, {
      form: bundles('STRICT_SPREAD', 1, 1, 1),
      groups,
    });
    expect([reports[0]?.launch, classes[0]?.unmet?.code]).toEqual([0, 'no-capacity']);
  });

  test('SPREAD uses different hosts that are there', () => {
    const { groups, classes } = decide(strategy, {
      form: bundles('SPREAD', 1, 1),
      slices: hostsWith(2, 2),
    });
    expect(groups[0]?.launch).toBe(0);
    const rooms = classes[0]?.placed[0]?.spots.map(({ room }) => room);
    expect(new Set(rooms)).toEqual(new Set(['free-room']));
  });

  test('parts may go to groups of different kinds', () => {
    const groups = [
      aGroup({ name: 'cpu' }),
      aGroup({ name: 'gpu', device: { type: 'gpu', variant: null }, host: { gpu: 1_000 } }),
    ];
    const parts = [
      anAsk(),
      anAsk({ device: { type: 'gpu', variants: null }, resources: { gpu: 1_000 } }),
    ];
    const form: EntryForm = { kind: 'bundles', strategy: 'PACK', bundles: parts };
    const { groups: reports } = decide(strategy, { form, groups });
    expect(reports.map(({ launch }) => launch)).toEqual([1, 1]);
  });

  test('a part that fits nowhere is the one that is told', () => {
    const { groups, classes } = decide(strategy, { form: bundles('PACK', 1, 99, 1) });
    expect(classes[0]?.unmet).toMatchObject({ code: 'insufficient-resources', part: 1 });
    expect(groups[0]?.launch).toBe(0);
  });

  test('all parts have a place or none has', () => {
    fc.assert(
      fc.property(arbitrarySnapshot(strategy), (snapshot) => {
        decideDemand(snapshot).classes.forEach(({ placed }, index) => {
          const { form } = snapshot.demand[index]!;
          if (form.kind !== 'bundles') return;
          for (const { spots } of placed) {
            expect(spots.reduce((sum, { tasks }) => sum + tasks, 0)).toBe(partsOf(form).length);
          }
        });
      }),
      { numRuns: RUNS },
    );
  });
});

test('SPREAD buys no host that sharing would spare', () => {
  const { groups } = decide('cost', { form: bundles('SPREAD', 1, 1, 1) });
  expect(groups[0]?.launch).toBe(1);
});

test('bundles are nothing that priority knows', () => {
  const snapshot = aSnapshot({
    fleet: { strategy: 'priority' },
    entries: [anEntry({ form: bundles('PACK', 1) })],
  });
  expect(decideDemand(snapshot).classes[0]?.unmet).toMatchObject({
    code: 'invalid-demand',
    invalid: { kind: 'bundles-under-priority' },
  });
});

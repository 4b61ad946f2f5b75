import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitrarySnapshot } from '../../../test/arbitraries.ts';
import { aGroup, aSlice, aSnapshot, anAsk, anEntry } from '../../../test/builders.ts';
import type { EntryForm } from '../../model/demand.ts';
import { type Strategy, strategies } from '../../model/fleet.ts';
import type { Group } from '../../model/group.ts';
import type { Slice } from '../../model/slice.ts';
import { decideDemand } from './decide.ts';

const RUNS = Number(process.env['BELLOWS_FUZZ_RUNS'] ?? 150);

const gang = (taskCount: number, cpu = 8_000): EntryForm => {
  return { kind: 'gang', ask: anAsk({ resources: { cpu } }), taskCount };
};

interface Given {
  readonly strategy: Strategy;
  readonly group?: Partial<Omit<Group, 'name'>>;
  readonly slices?: readonly Slice[];
  readonly forms: readonly EntryForm[];
}

function decide({ strategy, group, slices = [], forms }: Given) {
  const decision = decideDemand(
    aSnapshot({
      fleet: { strategy, groups: [aGroup(group)] },
      slices,
      entries: forms.map((form, index) => anEntry({ id: `e${index}`, form })),
    }),
  );
  return {
    launch: decision.groups[0]?.launch,
    placed: decision.classes.map(({ placed }) => placed.reduce((sum, { count }) => sum + count, 0)),
    codes: decision.classes.map(({ unmet }) => unmet?.code ?? null),
  };
}

// Hosts have 16 CPUs.
describe.each(strategies)('a gang under %s', (strategy) => {
  test.each([
    ['shares hosts on slices of one', {}, gang(4), { launch: 2, placed: [1] }],
    [
      'has a host per task on slices of several',
      { hostsPerSlice: 2 },
      gang(4),
      { launch: 2, placed: [1] },
    ],
    ['is placed whole or not at all', { max: 1 }, gang(3), { launch: 0, codes: ['no-capacity'] }],
    ['fills whole slices', { hostsPerSlice: 2 }, gang(3), { launch: 0, codes: ['gang-mismatch'] }],
    [
      'needs hosts large enough',
      {},
      gang(2, 17_000),
      { launch: 0, codes: ['insufficient-resources'] },
    ],
    ['of one task is a task', {}, gang(1), { launch: 1, placed: [1] }],
    ['without needs takes one host', {}, gang(5, 0), { launch: 1, placed: [1] }],
  ] as const)('%s', (_name, group, form, outcome) => {
    expect(decide({ strategy, group, forms: [form] })).toMatchObject(outcome);
  });

  test('uses slices on their way before new ones', () => {
    const slices = [aSlice({ id: 's', group: 'group', status: 'booting' })];
    const group = { hostsPerSlice: 2 };
    expect(decide({ strategy, group, slices, forms: [gang(4)] })).toMatchObject({ launch: 1 });
  });

  test('leaves its slices of several hosts to nobody else', () => {
    const single: EntryForm = { kind: 'single', ask: anAsk() };
    const forms = [gang(2, 1_000), single];
    const group = { hostsPerSlice: 2 };
    expect(decide({ strategy, group, forms })).toMatchObject({ launch: 2, placed: [1, 1] });
  });

  test('is never split over groups, and has all its tasks or none', () => {
    fc.assert(
      fc.property(arbitrarySnapshot(strategy), (snapshot) => {
        const hosts = new Map(
          snapshot.fleet.groups.map(({ name, hostsPerSlice }) => [name, hostsPerSlice]),
        );
        decideDemand(snapshot).classes.forEach(({ placed }, index) => {
          const { form } = snapshot.demand[index]!;
          if (form.kind !== 'gang') return;
          for (const { spots } of placed) {
            expect(new Set(spots.map(({ group }) => group)).size).toBe(1);
            expect(spots.reduce((sum, { tasks }) => sum + tasks, 0)).toBe(form.taskCount);
            for (const { group, tasks } of spots) expect(tasks % (hosts.get(group) ?? 1)).toBe(0);
          }
        });
      }),
      { numRuns: RUNS },
    );
  });
});

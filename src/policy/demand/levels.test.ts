import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitrarySnapshot } from '../../../test/arbitraries.ts';
import { aGroup, aSnapshot, anAsk, anEntry } from '../../../test/builders.ts';
import type { EntryForm } from '../../model/demand.ts';
import { decideDemand } from './decide.ts';

const RUNS = Number(process.env['BELLOWS_FUZZ_RUNS'] ?? 150);

const single = (cpu: number): EntryForm => {
  return { kind: 'single', ask: anAsk({ resources: { cpu: cpu * 1_000 } }) };
};

describe.each(['cost', 'utilization'] as const)('priorities under %s', (strategy) => {
  // A host has 16 CPUs, and one may open.
  test.each([
    [
      'higher first, though given last',
      [
        [0, 16],
        [5, 16],
      ],
      [1, 0],
    ],
    [
      'lower ones take what is left',
      [
        [0, 6],
        [5, 10],
      ],
      [0, 0],
    ],
    [
      'none waits for a lower one',
      [
        [0, 8],
        [0, 8],
        [9, 12],
      ],
      [1, 1, 0],
    ],
    [
      'negative is lower than nothing',
      [
        [-5, 16],
        [0, 16],
      ],
      [1, 0],
    ],
    [
      'what never fits holds up nobody',
      [
        [9, 99],
        [0, 16],
      ],
      [1, 0],
    ],
  ] as const)('%s', (_name, entries, waiting) => {
    const snapshot = aSnapshot({
      fleet: { strategy, groups: [aGroup({ max: 1 })] },
      // Other owners keep equal shapes apart only by priority, so sizes differ by a hair.
      entries: entries.map(([priority, cpu], index) =>
        anEntry({ id: `e${index}`, priority, form: single(cpu - index / 1_000) }),
      ),
    });
    expect(decideDemand(snapshot).classes.map(({ unmetCount }) => unmetCount)).toEqual(waiting);
  });

  test('what is of the highest priority is served as if it were alone', () => {
    fc.assert(
      fc.property(arbitrarySnapshot(strategy), (snapshot) => {
        const highest = Math.max(...snapshot.demand.map(({ priority }) => priority));
        const count = (of: typeof snapshot): number =>
          decideDemand(of).classes.reduce((sum, { placed }, index) => {
            const isHigh = of.demand[index]?.priority === highest;
            return isHigh ? placed.reduce((all, one) => all + one.count, sum) : sum;
          }, 0);
        const alone = snapshot.demand.filter(({ priority }) => priority === highest);
        expect(count(snapshot)).toBe(count({ ...snapshot, demand: alone }));
      }),
      { numRuns: RUNS },
    );
  });
});

test('slices that min launches anyway are room for work', () => {
  const groups = [
    aGroup({ name: 'cheap', priceMicroUsdPerHour: 1 }),
    aGroup({ name: 'dear', min: 1 }),
  ];
  const decision = decideDemand(
    aSnapshot({ fleet: { groups }, entries: [anEntry({ count: 16 })] }),
  );
  expect(decision.groups.map(({ launch }) => launch)).toEqual([0, 1]);
});

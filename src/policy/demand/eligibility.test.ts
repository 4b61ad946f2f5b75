import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitrarySnapshot } from '../../../test/arbitraries.ts';
import { aGroup, anAsk } from '../../../test/builders.ts';
import type { ConstraintOp } from '../../model/constraint.ts';
import type { EntryForm } from '../../model/demand.ts';
import {
  countSatisfied,
  findAskMismatches,
  findMismatches,
  isAskAdmitted,
  partsOf,
  satisfies,
} from './eligibility.ts';

// prettier-ignore: a table is read by column
test.each([
  ['eq', ['US-A'], 'us-a', true],
  ['eq', ['us-b'], 'us-a', false],
  ['eq', ['us-a'], null, false],
  ['ne', ['us-b'], 'us-a', true],
  ['ne', ['Us-A'], 'us-a', false],
  ['ne', ['us-b'], null, false],
  ['in', ['x', 'us-A'], 'us-a', true],
  ['in', ['x'], 'us-a', false],
  ['not-in', ['x', 'y'], 'us-a', true],
  ['not-in', ['US-a'], 'us-a', false],
  ['not-in', ['x'], null, false],
  ['exists', [], 'us-a', true],
  ['exists', [], null, false],
  ['not-exists', [], null, true],
  ['not-exists', [], 'us-a', false],
  ['gt', ['9'], '10', true],
  ['gt', ['10'], '10', false],
  ['ge', ['10.0'], '10', true],
  ['lt', ['10'], '9', true],
  ['le', ['9'], '9', true],
  ['le', ['8'], '9', false],
  ['gt', ['1'], 'us-a', false],
  ['lt', ['1'], null, false],
] as const)('%s %j on %j: %s', (op, values, have, holds) => {
  const group = aGroup({ attributes: have === null ? {} : { zone: have } });
  expect(
    satisfies({ key: 'zone', op: op satisfies ConstraintOp, values, soft: false }, group),
  ).toBe(holds);
});

describe('an ask against a group', () => {
  const gpu = (variants: readonly string[] | null) => ({ device: { type: 'GPU', variants } });

  test.each([
    ['no device on a CPU', {}, {}, []],
    ['no device on an accelerator', {}, { device: { type: 'tpu', variant: null } }, []],
    [
      'the word cpu on an accelerator',
      { device: { type: 'cpu', variants: null } },
      { device: { type: 'tpu', variant: null } },
      [],
    ],
    ['a device of the type', gpu(null), { device: { type: 'gpu', variant: 'L4' } }, []],
    ['another type', gpu(null), {}, ['device']],
    [
      'a variant in another case',
      gpu(['h100', 'l4']),
      { device: { type: 'gpu', variant: 'L4' } },
      [],
    ],
    ['another variant', gpu(['h100']), { device: { type: 'gpu', variant: 'L4' } }, ['variant']],
    [
      'a variant of a group without',
      gpu(['h100']),
      { device: { type: 'gpu', variant: null } },
      ['variant'],
    ],
    ['no preemption', { preemptible: false }, { preemptible: true }, ['preemptible']],
    ['preemptible alone', { preemptible: true }, { preemptible: false }, ['preemptible']],
    ['a host too small', { resources: { cpu: 16_001 } }, {}, ['host-too-small']],
    ['a resource nobody has', { resources: { fpga: 1 } }, {}, ['host-too-small']],
    ['nothing at all', { resources: {} }, { host: {} }, []],
    [
      'all of it, in the order of the list',
      {
        ...gpu(['h100']),
        preemptible: true,
        constraints: [{ key: 'zone', op: 'exists', values: [], soft: false }],
        resources: { cpu: 99_000 },
      },
      { device: { type: 'gpu', variant: 'L4' } },
      ['variant', 'preemptible', 'constraint', 'host-too-small'],
    ],
  ] as const)('%s', (_name, ask, group, kinds) => {
    const [part] = partsOf({ kind: 'single', ask: anAsk(ask) });
    expect(findMismatches(part!, aGroup(group)).map(({ kind }) => kind)).toEqual(kinds);
  });

  test('names every resource of which it needs more, by name', () => {
    const [part] = partsOf({ kind: 'single', ask: anAsk({ resources: { gpu: 1, cpu: 17_000 } }) });
    expect(findMismatches(part!, aGroup())).toEqual([
      {
        kind: 'host-too-small',
        shortages: [
          { resource: 'cpu', need: 17_000, have: 16_000 },
          { resource: 'gpu', need: 1, have: 0 },
        ],
      },
    ]);
  });
});

test.each([
  [4, 1, true],
  [4, 2, true],
  [4, 4, true],
  [3, 2, false],
  [2, 4, false],
])('a gang of %d on slices of %d hosts: %s', (taskCount, hostsPerSlice, fits) => {
  const [part] = partsOf({ kind: 'gang', ask: anAsk(), taskCount });
  expect(findMismatches(part!, aGroup({ hostsPerSlice })).length === 0).toBe(fits);
});

test('bundles are judged part by part, STRICT_PACK as one', () => {
  const bundles = [anAsk(), anAsk({ resources: { cpu: 500, gpu: 1 } })];
  const form = (strategy: 'PACK' | 'STRICT_PACK'): EntryForm => ({
    kind: 'bundles',
    strategy,
    bundles,
  });
  expect(partsOf(form('PACK')).map(({ need }) => need)).toEqual([
    { cpu: 1_000 },
    { cpu: 500, gpu: 1 },
  ]);
  expect(partsOf(form('STRICT_PACK')).map(({ need }) => need)).toEqual([{ cpu: 1_500, gpu: 1 }]);
});

test('soft constraints count and never exclude', () => {
  fc.assert(
    fc.property(arbitrarySnapshot(), ({ fleet, demand }) => {
      for (const part of demand.flatMap(({ form }) => partsOf(form))) {
        for (const ask of part.asks) {
          const hard = { ...ask, constraints: ask.constraints.filter(({ soft }) => !soft) };
          for (const group of fleet.groups) {
            expect(findAskMismatches(ask, group)).toEqual(findAskMismatches(hard, group));
            expect(isAskAdmitted(ask, group)).toBe(findAskMismatches(ask, group).length === 0);
            expect(countSatisfied(hard, group)).toBe(0);
          }
        }
      }
    }),
  );
});

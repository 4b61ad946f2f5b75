import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitrarySnapshot } from '../../../test/arbitraries.ts';
import { aGroup, anAsk } from '../../../test/builders.ts';
import type { ConstraintOp } from '../../model/constraint.ts';
import { partsOf } from './eligibility.ts';
import { findHints } from './hints.ts';

const groups = [
  aGroup({ name: 'a', attributes: { zone: 'us-east1-b', region: 'us-east1' } }),
  aGroup({
    name: 'b',
    device: { type: 'gpu', variant: 'H100' },
    attributes: { zone: 'eu-west4-a', region: 'eu-west4' },
  }),
  aGroup({ name: 'c', device: { type: 'gpu', variant: 'A100-80G' } }),
];
const where = (key: string, value: string, op: ConstraintOp = 'eq') =>
  anAsk({ constraints: [{ key, op, values: [value], soft: false }] });
const gpu = (...variants: readonly string[]) => anAsk({ device: { type: 'gpu', variants } });

// prettier-ignore: a table is read by column
test.each([
  [
    'a zone misspelt',
    where('zone', 'us-east1b'),
    [{ kind: 'did-you-mean', key: 'zone', value: 'us-east1b', known: 'us-east1-b' }],
  ],
  [
    'a region given as zone',
    where('zone', 'us-east1'),
    [{ kind: 'other-key', key: 'zone', value: 'us-east1', knownKey: 'region' }],
  ],
  [
    'a key misspelt',
    where('zoen', 'us-east1-b'),
    [{ kind: 'unknown-key', key: 'zoen', known: 'zone' }],
  ],
  ['a key nobody has', where('rack', '7'), [{ kind: 'unknown-key', key: 'rack', known: null }]],
  ['a zone like none', where('zone', 'mars'), []],
  ['a zone there is', where('zone', 'EU-west4-a'), []],
  ['a zone to keep away from', where('zone', 'us-east1b', 'ne'), []],
  [
    'a variant misspelt',
    gpu('H10'),
    [{ kind: 'did-you-mean', key: 'device.variant', value: 'H10', known: 'H100' }],
  ],
  [
    'a variant like none',
    gpu('MI300X'),
    [{ kind: 'known-variants', type: 'gpu', variants: ['A100-80G', 'H100'] }],
  ],
  ['a variant there is', gpu('h100'), []],
  [
    'a device misspelt',
    anAsk({ device: { type: 'gpo', variants: null } }),
    [{ kind: 'did-you-mean', key: 'device.type', value: 'gpo', known: 'gpu' }],
  ],
  ['no device at all', anAsk({ device: { type: 'cpu', variants: ['x'] } }), []],
])('%s', (_name, ask, hints) => {
  expect(findHints([ask], groups)).toEqual(hints);
});

test('the same hint is given once', () => {
  expect(findHints([where('zone', 'us-east1b'), where('zone', 'us-east1b')], groups)).toHaveLength(
    1,
  );
});

test('a hint names only what some group has', () => {
  fc.assert(
    fc.property(arbitrarySnapshot(), ({ fleet, demand }) => {
      const known = new Set(
        fleet.groups.flatMap(({ device, attributes }) => [
          device.type,
          device.variant,
          ...Object.keys(attributes),
          ...Object.values(attributes),
        ]),
      );
      for (const { asks } of demand.flatMap(({ form }) => partsOf(form))) {
        for (const hint of findHints(asks, fleet.groups)) {
          const names =
            hint.kind === 'known-variants'
              ? hint.variants
              : [hint.kind === 'other-key' ? hint.knownKey : hint.known];
          for (const name of names) expect(name === null || known.has(name)).toBe(true);
        }
      }
    }),
  );
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitrarySnapshot } from '../../test/arbitraries.ts';
import type { Constraint } from '../model/constraint.ts';
import { epochMs, groupName } from '../model/ids.ts';
import type { Change, Exclusion, Hint, InvalidDemand, PlacedWhy } from '../model/reason.ts';
import { decideDemand } from '../policy/demand/decide.ts';
import {
  changeText,
  constraintText,
  exclusionText,
  hintText,
  invalidText,
  placedText,
} from './reason-text.ts';

const now = epochMs(1_000);
const soon = epochMs(61_000);
const group = groupName('h100');
const zone: Constraint = { key: 'zone', op: 'eq', values: ['us-a'], soft: false };
const cpu = { resource: 'cpu', need: 96_000, have: 64_000 };
const memory = { resource: 'memory', need: 2 ** 34, have: 2 ** 33 };

const exclusions: readonly (readonly [Exclusion, string])[] = [
  [{ kind: 'device', need: 'tpu', have: 'gpu' }, 'device: needs tpu, has gpu'],
  [{ kind: 'variant', need: ['L4', 'A100'], have: 'H100' }, 'variant: needs L4 or A100, has H100'],
  [{ kind: 'variant', need: ['L4'], have: null }, 'variant: needs L4, has none'],
  [{ kind: 'preemptible', need: true, have: false }, 'needs preemptible capacity, has on-demand'],
  [{ kind: 'constraint', constraint: zone, have: 'us-b' }, 'constraint: zone = us-a, has us-b'],
  [
    { kind: 'constraint', constraint: zone, have: null },
    'constraint: zone = us-a, has no such attribute',
  ],
  [
    { kind: 'gang-shape', tasks: 3, hostsPerSlice: 2 },
    'gang shape: 3 tasks do not fill slices of 2 hosts',
  ],
  [
    { kind: 'host-too-small', shortages: [cpu, memory] },
    'host too small: needs cpu 96, has 64; needs memory 16GiB, has 8GiB',
  ],
  [{ kind: 'at-max', need: 1, have: 0, max: 6 }, 'at max: needs 1 slice, 0 left of 6'],
  [
    {
      kind: 'quota-pool',
      pool: 'tpu-eu',
      resource: 'tpu',
      need: 128_000,
      have: 96_000,
      max: 128_000,
      owed: 0,
    },
    'quota pool tpu-eu: needs tpu 128, 96 left of 128',
  ],
  [
    { kind: 'spend-cap', need: 2_500_000, have: 500_000, max: 40_000_000, owed: 0 },
    'spend cap: needs $2.50/h, $0.50 left of $40.00',
  ],
  [
    { kind: 'fleet-max', need: 2, have: 1, max: 200, owed: 0 },
    'fleet max: needs 2 slices, 1 left of 200',
  ],
  [{ kind: 'backoff', untilMs: soon }, 'backing off after failures for 1m more'],
  [{ kind: 'stockout', untilMs: null }, 'provider is out of stock'],
  [{ kind: 'quota-exceeded', untilMs: epochMs(0) }, 'provider says quota exceeded for 0s more'],
  [{ kind: 'paused', untilMs: null }, 'paused'],
  [{ kind: 'deferred', untilMs: soon }, 'deferred by a rate limit for 1m more'],
  [{ kind: 'draining-group' }, 'group is draining: no new work lands on it'],
];

const changes: readonly (readonly [Change, string])[] = [
  [{ kind: 'raise-max', group, from: 6, to: 8 }, 'raise max of h100 from 6 to 8'],
  [
    { kind: 'raise-quota', pool: 'p', resource: 'memory', from: 2 ** 30, to: 2 ** 31 },
    'raise memory of quota pool p from 1GiB to 2GiB',
  ],
  [
    { kind: 'raise-spend-cap', from: 5_000_000, to: 8_500_000 },
    'raise limits.spendPerHour from $5.00 to $8.50',
  ],
  [{ kind: 'raise-fleet-max', from: 1, to: 2 }, 'raise limits.maxSlices from 1 to 2'],
  [
    { kind: 'end-condition', group, condition: 'stockout', untilMs: soon },
    'wait 1m: h100 is in stockout and is tried again after it',
  ],
  [
    { kind: 'end-condition', group, condition: 'backoff', untilMs: null },
    'wait: h100 is in backoff and is tried again after it',
  ],
  [{ kind: 'end-condition', group, condition: 'paused', untilMs: null }, 'resume h100'],
  [{ kind: 'end-condition', group, condition: 'draining', untilMs: null }, 'stop draining h100'],
  [
    { kind: 'ask-value', group, constraint: zone, to: ['us-b'] },
    'ask for zone us-b instead of us-a (h100)',
  ],
  [
    { kind: 'ask-without', group, constraint: { ...zone, op: 'not-exists', values: [] } },
    'drop the constraint zone must not exist (h100)',
  ],
  [
    { kind: 'ask-device', group, from: 'npu', to: 'gpu' },
    'ask for device gpu instead of npu (h100)',
  ],
  [
    { kind: 'ask-variant', group, from: ['h1000', 'x'], to: 'H100' },
    'ask for variant H100 instead of h1000 or x (h100)',
  ],
  [{ kind: 'ask-preemptible', group, to: true }, 'allow preemptible capacity (h100)'],
  [{ kind: 'ask-tasks', group, from: 3, to: 4 }, 'make the gang 4 tasks instead of 3 (h100)'],
  [
    { kind: 'ask-less', group, shortages: [cpu, memory] },
    'ask for at most cpu 64 instead of 96 and memory 8GiB instead of 16GiB (h100)',
  ],
];

const hints: readonly (readonly [Hint, string])[] = [
  [
    { kind: 'did-you-mean', key: 'zone', value: 'us-east1b', known: 'us-east1-b' },
    'no group has zone us-east1b; did you mean us-east1-b?',
  ],
  [
    { kind: 'other-key', key: 'zone', value: 'us-east1', knownKey: 'region' },
    'us-east1 is a region, not a zone',
  ],
  [
    { kind: 'unknown-key', key: 'zoen', known: 'zone' },
    'no group has an attribute zoen; did you mean zone?',
  ],
  [{ kind: 'unknown-key', key: 'rack', known: null }, 'no group has an attribute rack'],
  [
    { kind: 'known-variants', type: 'gpu', variants: ['H100', 'L4'] },
    'known gpu variants: H100, L4',
  ],
  [{ kind: 'known-variants', type: 'gpu', variants: [] }, 'known gpu variants: none'],
];

const invalids: readonly (readonly [InvalidDemand, string])[] = [
  [
    {
      kind: 'mixed-gang',
      differences: [
        {
          field: 'resources.memory',
          values: [
            { value: String(2 ** 34), taskIds: ['a', 'b', 'c', 'd', 'e', 'f'] },
            { value: String(2 ** 35), taskIds: ['g'] },
          ],
        },
        {
          field: 'device',
          values: [
            { value: 'gpu', taskIds: ['a'] },
            { value: 'none', taskIds: ['b'] },
          ],
        },
      ],
    },
    'tasks of the gang ask for different things: resources.memory is 16GiB (a, b, c, d and 2 more)' +
      ' and 32GiB (g); device is gpu (a) and none (b)',
  ],
  [
    {
      kind: 'contradictory-constraints',
      constraints: [zone, { ...zone, op: 'ne' }],
    },
    'no value can satisfy zone = us-a and zone != us-a',
  ],
  [
    { kind: 'ill-typed-constraint', constraint: { ...zone, op: 'gt' }, expected: 'a number' },
    'constraint zone > us-a needs a number',
  ],
  [
    { kind: 'bundles-under-priority' },
    'bundles need the strategy cost or utilization; priority places single tasks and gangs',
  ],
  [{ kind: 'zero-tasks' }, 'it has no tasks'],
  [{ kind: 'declared', detail: 'no image' }, 'its scheduler says: no image'],
];

const runnerUp = { group, shareMicroUsdPerHour: 77_000 };
const placed: readonly (readonly [PlacedWhy, string])[] = [
  [{ kind: 'room-there' }, 'nothing to pay; next h100 at $0.077/h'],
  [{ kind: 'first-by-rank', priority: 10 }, 'first by rank (priority 10); next h100 at $0.077/h'],
  [{ kind: 'best-utilization' }, 'best utilization; next h100 at $0.077/h'],
  [{ kind: 'fills-up' }, 'fills up slices opened for other work; next h100 at $0.077/h'],
  [
    { kind: 'least-cost', shareMicroUsdPerHour: 4_000 },
    'least cost, $0.004/h each; next h100 at $0.077/h',
  ],
];

describe('reasons in words', () => {
  test.each(exclusions)('%j', (rule, text) => expect(exclusionText(rule, now)).toBe(text));
  test.each(changes)('%j', (change, text) => expect(changeText(change, now)).toBe(text));
  test.each(hints)('%j', (hint, text) => expect(hintText(hint)).toBe(text));
  test.each(invalids)('%j', (invalid, text) => expect(invalidText(invalid)).toBe(text));
  test.each(placed)('%j', (why, text) => expect(placedText(why, runnerUp)).toBe(text));
});

test.each([
  [null, 'nothing to pay; no other group would do now'],
  [{ group, shareMicroUsdPerHour: null }, 'nothing to pay; next h100'],
])('beside the runner-up %j', (other, text) => {
  expect(placedText({ kind: 'room-there' }, other)).toBe(text);
});

// prettier-ignore: a table is read by column
test.each([
  [zone, 'zone = us-a'],
  [{ ...zone, soft: true }, 'zone = us-a (soft)'],
  [{ ...zone, op: 'in', values: ['a', 'b'] }, 'zone in a or b'],
  [{ ...zone, op: 'not-in', values: ['a'] }, 'zone not in a'],
  [{ ...zone, op: 'exists', values: [] }, 'zone must exist'],
  [{ ...zone, key: 'cores', op: 'ge', values: ['32'] }, 'cores >= 32'],
] satisfies readonly (readonly [Constraint, string])[])('%j', (constraint, text) => {
  expect(constraintText(constraint)).toBe(text);
});

test('whatever a decision says has words, on one line', () => {
  const isLine = (text: string): boolean =>
    text.trim() !== '' && !/\n|undefined|NaN|\[object/.test(text);
  fc.assert(
    fc.property(arbitrarySnapshot(), (snapshot) => {
      for (const { unmet, placed: placements } of decideDemand(snapshot).classes) {
        const texts = [
          ...placements.map(({ why, runnerUp: other }) => placedText(why, other)),
          ...(unmet?.groups ?? []).map(({ exclusion }) => exclusionText(exclusion, now)),
          ...(unmet?.hints ?? []).map(hintText),
          ...(unmet?.change ? [changeText(unmet.change, now)] : []),
          ...(unmet?.invalid ? [invalidText(unmet.invalid)] : []),
        ];
        expect(texts.filter((text) => !isLine(text))).toEqual([]);
      }
    }),
    { numRuns: 200 },
  );
});

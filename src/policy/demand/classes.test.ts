import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitrarySnapshot } from '../../../test/arbitraries.ts';
import { anAsk, anEntry } from '../../../test/builders.ts';
import type { Ask, EntryForm } from '../../model/demand.ts';
import { classify } from './classes.ts';

const single = (over: Partial<Ask> = {}): EntryForm => ({ kind: 'single', ask: anAsk(over) });
const gpu = (...variants: readonly string[]): Partial<Ask> => {
  return { device: { type: 'gpu', variants } };
};

test.each([
  ['the same ask', single(), single(), 1],
  [
    'resources in another order',
    single({ resources: { a: 1, b: 2 } }),
    single({ resources: { b: 2, a: 1 } }),
    1,
  ],
  ['a resource of 0', single({ resources: { a: 1 } }), single({ resources: { a: 1, b: 0 } }), 1],
  ['variants in another case', single(gpu('H100')), single(gpu('h100')), 1],
  ['other resources', single({ resources: { a: 1 } }), single({ resources: { a: 2 } }), 2],
  ['another device', single(gpu('H100')), single(gpu('L4')), 2],
  ['another kind of capacity', single({ preemptible: true }), single({ preemptible: null }), 2],
  ['a gang and a task', single(), { kind: 'gang', ask: anAsk(), taskCount: 1 } as const, 2],
  [
    'bundles of another strategy',
    { kind: 'bundles', strategy: 'PACK', bundles: [anAsk()] } as const,
    { kind: 'bundles', strategy: 'SPREAD', bundles: [anAsk()] } as const,
    2,
  ],
])('%s: %#', (_name, first, second, classes) => {
  const entries = [anEntry({ id: 'a', form: first }), anEntry({ id: 'b', form: second })];
  expect(classify(entries)).toHaveLength(classes);
});

test('what is of another priority or wrong is of another class', () => {
  const invalid = { kind: 'declared', detail: 'no' } as const;
  const entries = [anEntry({ id: 'a' }), anEntry({ id: 'b', priority: 1 }), anEntry({ invalid })];
  expect(classify(entries).map(({ priority }) => priority)).toEqual([0, 1, 0]);
});

test('within a class the oldest come first, then as given', () => {
  const entries = [
    anEntry({ id: 'young', ageMs: 1 }),
    anEntry({ id: 'old', ageMs: 9, count: 3 }),
    anEntry({ id: 'same', ageMs: 1 }),
  ];
  const [only, ...others] = classify(entries);
  expect(others).toEqual([]);
  expect(only?.batches.map(({ id }) => id)).toEqual(['old', 'young', 'same']);
  expect(only?.count).toBe(5);
});

test('gangs with reserved slices are classes of their own', () => {
  const form: EntryForm = { kind: 'gang', ask: anAsk(), taskCount: 2 };
  const entries = [anEntry({ id: 'a', form }), anEntry({ id: 'b', form })];
  const reserved = new Set([entries[1]!.id]);
  expect(classify(entries, reserved).map(({ isReserved }) => isReserved)).toEqual([false, true]);
});

test('classification loses no entry, doubles none, and is the same for its own result', () => {
  fc.assert(
    fc.property(arbitrarySnapshot(), ({ demand }) => {
      const entries = demand.flatMap(({ form, priority, invalid, batches }) =>
        batches.map((batch) => ({ ...batch, form, priority, invalid })),
      );
      const again = classify(entries);
      expect(again.map(({ count }) => count)).toEqual(demand.map(({ count }) => count));
      for (const { batches, count } of again) {
        expect(batches.reduce((sum, batch) => sum + batch.count, 0)).toBe(count);
      }
      const ids = again.flatMap(({ batches }) => batches.map(({ id }) => id));
      expect(ids).toEqual(entries.map(({ id }) => id));
    }),
  );
});

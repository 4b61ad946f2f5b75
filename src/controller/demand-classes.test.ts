import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Entry } from '../model/demand.ts';
import { entryId, epochMs } from '../model/ids.ts';
import { classify } from '../policy/demand/classes.ts';
import { anAsk, anEntry } from '../../test/builders.ts';
import { DemandClasses } from './demand-classes.ts';

/** Few sorts, so that many entries are alike; ids may repeat between lists. */
const anyEntry = fc
  .record({
    id: fc.nat(12),
    cpu: fc.integer({ min: 1, max: 3 }),
    taskCount: fc.constantFrom(null, 2),
    count: fc.constantFrom(1, 1, 3),
    priority: fc.constantFrom(0, 0, 5),
    ageMs: fc.nat(4),
    isInvalid: fc.boolean(),
  })
  .map(({ id, cpu, taskCount, count, priority, ageMs, isInvalid }): Entry => {
    const ask = anAsk({ resources: { cpu } });
    return {
      ...anEntry({ id: `e${id}` }),
      form: taskCount === null ? { kind: 'single', ask } : { kind: 'gang', ask, taskCount },
      count,
      priority,
      submittedAtMs: epochMs(ageMs),
      invalid: isInvalid ? { kind: 'zero-tasks' } : null,
    };
  });
const lists = fc.array(fc.array(anyEntry, { maxLength: 8 }), { maxLength: 4 });
const reservations = fc.array(fc.nat(12), { maxLength: 4 });

test('the classes of several lists are those of all their entries in a row', () => {
  fc.assert(
    fc.property(fc.array(lists, { minLength: 1, maxLength: 3 }), reservations, (rounds, ids) => {
      const classes = new DemandClasses();
      const reserved = new Set(ids.map((id) => entryId(`e${id}`)));
      // Lists of earlier rounds come again in other places: what is remembered must not mislead.
      const known = rounds.flat();
      for (const pushes of [...rounds, known, known.toReversed()]) {
        for (const held of [reserved, new Set<Entry['id']>()]) {
          expect(classes.of(pushes, held)).toEqual(classify(pushes.flat(), held));
        }
      }
    }),
  );
});

test('a class that did not change is the same object when another list does', () => {
  const classes = new DemandClasses();
  const of = (name: string, cpu: number): Entry => ({
    ...anEntry({ id: name }),
    form: { kind: 'single', ask: anAsk({ resources: { cpu } }) },
  });
  const many = [of('a', 1), of('b', 2), of('c', 3)];
  const before = classes.of([many, [of('d', 2)]], new Set());
  const after = classes.of([many, [of('e', 3)]], new Set());
  expect(after[0]).toBe(before[0]);
  expect(after.map(({ count }) => count)).toEqual([1, 1, 2]);
});

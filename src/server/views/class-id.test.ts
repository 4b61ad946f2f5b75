import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitraryEntries } from '../../../test/arbitraries.ts';
import { classify } from '../../policy/demand/classes.ts';
import { classId } from './class-id.ts';

test('tells classes apart, and is the same for the same class made anew', () => {
  fc.assert(
    fc.property(arbitraryEntries, (entries) => {
      const ids = classify(entries).map(classId);
      expect(new Set(ids).size).toBe(ids.length);
      // As after a restart: the same entries, read from text.
      expect(classify(JSON.parse(JSON.stringify(entries))).map(classId)).toEqual(ids);
      // Fewer entries of a class are the same class.
      for (const [first] of classify(entries).map(({ batches }) => batches)) {
        const alone = entries.filter(({ id }) => id === first?.id).slice(0, 1);
        expect(ids).toEqual(expect.arrayContaining(classify(alone).map(classId)));
      }
    }),
    { numRuns: 50 },
  );
});

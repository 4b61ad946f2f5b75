import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editDistance, nearestName } from './nearest.ts';

describe('edit distance', () => {
  test.each([
    ['', '', 0],
    ['abc', '', 3],
    ['abc', 'abc', 0],
    ['abc', 'abd', 1],
    ['abc', 'ac', 1],
    ['abc', 'acb', 1],
    ['kitten', 'sitting', 3],
  ])('%j to %j takes %d', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
  });

  test('is symmetric, 0 only for equal words, and at most the longer length', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        const distance = editDistance(a, b);
        expect(editDistance(b, a)).toBe(distance);
        expect(distance === 0).toBe(a === b);
        expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
        expect(distance).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
      }),
    );
  });
});

describe('the nearest name', () => {
  const zones = ['us-east1-b', 'us-east1-c', 'europe-west4-b'];

  test.each([
    ['a typo', 'us-east1b', 'us-east1-b'],
    ['another case', 'EUROPE-WEST4-B', 'europe-west4-b'],
    ['a tie, to the earlier', 'us-east1-x', 'us-east1-b'],
    ['nothing alike', 'asia', null],
    ['an empty word', '', null],
    ['a word too long to compare', 'u'.repeat(101), null],
  ])('%s', (_name, wanted, known) => {
    expect(nearestName(wanted, zones)).toBe(known);
  });

  test('a short word may differ in one letter', () => {
    expect(nearestName('gpo', ['gpu'])).toBe('gpu');
    expect(nearestName('xyu', ['gpu'])).toBeNull();
  });

  test('a known name is nearest to itself', () => {
    const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), {
      minLength: 1,
      selector: (name) => name.toLowerCase(),
    });
    fc.assert(
      fc.property(names, fc.nat(), (list, at) => {
        const name = list[at % list.length] ?? '';
        expect(nearestName(name, list)).toBe(name);
      }),
    );
  });
});

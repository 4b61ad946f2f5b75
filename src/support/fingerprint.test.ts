import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fingerprint, fnv1a } from './fingerprint.ts';

// From the authors' own test vectors.
test.each([
  ['', 'cbf29ce484222325'],
  ['a', 'af63dc4c8601ec8c'],
  ['b', 'af63df4c8601f1a5'],
  ['foobar', '85944171f73967e8'],
])('the hash of "%s" is %s', (text, hash) => {
  expect(fnv1a(text)).toBe(hash);
});

test('the hash is that of the definition in whole numbers', () => {
  const byDefinition = (text: string): string => {
    let hash = 0xcbf29ce484222325n;
    for (const byte of new TextEncoder().encode(text)) {
      hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
    }
    return hash.toString(16).padStart(16, '0');
  };
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(fnv1a(text)).toBe(byDefinition(text));
    }),
  );
});

describe('a fingerprint', () => {
  test('does not hang on the order of keys, at any depth', () => {
    const a = { x: 1, y: { p: [1, 2], q: null } };
    const b = { y: { q: null, p: [1, 2] }, x: 1 };
    expect(fingerprint(a)).toBe(fingerprint(b));
  });

  test('takes undefined for absent', () => {
    expect(fingerprint({ x: 1, y: undefined })).toBe(fingerprint({ x: 1 }));
  });

  test.each([
    [{ x: 1 }, { x: '1' }],
    [{ x: null }, {}],
    [{ x: [1, 2] }, { x: [2, 1] }],
    [{ x: 'a,y:b' }, { x: 'a', y: 'b' }],
    [[], {}],
    [{ a: { b: 1 } }, { a: {}, b: 1 }],
  ])('tells %j from %j', (a, b) => {
    expect(fingerprint(a)).not.toBe(fingerprint(b));
  });
});

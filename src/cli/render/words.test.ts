import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitLast } from './fit.ts';
import { joinWords, moreLine, oneLine, plural, shorten } from './words.ts';

test('counts', () => {
  expect([
    plural(1, 'slice'),
    plural(1_204n, 'entry', 'entries'),
    moreLine(1, 'class', 'classes'),
  ]).toEqual(['1 slice', '1,204 entries', '  ... and 1 more class\n']);
});

test('parts that say nothing are left out', () => {
  expect(joinWords(['a', null, '', undefined, 'b'], '; ')).toBe('a; b');
});

test('text from elsewhere has no control characters and keeps its letters', () => {
  const unit = fc.integer({ min: 0, max: 0x2100 }).map((code) => String.fromCodePoint(code));
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      // oxlint-disable-next-line no-control-regex
      expect(oneLine(text)).not.toMatch(/[\u0000-\u001F\u007F-\u009F]/);
    }),
  );
  expect(oneLine('zone\u001B[31m b\r\n')).toBe('zone [31m b');
});

test('shortened text is no longer than asked for, and says that it is cut', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 30 }), (text, lengthMax) => {
      const short = shorten(text, lengthMax);
      expect(short.length).toBeLessThanOrEqual(lengthMax);
      if (text.length > lengthMax) expect(short.endsWith('…')).toBe(true);
    }),
  );
});

test('the last column gives way, but not all of it', () => {
  const columns = [{ title: 'a' }, { title: 'b' }];
  const long = 'x'.repeat(90);
  expect(fitLast(columns, [['1234567890', long]], 50)[0]?.[1]).toBe(`${'x'.repeat(35)}…`);
  expect(fitLast(columns, [['1234567890', long]], 5)[0]?.[1]).toHaveLength(20);
  expect(fitLast(columns, [['1234567890', long]], Infinity)[0]?.[1]).toBe(long);
});

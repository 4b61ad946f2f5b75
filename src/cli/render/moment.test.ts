import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inSeconds } from '../../../test/wire-messages.ts';
import { NOW_MS } from '../../../test/wire-server.ts';
import { createMoments, formatAge } from './moment.ts';

const moments = createMoments(NOW_MS, 'UTC');

// prettier-ignore: a table is read by column
test.each([
  ['just now', 0, '09:14:07 (0s ago)'],
  ['seconds ago', -4, '09:14:03 (4s ago)'],
  ['hours ago', -11_105, '06:09:02 (3h5m ago)'],
  ['days ago', -183_600, '2026-11-13 06:14:07 (2d3h ago)'],
  ['soon', 11, '09:14:18 (in 11s)'],
  ['in days', 86_400, '2026-11-16 09:14:07 (in 1d)'],
])('%s', (_name, seconds, text) => {
  expect(moments.full(inSeconds(seconds))).toBe(text);
});

test('in the zone of the one who looks', () => {
  expect(createMoments(NOW_MS, 'Asia/Tokyo').clock(inSeconds(0))).toBe('18:14:07');
});

test('what is not known is a dash, or nothing', () => {
  expect([moments.full(undefined), moments.age(undefined), moments.until(undefined)]).toEqual([
    '-',
    '-',
    '',
  ]);
});

test('an age is never negative, whatever the clocks say', () => {
  expect(moments.age(inSeconds(3))).toBe('0s');
});

test('every time that the wire can carry has some text', () => {
  fc.assert(
    fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (seconds) => {
      const at = { ...timestampFromMs(0), seconds };
      expect(moments.full(at)).not.toContain('Invalid');
      expect(moments.age(at)).toMatch(/^(-|\d.*)$/);
    }),
  );
});

test('an age has its two largest units at most', () => {
  fc.assert(
    fc.property(fc.nat(10 ** 11), (ms) => {
      expect(formatAge(ms)).toMatch(/^(\d+d(\d+h)?|\d+h(\d+m)?|\d+m(\d+s)?|\d+s)$/);
    }),
  );
});

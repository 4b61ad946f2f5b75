import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatDuration,
  formatQuantity,
  formatResources,
  formatSpan,
  formatUsd,
  formatUsdRounded,
} from './format.ts';

describe('quantities', () => {
  test.each([
    ['memory', 206_158_430_208, '192GiB'],
    ['memory', 64e9, '64GB'],
    ['memory', 1_610_612_736, '1.5GiB'],
    ['memory', 536_870_912, '512MiB'],
    ['disk', 1_099_511_627_776, '1TiB'],
    ['memory', 1_000, '1KB'],
    ['memory', 1_234_567, '1234567'],
    ['memory', 0, '0'],
    ['cpu', 500, '0.5'],
    ['cpu', 112_000, '112'],
    ['gpu', 1, '0.001'],
    ['gpu', 1_250, '1.25'],
    ['cpu', 0, '0'],
    ['cpu', -1_500, '-1.5'],
  ])('%s %d is %s', (name, value, text) => {
    expect(formatQuantity(name, value)).toBe(text);
  });

  test('several come in the order given', () => {
    expect(formatResources({ cpu: 4_000, memory: 2 ** 34 })).toBe('cpu 4, memory 16GiB');
  });
});

describe('durations', () => {
  test.each([
    [0, '0s'],
    [500, '500ms'],
    [90_000, '1m30s'],
    [600_000, '10m'],
    [5_400_000, '1h30m'],
    [172_800_000, '2d'],
    [90_061_001, '1d1h1m1s1ms'],
    [-1_000, '-1s'],
  ])('%d ms is %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe('money', () => {
  test.each([
    [19_200_000, '$19.20'],
    [0, '$0.00'],
    [1, '$0.000001'],
    [1_500_000_000, '$1500.00'],
    [123_456, '$0.123456'],
    [-2_500_000, '-$2.50'],
  ])('%d micro-dollars are %s', (micro, text) => {
    expect(formatUsd(micro)).toBe(text);
  });

  test('totals round to the cent', () => {
    expect(formatUsdRounded(1_234_567_890)).toBe('$1234.57');
    fc.assert(
      fc.property(fc.nat(1e12), (micro) => {
        expect(formatUsdRounded(micro)).toMatch(/^\$\d+\.\d\d$/);
      }),
    );
  });
});

// prettier-ignore: a table is read by column
test.each([
  [0, '0s'],
  [250, '250ms'],
  [30_127, '30s'],
  [599_997, '10m'],
  [3_629_999, '1h'],
  [3_630_001, '1h1m'],
] as const)('%d ms is a span of %s', (ms, text) => {
  expect(formatSpan(ms)).toBe(text);
});

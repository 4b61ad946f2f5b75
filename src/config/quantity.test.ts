import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration, formatQuantity, formatUsd } from '../api/format.ts';
import { QUANTITY_MAX } from '../model/resources.ts';
import type { Parsed } from './problem.ts';
import { DURATION_MAX_MS, parseDuration, parsePrice, parseQuantity } from './quantity.ts';

const show = (parsed: Parsed<number>): number | string =>
  parsed.kind === 'ok' ? parsed.value : `${parsed.message}; ${parsed.remedy}`;

describe('quantities', () => {
  test.each([
    ['cpu', 112, 112_000],
    ['cpu', 0.5, 500],
    ['cpu', '500m', 500],
    ['cpu', '1k', 1_000_000],
    ['gpu', '0.1', 100],
    ['gpu', 0.29, 290],
    ['tpu', '4', 4_000],
    ['cpu', 1e-3, 1],
    ['memory', '64GiB', 68_719_476_736],
    ['memory', '64Gi', 68_719_476_736],
    ['memory', '64GB', 64e9],
    ['memory', '64G', 64e9],
    ['memory', '64 gb', 64e9],
    ['memory', '512MiB', 536_870_912],
    ['disk', '1TiB', 2 ** 40],
    ['disk', '1.5KiB', 1_536],
    ['disk', '1e3', 1_000],
    ['memory', 1_024, 1_024],
    ['memory', '7B', 7],
    ['memory', 0, 0],
    ['memory', QUANTITY_MAX, QUANTITY_MAX],
  ])('%s: %s is %d', (name, raw, value) => {
    expect(show(parseQuantity(name, raw, 'down'))).toBe(value);
    expect(show(parseQuantity(name, raw, 'up'))).toBe(value);
  });

  test('capacity rounds down and requests round up, once', () => {
    expect(show(parseQuantity('cpu', 0.0015, 'down'))).toBe(1);
    expect(show(parseQuantity('cpu', 0.0015, 'up'))).toBe(2);
    expect(show(parseQuantity('memory', '0.1KiB', 'down'))).toBe(102);
    expect(show(parseQuantity('memory', '0.1KiB', 'up'))).toBe(103);
    expect(show(parseQuantity('cpu', '0.0001m', 'up'))).toBe(1);
  });

  const count = 'write a number such as 4, 0.5 or 500m';
  const size = 'write bytes or a unit, such as 64GiB or 64GB';
  test.each([
    ['cpu', Number.NaN, `NaN is not a quantity of cpu; ${count}`],
    ['cpu', Infinity, `Infinity is not a quantity of cpu; ${count}`],
    ['cpu', -1, `-1 is outside the range of cpu, 0 to 9007199254740; ${count}`],
    ['cpu', 1e308, `1e+308 is outside the range of cpu, 0 to 9007199254740; ${count}`],
    ['memory', 1e308, `1e+308 is outside the range of memory, 0 to 8PiB; ${size}`],
    ['memory', '9PiB', `"9PiB" is outside the range of memory, 0 to 8PiB; ${size}`],
    ['memory', '1e999', `"1e999" is outside the range of memory, 0 to 8PiB; ${size}`],
    ['memory', '500m', '"500m" means thousandths of a byte; write M or MiB for megabytes'],
    [
      'memory',
      '64XB',
      '"64XB" has the unknown unit XB; use K, M, G, T, P, Ki, Mi, Gi, Ti, Pi, or m',
    ],
    ['memory', 'lots', `"lots" is not a quantity of memory; ${size}`],
    ['memory', '', `"" is not a quantity of memory; ${size}`],
    ['memory', true, `true is not a quantity of memory; ${size}`],
    ['memory', null, `null is not a quantity of memory; ${size}`],
    ['memory', [1], `a list is not a quantity of memory; ${size}`],
  ])('%s: %s is refused', (name, raw, message) => {
    expect(show(parseQuantity(name, raw, 'down'))).toBe(message);
  });

  test('what is written is read back', () => {
    const names = fc.constantFrom('cpu', 'memory', 'disk', 'gpu');
    const values = fc.oneof(
      fc.nat(),
      fc.maxSafeNat(),
      fc.tuple(fc.nat(4_000), fc.nat(4)).map(([n, k]) => n * 2 ** (10 * k)),
    );
    fc.assert(
      fc.property(names, values, (name, value) => {
        fc.pre(value <= QUANTITY_MAX);
        expect(show(parseQuantity(name, formatQuantity(name, value), 'down'))).toBe(value);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('durations', () => {
  test.each([
    ['90s', 90_000],
    ['10m', 600_000],
    ['1h30m', 5_400_000],
    ['1h 30m', 5_400_000],
    ['500ms', 500],
    ['2d', 172_800_000],
    ['1.5h', 5_400_000],
    ['0s', 0],
    [0, 0],
    ['0', 0],
  ])('%s is %d ms', (raw, ms) => {
    expect(show(parseDuration(raw))).toBe(ms);
  });

  const example = 'write for example 90s, 10m, 1h30m, 500ms or 2d';
  test.each([
    [90, '90 has no unit; write 90s for seconds or 90ms for milliseconds'],
    ['90', '"90" has no unit; write 90s for seconds or 90ms for milliseconds'],
    [-1, `-1 is not a duration; ${example}`],
    ['-5s', `"-5s" is not a duration; ${example}`],
    ['5 minutes', `"5 minutes" is not a duration; ${example}`],
    ['', `"" is not a duration; ${example}`],
    [Number.NaN, `NaN is not a duration; ${example}`],
    [null, `null is not a duration; ${example}`],
    ['1s1h', '"1s1h" has its units out of order; write days first: 1d2h30m10s'],
    ['99999d', '"99999d" is above 3650d, the longest; write a shorter one'],
  ])('%s is refused', (raw, message) => {
    expect(show(parseDuration(raw))).toBe(message);
  });

  test('what is written is read back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: DURATION_MAX_MS }), (ms) => {
        expect(show(parseDuration(formatDuration(ms)))).toBe(ms);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('prices', () => {
  test.each([
    [19.2, 19_200_000],
    ['19.20', 19_200_000],
    ['$19.20', 19_200_000],
    [0, 0],
    [0.000_001, 1],
    [0.29, 290_000],
  ])('%s is %d micro-dollars', (raw, value) => {
    expect(show(parsePrice(raw, 'up'))).toBe(value);
  });

  test('prices round up and caps round down', () => {
    expect(show(parsePrice(0.000_000_1, 'up'))).toBe(1);
    expect(show(parsePrice(0.000_000_1, 'down'))).toBe(0);
  });

  const range = 'write dollars such as 19.20, from 0 to $1000000.00';
  test.each([
    [-1, `-1 is below 0; ${range}`],
    [1e308, `1e+308 is above $1000000.00, the highest price; ${range}`],
    [Number.NaN, `NaN is not a price; ${range}`],
    ['19 EUR', `"19 EUR" is not a price; ${range}`],
  ])('%s is refused', (raw, message) => {
    expect(show(parsePrice(raw, 'up'))).toBe(message);
  });

  test('what is written is read back', () => {
    fc.assert(
      fc.property(fc.nat(1e12), (micro) => {
        expect(show(parsePrice(formatUsd(micro), 'up'))).toBe(micro);
      }),
      { numRuns: 1_000 },
    );
  });
});

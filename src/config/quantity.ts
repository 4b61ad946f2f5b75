import { formatDuration, formatUsd } from '../api/format.ts';
import { QUANTITY_MAX, resourceUnit } from '../model/resources.ts';
import { describeValue, type Parsed } from './problem.ts';

/** Where a fraction of the smallest unit goes: capacity down, requests and prices up. */
export type Rounding = 'down' | 'up';

/** Ten years: longer is a slip of the unit. */
export const DURATION_MAX_MS = 3_650 * 86_400_000;
/** A million dollars per hour, in micro-dollars. */
export const PRICE_MAX_MICRO_USD = 1e12;

const decimalPattern = /^([+-]?)(\d{1,40})(?:\.(\d{0,40}))?(?:[eE]([+-]?\d{1,3}))?\s*([A-Za-z]*)$/;
const durationPattern = /^(?:\d+(?:\.\d+)?\s*(?:ms|s|m|h|d)\s*)+$/;
const durationMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const prefixes = ['k', 'm', 'g', 't', 'p'];
/** By lower-case suffix; `m` alone, which means milli, is not among them. */
const multipliers: ReadonlyMap<string, bigint> = new Map([
  ['', 1n],
  ['b', 1n],
  ...prefixes.flatMap((prefix, index): [string, bigint][] => {
    const decimal = 1_000n ** BigInt(index + 1);
    const binary = 1_024n ** BigInt(index + 1);
    return [
      [prefix, decimal],
      [`${prefix}b`, decimal],
      [`${prefix}i`, binary],
      [`${prefix}ib`, binary],
    ];
  }),
]);

/**
 * A quantity of the named resource as people write it (`112`, `0.5`, `"500m"`, `64GiB`, `64GB`) to
 * its stored integer: bytes for memory and disk, milli-units for the rest. Exact decimal
 * arithmetic; rounded once, in the direction given.
 */
export function parseQuantity(name: string, raw: unknown, rounding: Rounding): Parsed<number> {
  const isBytes = resourceUnit(name) === 'bytes';
  if (typeof raw === 'number' && Number.isInteger(raw) && raw >= 0) {
    const value = isBytes ? raw : raw * 1_000;
    if (value <= QUANTITY_MAX) return { kind: 'ok', value };
  }
  const remedy = isBytes
    ? 'write bytes or a unit, such as 64GiB or 64GB'
    : 'write a number such as 4, 0.5 or 500m';
  const bad = (message: string, other = remedy): Parsed<number> => {
    return { kind: 'bad', message: `${describeValue(raw)} ${message}`, remedy: other };
  };
  const decimal = readDecimal(raw);
  if (decimal === null) return bad(`is not a quantity of ${name}`);
  if (decimal.isNegative) return bad(`is outside the range of ${name}, ${rangeText(name)}`);
  const suffix = decimal.suffix;
  if (suffix === 'm') {
    if (isBytes) return bad('means thousandths of a byte', 'write M or MiB for megabytes');
    return inRange(roundDecimal(decimal, 1n, rounding), bad, name);
  }
  const multiplier = multipliers.get(suffix.toLowerCase());
  if (multiplier === undefined) {
    return bad(`has the unknown unit ${suffix}`, 'use K, M, G, T, P, Ki, Mi, Gi, Ti, Pi, or m');
  }
  const scale = isBytes ? multiplier : multiplier * 1_000n;
  return inRange(roundDecimal(decimal, scale, rounding), bad, name);
}

function inRange(
  value: bigint | null,
  bad: (message: string) => Parsed<number>,
  name: string,
): Parsed<number> {
  if (value !== null && value <= BigInt(QUANTITY_MAX)) return { kind: 'ok', value: Number(value) };
  return bad(`is outside the range of ${name}, ${rangeText(name)}`);
}

/** Whole units are enough to show a limit that nobody should come near. */
const rangeText = (name: string): string =>
  resourceUnit(name) === 'bytes' ? '0 to 8PiB' : `0 to ${Math.floor(QUANTITY_MAX / 1_000)}`;

/**
 * A duration as people write it (`90s`, `1h30m`, `500ms`, `2d`) to whole milliseconds. A bare
 * number is refused, because nobody can tell seconds from milliseconds; 0 is 0 in any unit.
 */
export function parseDuration(raw: unknown): Parsed<number> {
  const bad = (message: string, remedy: string): Parsed<number> => {
    return { kind: 'bad', message: `${describeValue(raw)} ${message}`, remedy };
  };
  const isBare = typeof raw === 'number' || (typeof raw === 'string' && /^[\d.]+$/.test(raw));
  if (isBare && Number(raw) === 0) return { kind: 'ok', value: 0 };
  if (isBare && Number.isFinite(Number(raw)) && Number(raw) > 0) {
    return bad('has no unit', `write ${raw}s for seconds or ${raw}ms for milliseconds`);
  }
  const text = typeof raw === 'string' ? raw.trim() : '';
  if (!durationPattern.test(text)) {
    return bad('is not a duration', 'write for example 90s, 10m, 1h30m, 500ms or 2d');
  }
  let ms = 0;
  let last = Infinity;
  for (const [, count = '', unit = ''] of text.matchAll(/([\d.]+)\s*(ms|s|m|h|d)/g)) {
    const size = durationMs[unit] ?? 0;
    if (size >= last) return bad('has its units out of order', 'write days first: 1d2h30m10s');
    last = size;
    ms += Number(count) * size;
  }
  if (!(ms <= DURATION_MAX_MS)) {
    return bad(`is above ${formatDuration(DURATION_MAX_MS)}, the longest`, 'write a shorter one');
  }
  return { kind: 'ok', value: Math.round(ms) };
}

/**
 * A price in US dollars (`19.20`, `"$19.20"`) to whole micro-dollars. Prices round up so that a
 * plan never costs more than it says; caps round down.
 */
export function parsePrice(raw: unknown, rounding: Rounding): Parsed<number> {
  const bad = (message: string): Parsed<number> => ({
    kind: 'bad',
    message: `${describeValue(raw)} ${message}`,
    remedy: `write dollars such as 19.20, from 0 to ${formatUsd(PRICE_MAX_MICRO_USD)}`,
  });
  const decimal = readDecimal(typeof raw === 'string' ? raw.replace(/^\$\s*/, '') : raw);
  if (decimal === null || decimal.suffix !== '') return bad('is not a price');
  if (decimal.isNegative) return bad('is below 0');
  const value = roundDecimal(decimal, 1_000_000n, rounding);
  if (value === null || value > BigInt(PRICE_MAX_MICRO_USD)) {
    return bad(`is above ${formatUsd(PRICE_MAX_MICRO_USD)}, the highest price`);
  }
  return { kind: 'ok', value: Number(value) };
}

interface Decimal {
  readonly isNegative: boolean;
  readonly digits: bigint;
  /** Of ten: the value is `digits * 10 ** exponent`. */
  readonly exponent: number;
  readonly suffix: string;
}

function readDecimal(raw: unknown): Decimal | null {
  if (typeof raw !== 'number' && typeof raw !== 'string') return null;
  const match = decimalPattern.exec(String(raw).trim());
  if (match === null) return null;
  const [, sign, whole = '', fraction = '', exponent = '0', suffix = ''] = match;
  const digits = BigInt(whole + fraction);
  return {
    isNegative: sign === '-' && digits > 0n,
    digits,
    exponent: Number(exponent) - fraction.length,
    suffix,
  };
}

/** The decimal times `scale` as a whole number; null when it is larger than anything we store. */
function roundDecimal({ digits, exponent }: Decimal, scale: bigint, rounding: Rounding) {
  if (digits === 0n) return 0n;
  const scaled = digits * scale;
  if (exponent >= 0) return exponent > 30 ? null : scaled * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  const rounded = scaled / divisor;
  return rounding === 'up' && rounded * divisor !== scaled ? rounded + 1n : rounded;
}

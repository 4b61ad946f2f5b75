import { resourceUnit } from '../model/resources.ts';

/** Among units that show a value exactly, the shortest text wins, then the earlier unit. */
const byteUnits: readonly (readonly [suffix: string, bytes: number])[] = [
  ['PiB', 2 ** 50],
  ['TiB', 2 ** 40],
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
  ['PB', 1e15],
  ['TB', 1e12],
  ['GB', 1e9],
  ['MB', 1e6],
  ['KB', 1e3],
];

const timeUnits: readonly (readonly [suffix: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
];

/**
 * A resource's stored integer as people write it: 206158430208 memory is `192GiB`, 500 cpu is
 * `0.5`. Exact: reading the text back gives the same integer. Bytes that no unit shows within two
 * decimals stay plain bytes.
 */
export function formatQuantity(name: string, value: number): string {
  return resourceUnit(name) === 'bytes' ? formatBytes(value) : formatThousandths(value);
}

/** Several resources in one line, in the order given: `cpu 4, memory 16GiB`. */
export function formatResources(resources: Readonly<Record<string, number>>): string {
  return Object.entries(resources)
    .map(([name, value]) => `${name} ${formatQuantity(name, value)}`)
    .join(', ');
}

/** Milliseconds as `1h30m`, `90s` being `1m30s`; 0 is `0s`. Exact for whole milliseconds. */
export function formatDuration(ms: number): string {
  if (ms < 0) return `-${formatDuration(-ms)}`;
  let rest = Math.round(ms);
  if (rest === 0) return '0s';
  let text = '';
  for (const [suffix, size] of timeUnits) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${suffix}`;
    rest -= count * size;
  }
  return text;
}

/** A measured time as people read it: seconds, and from an hour on minutes; short ones exactly. */
export function formatSpan(ms: number): string {
  if (ms < 1_000) return formatDuration(ms);
  const grainMs = ms >= 3_600_000 ? 60_000 : 1_000;
  return formatDuration(Math.round(ms / grainMs) * grainMs);
}

/** Micro-dollars as dollars with two to six decimals: 19200000 is `$19.20`. Exact. */
export function formatUsd(microUsd: number): string {
  if (microUsd < 0) return `-${formatUsd(-microUsd)}`;
  const whole = Math.floor(microUsd / 1e6);
  const decimals = String(Math.round(microUsd - whole * 1e6))
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `$${whole}.${decimals}`;
}

/** Micro-dollars rounded to the cent, for totals that people compare: 1234567890 is `$1234.57`. */
export function formatUsdRounded(microUsd: number): string {
  return formatUsd(Math.round(microUsd / 10_000) * 10_000);
}

/** `1 slice`, `2 slices`. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

function formatBytes(value: number): string {
  let best: string | null = null;
  for (const [suffix, size] of byteUnits) {
    const scaled = value / size;
    // Below one unit the next smaller one reads better: 512MiB and not 0.5GiB.
    if (scaled < 1) continue;
    const text = `${scaled}${suffix}`;
    const isShort = (String(scaled).split('.')[1] ?? '').length <= 2 && !text.includes('e');
    if (!isShort || !isExact(scaled, size, value)) continue;
    // 64GB is 62500000KiB, too.
    if (best === null || text.length < best.length) best = text;
  }
  return best ?? String(value);
}

/** True when the short decimal stands for the value itself, not for a neighbour. */
function isExact(scaled: number, size: number, value: number): boolean {
  const hundredths = Math.round(scaled * 100);
  return BigInt(hundredths) * BigInt(size) === BigInt(value) * 100n;
}

function formatThousandths(milli: number): string {
  if (milli < 0) return `-${formatThousandths(-milli)}`;
  const whole = Math.floor(milli / 1_000);
  const rest = milli - whole * 1_000;
  if (rest === 0) return String(whole);
  return `${whole}.${String(rest).padStart(3, '0').replace(/0+$/, '')}`;
}

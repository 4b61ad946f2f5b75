import { create } from '@bufbuild/protobuf';
import { type Duration, DurationSchema } from '@bufbuild/protobuf/wkt';
import { formatDuration } from '../api/format.ts';
import { parseDuration } from '../config/quantity.ts';
import { nearestName } from '../support/nearest.ts';
import { exitCodes } from './output.ts';

/** A failure with the lines to print and the exit code; nothing else is shown of it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exit: number;

  constructor(message: string, exit: number = exitCodes.badInput) {
    super(message);
    this.exit = exit;
  }
}

/** The text of an option; null when it is not given. */
export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

/** The texts of an option that can be given several times, or once with commas. */
export function textsOf(value: unknown): readonly string[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value];
  return given
    .flatMap((one) => (typeof one === 'string' ? one.split(',') : []))
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

/** The text of an option that must be given. */
export function requireText(option: string, value: unknown, remedy: string): string {
  const text = textOf(value)?.trim() ?? '';
  if (text === '') throw new CommandError(`${option} is missing; ${remedy}`);
  return text;
}

/** A duration in milliseconds, both ends of the range included; null when it is not given. */
export function durationOf(
  option: string,
  value: unknown,
  range: { readonly minMs: number; readonly maxMs: number },
): number | null {
  const text = textOf(value);
  if (text === null) return null;
  const parsed = parseDuration(text);
  if (parsed.kind === 'bad')
    throw new CommandError(`${option}: ${parsed.message}; ${parsed.remedy}`);
  const { minMs, maxMs } = range;
  if (parsed.value >= minMs && parsed.value <= maxMs) return parsed.value;
  const limits = `${formatDuration(minMs)} to ${formatDuration(maxMs)}`;
  throw new CommandError(`${option}: ${text} is outside ${limits}; write one within`);
}

/** One of a closed list of words. */
export function wordOf(option: string, value: string, words: readonly string[]): string {
  if (words.includes(value)) return value;
  const near = nearestName(value, words);
  const remedy = near === null ? `use one of ${words.join(', ')}` : `did you mean ${near}?`;
  throw new CommandError(`${option}: ${JSON.stringify(value)} is not known; ${remedy}`);
}

/** As the wire carries it. */
export function toWireDuration(ms: number): Duration {
  const seconds = Math.floor(ms / 1_000);
  return create(DurationSchema, { seconds: BigInt(seconds), nanos: (ms - seconds * 1_000) * 1e6 });
}

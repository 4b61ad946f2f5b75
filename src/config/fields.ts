import { z } from 'zod';
import { nearestName } from '../support/nearest.ts';
import { packMessage, explainMissing } from './issues.ts';
import { describeValue, type Parsed } from './problem.ts';
import { parseDuration, parsePrice, parseQuantity, type Rounding } from './quantity.ts';

// The words that sections of bellows.yaml and of snapshot files are made of. Each checks its own
// range and says, when refused, the value seen, the range and what to write instead.

/** Kinds of resources on one host or in one request. */
const RESOURCE_NAMES_MAX = 50;
const ATTRIBUTES_MAX = 100;

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
const resourceNamePattern = /^[A-Za-z][A-Za-z0-9._/-]{0,62}$/;

/** A whole number within a range, both ends included. */
export function count(min: number, max: number) {
  const error = ({ input }: { readonly input?: unknown }): string =>
    explainRange(input, `a whole number from ${min} to ${max}`, { min, max });
  return z.number({ error }).int({ error }).min(min, { error }).max(max, { error });
}

/** A number, not only whole, within a range, both ends included. */
export function ratio(min: number, max: number) {
  const error = ({ input }: { readonly input?: unknown }): string =>
    explainRange(input, `a number from ${min} to ${max}`, { min, max });
  return z.number({ error }).min(min, { error }).max(max, { error });
}

function explainRange(input: unknown, range: string, { min, max }: { min: number; max: number }) {
  if (input === undefined) return explainMissing();
  const message = `${describeValue(input)} is not ${range}`;
  if (typeof input === 'number' && input < min) return packMessage(message, `write ${min} or more`);
  if (typeof input === 'number' && input > max) return packMessage(message, `write ${max} or less`);
  return packMessage(message, 'write one');
}

/** A name of ours: letters, digits, `-`, `_` and `.`, at most 63 of them. */
export const name = z.string().regex(namePattern, {
  error: (issue) =>
    packMessage(
      `${describeValue(issue.input)} is not a name`,
      'use 1 to 63 letters, digits, "-", "_" and ".", starting with a letter or digit',
    ),
});

/** Free text of a bounded length, not empty. */
export function text(lengthMax: number) {
  const error = (issue: { readonly input?: unknown }): string =>
    packMessage(
      `${describeValue(issue.input)} has ${String(issue.input).length} letters`,
      `write 1 to ${lengthMax}`,
    );
  return z.string().min(1, { error }).max(lengthMax, { error });
}

/** One of a closed list of words. */
export function word<const T extends readonly [string, ...string[]]>(words: T) {
  return z.enum(words, {
    error: (issue) => (issue.input === undefined ? explainMissing() : notOneOf(issue.input, words)),
  });
}

/** The message for a word that is not in a list, with the nearest that is. */
export function notOneOf(input: unknown, words: readonly string[]): string {
  const near = typeof input === 'string' ? nearestName(input, words) : null;
  return packMessage(
    `${describeValue(input)} is not one of ${words.join(', ')}`,
    near === null ? 'use one of these' : `did you mean ${near}?`,
  );
}

/** A duration, `10m`; the value is in milliseconds. */
export const duration = z
  .union([z.string(), z.number()], { error: (issue) => refuse(parseDuration, issue.input) })
  .transform((raw, context) => accept(parseDuration(raw), raw, context))
  .meta({ description: 'A duration such as 90s, 10m, 1h30m, 500ms or 2d.' });

/** A duration with a default. */
export const durationOr = (defaultText: string) => duration.prefault(defaultText);

const instantPattern = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:?\d\d)$/;

/** A point in time with its zone, `2026-11-15T09:00:00Z`; the value is in ms since 1970. */
export const instant = z.string().transform((raw, context) => {
  const ms = instantPattern.test(raw) ? Date.parse(raw.replace(' ', 'T')) : Number.NaN;
  if (ms >= 0) return ms;
  const message = `${describeValue(raw)} is not a point in time from 1970 on`;
  const remedy = 'write for example 2026-11-15T09:00:00Z';
  context.issues.push(issueAt([], raw, packMessage(message, remedy)));
  return z.NEVER;
});

/** US dollars; the value is in micro-dollars. Prices round up, caps down. */
export function usd(rounding: Rounding) {
  const parse = (raw: unknown): Parsed<number> => parsePrice(raw, rounding);
  return z
    .union([z.number(), z.string()], { error: (issue) => refuse(parse, issue.input) })
    .transform((raw, context) => accept(parse(raw), raw, context));
}

/** Bytes, `64GiB`, with a default. */
export const bytesOr = (defaultText: string) => bytes.prefault(defaultText);

const parseBytes = (raw: unknown): Parsed<number> => parseQuantity('memory', raw, 'down');
const bytes = z
  .union([z.string(), z.number()], { error: (issue) => refuse(parseBytes, issue.input) })
  .transform((raw, context) => accept(parseBytes(raw), raw, context));

/** Quantities by resource name; the values are in each resource's smallest unit. */
export function resources(rounding: Rounding) {
  // Unknown here and parsed below, where the resource's name is known, so that every quantity of a
  // host is checked even when one is of the wrong type.
  const quantity = z.unknown().meta({ type: ['number', 'string'] });
  return z
    .record(z.string(), quantity)
    .transform((raw, context) => {
      const parsed: Record<string, number> = {};
      const names = Object.keys(raw);
      if (names.length > RESOURCE_NAMES_MAX) {
        const message = `${names.length} resources are above the limit of ${RESOURCE_NAMES_MAX}`;
        context.issues.push(issueAt([], raw, packMessage(message, 'name fewer')));
      }
      for (const key of names) {
        const input = raw[key];
        const result = parseQuantity(key, input, rounding);
        if (!resourceNamePattern.test(key)) {
          const message = `${describeValue(key)} is not a resource name`;
          const remedy = 'use letters, digits, "-", "_", "." and "/", starting with a letter';
          context.issues.push(issueAt([key], input, packMessage(message, remedy)));
        } else if (result.kind === 'bad') {
          context.issues.push(issueAt([key], input, packMessage(result.message, result.remedy)));
        } else {
          parsed[key] = result.value;
        }
      }
      return parsed;
    })
    .meta({ description: 'Quantities by resource: cpu: 4, memory: 64GiB, gpu: 0.5, ...' });
}

/** Texts by key; numbers and booleans are taken as their text. */
export const attributes = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
  .transform((raw, context) => {
    const entries = Object.entries(raw);
    if (entries.length > ATTRIBUTES_MAX) {
      const message = `${entries.length} attributes are above the limit of ${ATTRIBUTES_MAX}`;
      context.issues.push(issueAt([], raw, packMessage(message, 'name fewer')));
    }
    return Object.fromEntries(entries.map(([key, value]) => [key, String(value)]));
  });

function issueAt(path: (string | number)[], input: unknown, message: string) {
  return { code: 'custom' as const, path, input, message };
}

function refuse(parse: (raw: unknown) => Parsed<unknown>, input: unknown): string {
  if (input === undefined) return explainMissing();
  const result = parse(input);
  if (result.kind === 'bad') return packMessage(result.message, result.remedy);
  return packMessage(`${describeValue(input)} is of the wrong kind`, 'write a number or text');
}

function accept(result: Parsed<number>, input: unknown, context: z.core.ParsePayload): number {
  if (result.kind === 'ok') return result.value;
  context.issues.push(issueAt([], input, packMessage(result.message, result.remedy)));
  return z.NEVER;
}

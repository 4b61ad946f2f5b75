import { z } from 'zod';
import { machineStates } from '../../model/machine.ts';
import { refusalKinds } from '../../model/refusal.ts';
import { cutLine } from './error-lines.ts';

// What a program may answer. Every field has one message, which says what is admitted; the value
// seen is put before it.

const ID_MAX = 500;
const HOSTS_MAX = 10_000;
const MACHINES_PER_SLICE_MAX = 10_000;
/** Longer than any back-off: what a program says beyond it is a slip of units. */
const RETRY_AFTER_MAX_MS = 24 * 60 * 60_000;
/** The last instant that a Date can hold. */
const INSTANT_MAX_MS = 8_640_000_000_000_000;

const id = (what: string): z.ZodString => {
  const error = `must be ${what}: text of 1 to ${ID_MAX} characters, none of them a control character`;
  return z
    .string({ error })
    .max(ID_MAX, { error })
    .regex(/^\P{Cc}+$/u, { error });
};
const whole = (max: number, error: string): z.ZodNumber =>
  z.number({ error }).int({ error }).min(0, { error }).max(max, { error });
const oneOf = <const Words extends readonly string[]>(
  words: Words,
): z.ZodEnum<{ [Word in Words[number]]: Word }> =>
  z.enum(words, { error: `must be one of ${words.join(', ')}` });
const words = z.string({ error: 'must be text' });

const INTERRUPTION = 'must be milliseconds since 1970, or null when no end was announced';
const RETRY = `must be milliseconds from 0 to ${RETRY_AFTER_MAX_MS}, or null`;

export const machineRow = z.object({
  machineId: id("the provider's name of the machine"),
  sliceId: id('the slice id from the launch'),
  group: id('the group from the launch'),
  hostIndex: whole(HOSTS_MAX - 1, `must be a whole number from 0 to ${HOSTS_MAX - 1}`),
  state: oneOf(machineStates),
  interruptionAtMs: whole(INSTANT_MAX_MS, INTERRUPTION).nullish(),
  failure: words.nullish(),
});

const detail = words.nullish();
const refusal = z.discriminatedUnion(
  'kind',
  [
    z.object({ kind: z.literal('stockout'), detail }),
    z.object({ kind: z.literal('quota-exceeded'), quotaName: id('the name of the quota'), detail }),
    z.object({
      kind: z.literal('throttled'),
      retryAfterMs: whole(RETRY_AFTER_MAX_MS, RETRY).nullish(),
      detail,
    }),
    z.object({ kind: z.literal('permanent'), detail }),
    z.object({ kind: z.literal('unknown'), detail }),
  ],
  { error: `must be one of ${refusalKinds.join(', ')}` },
);

const machineIds = z
  .array(id("the provider's name of a machine"), { error: 'must be a list of machine ids' })
  .max(MACHINES_PER_SLICE_MAX, { error: `must have at most ${MACHINES_PER_SLICE_MAX} ids` })
  .nullish();

export const outcomeRow = z.discriminatedUnion(
  'kind',
  [
    z.object({
      kind: z.literal('accepted'),
      sliceId: id('a slice id of the requests'),
      machineIds,
    }),
    z.object({ kind: z.literal('refused'), sliceId: id('a slice id of the requests'), refusal }),
  ],
  { error: 'must be accepted or refused' },
);

export type MachineRow = z.infer<typeof machineRow>;
export type OutcomeRow = z.infer<typeof outcomeRow>;

/** Takes secrets out of words of the program. */
export type Hide = (text: string) => string;

/** The first thing that is wrong with a row: field, value, what is admitted. */
export function firstProblem(row: unknown, { issues }: z.ZodError, hide: Hide): string {
  const [issue] = issues;
  const path = issue?.path ?? [];
  const value = path.reduce<unknown>(
    (inside, key) => (isObject(inside) ? inside[String(key)] : undefined),
    row,
  );
  if (path.length === 0) return `${showValue(row, hide)} is not an object with named fields`;
  const seen = value === undefined ? 'is missing' : `is ${showValue(value, hide)}`;
  return `${path.join('.')} ${seen}; it ${issue?.message ?? 'is not admitted'}`;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const SHOWN_MAX = 60;

/** A value as JSON, cut: what a program printed by mistake may be long. */
export function showValue(value: unknown, hide: Hide): string {
  return cutLine(hide(JSON.stringify(value) ?? 'nothing'), SHOWN_MAX);
}

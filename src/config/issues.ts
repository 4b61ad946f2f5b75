import { z } from 'zod';
import { nearestName } from '../support/nearest.ts';
import { describeValue, type Finding, type Path } from './problem.ts';

// Zod's issues carry one text. Ours have two parts, what is wrong and what to do about it, so they
// travel in that text with a separator that no message holds.
const SEPARATOR = '\u0000';

/** Both parts of a message as the one text that zod carries. */
export const packMessage = (message: string, remedy: string): string =>
  `${message}${SEPARATOR}${remedy}`;

/** The message for a field that must be there. */
export const explainMissing = (): string => packMessage('is missing', 'add it');

const kindNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};

/** What to say of an issue that the schema has no own words for. */
export function explainIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type': {
      if (issue.input === undefined) return explainMissing();
      const expected = kindNames[issue.expected] ?? issue.expected;
      return packMessage(`${describeValue(issue.input)} is not ${expected}`, `write ${expected}`);
    }
    case 'unrecognized_keys':
      return knownKeys(issue.inst).join(SEPARATOR);
    case 'invalid_union': {
      const words = Array.isArray(issue.options) ? issue.options.map(String) : [];
      if (words.length === 0) {
        return packMessage(`${describeValue(issue.input)} is of the wrong kind`, '');
      }
      // A union told apart by one field: that field is what is wrong.
      const input: unknown = z.looseObject({}).safeParse(issue.input).data?.[
        issue.discriminator ?? ''
      ];
      if (input === undefined) return packMessage('is missing', `use one of ${words.join(', ')}`);
      const near = typeof input === 'string' ? nearestName(input, words) : null;
      return packMessage(
        `${describeValue(input)} is not one of ${words.join(', ')}`,
        near === null ? 'use one of these' : `did you mean ${near}?`,
      );
    }
    case 'invalid_key':
      return issue.issues[0]?.message ?? packMessage('the key is not allowed', 'rename it');
    case 'too_big':
      return packMessage(`has too many items`, `keep at most ${String(issue.maximum)}`);
    case 'too_small':
      return packMessage(`has too few items`, `give at least ${String(issue.minimum)}`);
    default:
      return packMessage(`${describeValue(issue.input)} is not allowed here`, '');
  }
}

/** The keys that a strict object allows. */
function knownKeys(schema: unknown): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

/** Zod's issues as findings; every unknown key is one of its own. `base` is where the data lies. */
export function toFindings(issues: readonly z.core.$ZodIssue[], base: Path): readonly Finding[] {
  return issues.flatMap((issue, index): readonly Finding[] => {
    // 1e308 is both no safe integer and too large; once is enough.
    const before = issues[index - 1];
    if (before?.message === issue.message && before.path.join() === issue.path.join()) return [];
    const path = [
      ...base,
      ...issue.path.map((part) => (typeof part === 'number' ? part : String(part))),
    ];
    if (issue.code === 'unrecognized_keys') {
      const known = issue.message.split(SEPARATOR);
      return issue.keys.map((key) => unknownKey([...path, key], key, known));
    }
    const branch = issue.code === 'invalid_union' ? issue.errors.find(isMeantBranch) : undefined;
    if (branch !== undefined) return toFindings(branch, path);
    const [message = '', remedy = ''] = issue.message.split(SEPARATOR);
    const at = issue.code === 'invalid_key' ? 'key' : 'value';
    return [{ path, at, value: issue.input, message, remedy }];
  });
}

/** True for the alternative of a union that has the value's kind, so that its details matter. */
const isMeantBranch = (branch: readonly z.core.$ZodIssue[]): boolean =>
  branch.every(
    ({ code, path }) => path.length > 0 || (code !== 'invalid_type' && code !== 'invalid_value'),
  );

function unknownKey(path: Path, key: string, known: readonly string[]): Finding {
  const near = nearestName(key, known);
  return {
    path,
    at: 'key',
    value: key,
    message: `unknown key ${describeValue(key)}`,
    remedy: near === null ? `known here: ${known.join(', ')}` : `did you mean ${near}?`,
  };
}

/** `1 slice`, `1,204 slices`. */
export function plural(count: number | bigint, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 || count === 1n ? one : many}`;
}

/** `1,204`. */
export const formatCount = (count: number | bigint): string => count.toLocaleString('en-US');

/**
 * Text from elsewhere on one line. Control characters become blanks: a provider's error message must
 * not be able to move the cursor or to look like lines of ours.
 */
export const oneLine = (text: string): string =>
  // oxlint-disable-next-line no-control-regex
  text.replaceAll(/[\u0000-\u001F\u007F-\u009F\u2028\u2029]+/g, ' ').trim();

/** At most so many letters, the last one `…` when some are left out. */
export function shorten(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  return `${text.slice(0, Math.max(0, lengthMax - 1)).trimEnd()}…`;
}

/** `... and 3 more classes`, or nothing. */
export function moreLine(count: number, one: string, many?: string): string {
  return count > 0 ? `  ... and ${count} more ${count === 1 ? one : (many ?? `${one}s`)}\n` : '';
}

/** The parts that say something. */
export const joinWords = (
  parts: readonly (string | null | undefined)[],
  separator = ', ',
): string =>
  parts.filter((part) => part !== null && part !== undefined && part !== '').join(separator);

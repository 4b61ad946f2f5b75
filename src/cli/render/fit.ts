import type { Column } from './table.ts';
import { shorten } from './words.ts';

/** Room for the last column that is left on any screen. */
const LAST_LENGTH_MIN = 20;

/** Shortens the last cell of each row, so that no line is wider than the screen. */
export function fitLast(
  titles: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly (readonly string[])[] {
  const last = titles.length - 1;
  const taken = titles
    .slice(0, last)
    .map(({ title }, at) => Math.max(title.length, ...rows.map((row) => (row[at] ?? '').length)));
  const before = taken.reduce((sum, columnWidth) => sum + columnWidth + 2, 2);
  const lengthMax = Math.max(LAST_LENGTH_MIN, width - before);
  return rows.map((row) => [...row.slice(0, last), shorten(row[last] ?? '', lengthMax)]);
}

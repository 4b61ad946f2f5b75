export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
}

/** Rows under their titles, indented by two, two spaces between columns; no trailing blanks. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  markTitle: (text: string) => string = (text) => text,
): string {
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...rows.map((row) => (row[index] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ align }, index) => {
        const cell = cells[index] ?? '';
        const width = widths[index] ?? 0;
        return align === 'right' ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  const head = columns.some(({ title }) => title !== '')
    ? [markTitle(line(columns.map(({ title }) => title)))]
    : [];
  return [...head, ...rows.map(line)].map((text) => `  ${text}\n`).join('');
}

/** Marks on text; each gives the text back unchanged where colours are off. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly bad: (text: string) => string;
}

export function createStyle(hasColour: boolean): Style {
  const mark =
    (on: number, off: number) =>
    (text: string): string =>
      hasColour ? `\u001B[${on}m${text}\u001B[${off}m` : text;
  return {
    bold: mark(1, 22),
    dim: mark(2, 22),
    good: mark(32, 39),
    warn: mark(33, 39),
    bad: mark(31, 39),
  };
}

import { byFirst, byNumber, byText } from '../support/order.ts';

/** Problems listed of one file; what lies beyond is counted. */
export const PROBLEMS_MAX = 50;
/** Problems looked for in one file; finding more takes time and helps nobody. */
export const PROBLEMS_SOUGHT_MAX = 1_000;
/** Letters of a value that a message shows. */
const VALUE_LENGTH_MAX = 60;

/** One thing that is wrong with a file, where it is, and what to do about it. */
export interface Problem {
  readonly file: string;
  /** From 1; 0 when the problem is the file itself. */
  readonly line: number;
  /** From 1; 0 when the problem is the file itself. */
  readonly column: number;
  /** The field as people write it, `groups[1].max`; empty for the file as a whole. */
  readonly path: string;
  /** The value seen, shortened; empty when there is none. */
  readonly value: string;
  /** What is wrong, naming the value and the range. */
  readonly message: string;
  /** What to do about it; empty when the message says it all. */
  readonly remedy: string;
}

/** Keys and indexes from the top of a document down to a value. */
export type Path = readonly (string | number)[];

/** A problem before it has a place in the text: found in data, by rule. */
export interface Finding {
  readonly path: Path;
  /** Whether the position is that of the key (a wrong name) or of its value. */
  readonly at: 'key' | 'value';
  readonly value: unknown;
  readonly message: string;
  readonly remedy: string;
}

/** What parsing gives: the thing, or every problem that keeps us from having it. */
export type Parsed<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'bad'; readonly message: string; readonly remedy: string };

/** `bellows.yaml:12:9 groups[1].max: 3 is below min 5; raise max or lower min`. */
export function renderProblem(problem: Problem): string {
  const { file, line, column, path, message, remedy } = problem;
  const place = line > 0 ? `${file}:${line}:${column}` : file;
  const head = path === '' ? `${place}:` : `${place} ${path}:`;
  return remedy === '' ? `${head} ${message}` : `${head} ${message}; ${remedy}`;
}

/** In the order of the text, the first 50; a last one says how many more there are. */
export function capProblems(problems: readonly Problem[]): readonly Problem[] {
  const sorted = [...problems].sort(byPlace);
  const first = sorted[0];
  if (first === undefined || sorted.length <= PROBLEMS_MAX) return sorted;
  const isAll = sorted.length < PROBLEMS_SOUGHT_MAX;
  const more = `${sorted.length - PROBLEMS_MAX}${isAll ? '' : ' or more'}`;
  const last = fileProblem(first.file, `... and ${more} other problems`, '');
  return [...sorted.slice(0, PROBLEMS_MAX), last];
}

const byPlace = byFirst<Problem>(
  (a, b) => byText(a.file, b.file),
  byNumber((problem) => problem.line),
  byNumber((problem) => problem.column),
);

/** A problem of a file as a whole: it cannot be read at all. */
export function fileProblem(file: string, message: string, remedy: string): Problem {
  return { file, line: 0, column: 0, path: '', value: '', message, remedy };
}

/** `groups[1].max`; keys that are no plain words are quoted. */
export function renderPath(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (!/^[\w-]+$/.test(part)) text += `[${describeValue(part)}]`;
    else text += text === '' ? part : `.${part}`;
  }
  return text;
}

/** A value as a message shows it: short, on one line, text in quotes. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'string': {
      const quoted = JSON.stringify(value.slice(0, VALUE_LENGTH_MAX));
      return value.length > VALUE_LENGTH_MAX ? `${quoted.slice(0, -1)}..."` : quoted;
    }
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'undefined':
      return 'nothing';
    default:
      if (value === null) return 'null';
      if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
      return 'a mapping';
  }
}

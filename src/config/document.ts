import { createJsonLocator, readJson } from './json-text.ts';
import {
  describeValue,
  fileProblem,
  type Finding,
  type Path,
  type Problem,
  renderPath,
} from './problem.ts';
import { readYaml } from './yaml-text.ts';

/** Deepest nesting of lists and mappings that any file of ours has use for, tenfold. */
export const DEPTH_MAX = 64;
/**
 * Longest text read as YAML, in characters: reading YAML takes a second or two and 200 to 600 MB of
 * memory per million of them. JSON has no limit but the file's.
 */
export const YAML_LENGTH_MAX = 2 * 1_024 * 1_024;

/** Plain data (null, booleans, numbers, texts, lists, mappings) that knows where it stood. */
export interface TextDocument {
  readonly file: string;
  readonly data: unknown;
  /** Keys given twice: they do not keep the rest from being checked. */
  readonly duplicates: readonly Problem[];
  /** Gives a finding its place in the text. */
  readonly place: (finding: Finding) => Problem;
}

export type DocumentRead =
  | { readonly kind: 'ok'; readonly document: TextDocument }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] };

/**
 * Reads YAML or JSON text. Total: malformed text, an empty file, several documents, cycles, alias
 * bombs, deep nesting and binary data come back as problems. `file` is the name that messages show.
 */
export function readDocument(text: string, file: string): DocumentRead {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const refuse = (message: string, remedy: string): DocumentRead => ({
    kind: 'bad',
    problems: [fileProblem(file, message, remedy)],
  });
  if (body.trim() === '') {
    return refuse('the file is empty', 'see `bellows config schema` for what belongs in it');
  }
  if (body.includes('\u0000')) {
    return refuse('the file is not text', 'give a YAML or JSON file in UTF-8');
  }
  const places = createPlaces(body, file);
  if (/^\s*[{[]/.test(body)) {
    const json = readAsJson(body, places);
    // What starts like JSON may still be YAML: {groups: []} without quotes.
    const isJsonOnly = file.endsWith('.json') || body.length > YAML_LENGTH_MAX;
    if (json.kind === 'ok' || isJsonOnly) return json;
  }
  if (body.length > YAML_LENGTH_MAX) {
    return refuse(
      `the file is YAML of ${megabytes(body.length)} MiB, the limit for YAML is ` +
        `${megabytes(YAML_LENGTH_MAX)} MiB`,
      'write it as JSON, which is read a hundred times faster',
    );
  }
  return readAsYaml(body, places);
}

const megabytes = (length: number): string => (length / 1_024 / 1_024).toFixed(1);

interface Places {
  readonly file: string;
  readonly at: (offset: number) => { readonly line: number; readonly column: number };
}

function readAsJson(text: string, places: Places): DocumentRead {
  const read = readJson(text, DEPTH_MAX);
  if (read.kind === 'bad') {
    const { line, column } = places.at(read.offset);
    const message = `not valid JSON: ${read.message}`;
    const problem = { file: places.file, line, column, path: '', value: '', message, remedy: '' };
    return { kind: 'bad', problems: [problem] };
  }
  const duplicates = read.duplicates.map(({ offset, path }) => {
    return flawProblem(places, {
      offset,
      path,
      message: 'this key is given twice',
      remedy: 'keep one',
    });
  });
  const locate = createJsonLocator(text);
  return { kind: 'ok', document: aDocument(read.data, duplicates, places, locate) };
}

function readAsYaml(text: string, places: Places): DocumentRead {
  const read = readYaml(text, DEPTH_MAX);
  if (read.kind === 'bad') return { kind: 'bad', problems: [flawProblem(places, read.flaw)] };
  const duplicates = read.duplicates.map((flaw) => flawProblem(places, flaw));
  return { kind: 'ok', document: aDocument(read.data, duplicates, places, read.locate) };
}

interface Flaw {
  readonly offset: number;
  readonly path: Path;
  readonly message: string;
  readonly remedy: string;
}

function flawProblem(places: Places, { offset, path, message, remedy }: Flaw): Problem {
  const { line, column } = places.at(offset);
  return { file: places.file, line, column, path: renderPath(path), value: '', message, remedy };
}

function aDocument(
  data: unknown,
  duplicates: readonly Problem[],
  places: Places,
  locate: (path: Path, at: 'key' | 'value') => number,
): TextDocument {
  const place = ({ path, at, value, message, remedy }: Finding): Problem => {
    const { line, column } = places.at(locate(path, at));
    const shown = value === undefined ? '' : describeValue(value);
    const { file } = places;
    return { file, line, column, path: renderPath(path), value: shown, message, remedy };
  };
  return { file: places.file, data, duplicates, place };
}

/** Line and column, from 1, of an offset; the line starts are looked for once, when first asked. */
function createPlaces(text: string, file: string): Places {
  let starts: number[] | null = null;
  const at = (offset: number): { line: number; column: number } => {
    starts ??= lineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
  return { file, at };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) {
    starts.push(end + 1);
  }
  return starts;
}

import { readFileSync, statSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { fileProblem, type Problem } from './problem.ts';
import { type InputRead, readInput } from './read-file.ts';

/** Largest trace, unpacked, in bytes: some ten million rows. */
const TRACE_SIZE_MAX = 512 * 1_024 * 1_024;

/** Reads a trace; what ends in .gz is unpacked. Never throws. */
export function readTrace(path: string): InputRead {
  if (!path.endsWith('.gz')) return readInput(path, { sizeMax: TRACE_SIZE_MAX });
  const bad = (message: string, remedy: string): InputRead => {
    return { kind: 'bad', problem: fileProblem(path, message, remedy) };
  };
  try {
    if (statSync(path).isDirectory()) return bad('is a directory', 'name a file in it');
    const bytes = gunzipSync(readFileSync(path), { maxOutputLength: TRACE_SIZE_MAX });
    return { kind: 'ok', text: bytes.toString('utf8'), file: path };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'ENOENT') return bad('there is no such file', 'check the path');
    if (code === 'EACCES') return bad('may not be read', 'check its permissions');
    if (code === 'ERR_BUFFER_TOO_LARGE') return bad('unpacks to too much', 'give a smaller file');
    return bad('cannot be unpacked', 'give a file that gzip made, or plain CSV');
  }
}

/** A line of a CSV file: its number, and its cells with the column each begins at, both from 1. */
export interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
  readonly columns: readonly number[];
}

/** Lines of comma-separated text as RFC 4180 has it; blank ones are left out. */
export function* readCsv(text: string): Generator<CsvRow> {
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  let line = 1;
  while (at < text.length) {
    const cells: string[] = [];
    const columns: number[] = [];
    const [start, startLine] = [at, line];
    for (;;) {
      columns.push(at - start + 1);
      if (text[at] === '"') {
        const cell = readQuoted(text, at);
        cells.push(cell.value);
        line += cell.breaks;
        at = cell.end;
        while (at < text.length && text[at] !== ',' && text[at] !== '\n') at++;
      } else {
        let end = at;
        while (end < text.length && text[end] !== ',' && text[end] !== '\n') end++;
        cells.push(text.slice(at, end).trim());
        at = end;
      }
      if (text[at] !== ',') break;
      at++;
    }
    at++;
    line++;
    if (cells.length > 1 || cells[0] !== '') yield { line: startLine, cells, columns };
  }
}

/** A cell in quotes; two of them within stand for one. */
function readQuoted(
  text: string,
  from: number,
): { readonly value: string; readonly end: number; readonly breaks: number } {
  let value = '';
  let at = from + 1;
  for (;;) {
    const end = text.indexOf('"', at);
    if (end < 0) {
      value += text.slice(at);
      at = text.length;
      break;
    }
    value += text.slice(at, end);
    at = end + 1;
    if (text[at] !== '"') break;
    value += '"';
    at++;
  }
  return { value, end: at, breaks: value.split('\n').length - 1 };
}

/** A problem of one cell. */
export function cellProblem(
  file: string,
  place: { readonly line: number; readonly column: number },
  path: string,
  words: { readonly message: string; readonly remedy: string },
): Problem {
  return { file, ...place, path, value: '', ...words };
}

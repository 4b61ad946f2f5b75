import type { Path } from './problem.ts';

/**
 * JSON with positions. `JSON.parse` is quicker, but it passes over duplicate keys, and often does
 * not say where an error is.
 */
export type JsonRead =
  | { readonly kind: 'ok'; readonly data: unknown; readonly duplicates: readonly DuplicateKey[] }
  | { readonly kind: 'bad'; readonly offset: number; readonly message: string };

export interface DuplicateKey {
  readonly path: Path;
  readonly offset: number;
}

interface Reader {
  readonly text: string;
  readonly depthMax: number;
  readonly path: (string | number)[];
  readonly duplicates: DuplicateKey[];
  offset: number;
}

/** Where and why reading stopped; never leaves this file. */
class JsonSyntaxError extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** Reads one JSON value that fills the whole text, nested at most `depthMax` deep. */
export function readJson(text: string, depthMax: number): JsonRead {
  const reader: Reader = { text, depthMax, path: [], duplicates: [], offset: 0 };
  try {
    const data = readValue(reader);
    skipSpace(reader);
    if (reader.offset < text.length) fail(reader, 'the value is followed by more text');
    return { kind: 'ok', data, duplicates: reader.duplicates };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return { kind: 'bad', offset: error.offset, message: error.message };
  }
}

function readValue(reader: Reader): unknown {
  skipSpace(reader);
  const { text } = reader;
  switch (text[reader.offset]) {
    case '{':
      return readObject(reader);
    case '[':
      return readArray(reader);
    case '"':
      return readString(reader);
    case 't':
      return readWord(reader, 'true', true);
    case 'f':
      return readWord(reader, 'false', false);
    case 'n':
      return readWord(reader, 'null', null);
    case undefined:
      return fail(reader, 'the text ends where a value is expected');
    default: {
      numberPattern.lastIndex = reader.offset;
      const digits = numberPattern.exec(text)?.[0];
      if (digits === undefined) return fail(reader, 'a value is expected');
      reader.offset += digits.length;
      return Number(digits);
    }
  }
}

function readObject(reader: Reader): unknown {
  const data: Record<string, unknown> = {};
  enter(reader);
  if (closes(reader, '}')) return data;
  for (;;) {
    skipSpace(reader);
    const keyOffset = reader.offset;
    if (reader.text[keyOffset] !== '"') fail(reader, 'a key in double quotes is expected');
    const key = readString(reader);
    // Assigning it would change the object's prototype instead of setting a key.
    if (key === '__proto__') fail(reader, 'the key "__proto__" is not allowed');
    skipSpace(reader);
    if (reader.text[reader.offset] !== ':') fail(reader, `":" is expected after the key "${key}"`);
    reader.offset++;
    if (Object.hasOwn(data, key)) {
      reader.duplicates.push({ path: [...reader.path, key], offset: keyOffset });
    }
    reader.path.push(key);
    const value = readValue(reader);
    reader.path.pop();
    data[key] = value;
    if (ends(reader, '}')) return data;
  }
}

function readArray(reader: Reader): unknown {
  const data: unknown[] = [];
  enter(reader);
  if (closes(reader, ']')) return data;
  for (;;) {
    reader.path.push(data.length);
    data.push(readValue(reader));
    reader.path.pop();
    if (ends(reader, ']')) return data;
  }
}

/** Steps over the opening bracket. */
function enter(reader: Reader): void {
  // The path grows by one per level.
  if (reader.path.length >= reader.depthMax) {
    fail(reader, `nested more than ${reader.depthMax} levels deep`);
  }
  reader.offset++;
}

function closes(reader: Reader, bracket: string): boolean {
  skipSpace(reader);
  if (reader.text[reader.offset] !== bracket) return false;
  reader.offset++;
  return true;
}

/** After an item: true at the closing bracket, false at a comma. */
function ends(reader: Reader, bracket: string): boolean {
  if (closes(reader, bracket)) return true;
  if (reader.text[reader.offset] !== ',') fail(reader, `"," or "${bracket}" is expected`);
  reader.offset++;
  return false;
}

function readString(reader: Reader): string {
  const { text } = reader;
  const start = reader.offset + 1;
  const end = text.indexOf('"', start);
  if (end < 0) fail(reader, 'a text in double quotes does not end');
  const plain = text.slice(start, end);
  // eslint-disable-next-line no-control-regex -- control characters are what JSON forbids
  if (!/[\\\u0000-\u001F]/.test(plain)) {
    reader.offset = end + 1;
    return plain;
  }
  return readEscaped(reader, start);
}

function readEscaped(reader: Reader, start: number): string {
  const { text } = reader;
  let out = '';
  for (let at = start; at < text.length; at++) {
    const letter = text.charAt(at);
    if (letter === '"') {
      reader.offset = at + 1;
      return out;
    }
    reader.offset = at;
    if (letter < ' ') fail(reader, 'a text holds a line break or control character');
    if (letter !== '\\') {
      out += letter;
      continue;
    }
    at++;
    const escape = text.charAt(at);
    const hex = text.slice(at + 1, at + 5);
    if (escape === 'u' && /^[\da-fA-F]{4}$/.test(hex)) {
      out += String.fromCharCode(Number.parseInt(hex, 16));
      at += 4;
    } else {
      out += escapes[escape] ?? fail(reader, `"\\${escape}" is no escape that JSON knows`);
    }
  }
  return fail(reader, 'a text in double quotes does not end');
}

function readWord<T>(reader: Reader, word: string, value: T): T {
  if (!reader.text.startsWith(word, reader.offset)) fail(reader, 'a value is expected');
  reader.offset += word.length;
  return value;
}

function skipSpace(reader: Reader): void {
  const { text } = reader;
  for (;;) {
    const code = text.charCodeAt(reader.offset);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
    reader.offset++;
  }
}

function fail(reader: Reader, message: string): never {
  throw new JsonSyntaxError(reader.offset, message);
}

/** Where keys and values of one object or array start. */
type Children = ReadonlyMap<string | number, { readonly key: number; readonly value: number }>;

/**
 * Finds the offset of a path in text that `readJson` accepted. Where the path leads beyond what is
 * there, the innermost value that exists is meant. Containers once walked are remembered.
 */
export function createJsonLocator(text: string): (path: Path, at: 'key' | 'value') => number {
  const known = new Map<number, Children>();
  return (path, at) => {
    const reader: Reader = { text, depthMax: Infinity, path: [], duplicates: [], offset: 0 };
    skipSpace(reader);
    let value = reader.offset;
    let key = value;
    for (const part of path) {
      let children = known.get(value);
      if (children === undefined) {
        reader.offset = value;
        known.set(value, (children = listChildren(reader)));
      }
      const child = children.get(part);
      if (child === undefined) return value;
      ({ key, value } = child);
    }
    return at === 'key' ? key : value;
  };
}

function listChildren(reader: Reader): Children {
  const children = new Map<string | number, { key: number; value: number }>();
  const bracket = reader.text[reader.offset];
  if (bracket !== '{' && bracket !== '[') return children;
  const closing = bracket === '{' ? '}' : ']';
  reader.offset++;
  if (closes(reader, closing)) return children;
  do {
    skipSpace(reader);
    const key = reader.offset;
    let name: string | number = children.size;
    if (bracket === '{') {
      name = readString(reader);
      skipSpace(reader);
      reader.offset++; // the colon
      skipSpace(reader);
    }
    // A key given twice is read as its last value.
    children.set(name, { key, value: reader.offset });
    readValue(reader);
  } while (!ends(reader, closing));
  return children;
}

import { once } from 'node:events';
import {
  createReadStream,
  createWriteStream,
  openSync,
  readSync,
  closeSync,
  rmSync,
} from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import { epochMs } from '../model/ids.ts';
import { StoreError } from '../ports/store.ts';
import { hashOf } from '../controller/journal.ts';
import type { JournalSource, RawTick, TickRange } from './source.ts';

// A journal as JSON lines, to keep or to send: a first line that says what it is, then a line per
// tick. A part comes with its text unless the tick on the line before has it, so that a reader needs
// to remember one tick only.

export const JOURNAL_FORMAT = 'bellows-journal/1';

/** A line is a tick; none that a fleet could write is larger. */
const LINE_BYTES_MAX = 256 * 1_024 * 1_024;

const headSchema = z.object({ format: z.string(), fleet: z.string() });
const tickSchema = z.object({
  seq: z.int(),
  epoch: z.int(),
  atMs: z.int(),
  parts: z.array(z.object({ name: z.string(), hash: z.string(), text: z.string().nullable() })),
});

/** What a file is, by its first bytes. */
export function detectForm(path: string): 'database' | 'gzip' | 'text' | 'empty' | 'other' {
  const bytes = Buffer.alloc(16);
  const descriptor = openSync(path, 'r');
  try {
    const length = readSync(descriptor, bytes, 0, bytes.length, 0);
    if (length === 0) return 'empty';
    if (bytes.toString('latin1') === 'SQLite format 3\0') return 'database';
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'gzip';
    return bytes.toString('latin1').trimStart().startsWith('{') ? 'text' : 'other';
  } finally {
    closeSync(descriptor);
  }
}

/** A journal that was exported. The file is read anew with every call of `ticks`. */
export async function openJournalFile(path: string): Promise<JournalSource> {
  const fleet = await readHead(path);
  return { fleet, ticks: (range) => readTicks(path, range), close: async () => {} };
}

async function readHead(path: string): Promise<string> {
  for await (const line of readLines(path)) {
    const head = headSchema.safeParse(tryParse(line));
    if (!head.success || !head.data.format.startsWith('bellows-journal/')) {
      throw new StoreError(
        'corrupt',
        `${path} is no journal: its first line does not say "format": "${JOURNAL_FORMAT}"; ` +
          'give a database, or a file that `bellows replay --export` or `bellows sim --record` wrote',
      );
    }
    if (head.data.format === JOURNAL_FORMAT) return head.data.fleet;
    throw new StoreError(
      'newer-schema',
      `${path} is a ${head.data.format}, this Bellows reads ${JOURNAL_FORMAT}; ` +
        'read it with the version that wrote it',
    );
  }
  throw new StoreError('corrupt', `${path} is empty; give a database or a journal`);
}

async function* readTicks(path: string, range: TickRange): AsyncGenerator<RawTick> {
  let before: ReadonlyMap<string, string> = new Map();
  let lineNumber = 0;
  for await (const line of readLines(path)) {
    if (++lineNumber === 1 || line === '') continue;
    const place = `${path}:${lineNumber}`;
    const parsed = tickSchema.safeParse(parseLine(line, place));
    if (!parsed.success) {
      throw new StoreError('corrupt', `${place}: no tick of a ${JOURNAL_FORMAT}`);
    }
    const { seq, epoch, atMs } = parsed.data;
    const texts = new Map<string, string>();
    const parts = parsed.data.parts.map(({ name, hash, text: given }) => {
      const known = given ?? texts.get(hash) ?? before.get(hash) ?? null;
      // What does not have its hash is not what was recorded.
      const text = given !== null && hashOf(given) !== hash ? null : known;
      if (text !== null) texts.set(hash, text);
      return { name, hash, text };
    });
    before = texts;
    if (atMs > range.untilMs) return;
    if (atMs >= range.sinceMs) yield { seq, epoch, atMs: epochMs(atMs), parts };
  }
}

/** Null for what is no JSON: then it is no journal either. */
function tryParse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null; // the caller says what was expected
  }
}

function parseLine(line: string, place: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    const detail = 'not JSON; the file may have been cut or edited';
    throw new StoreError('corrupt', `${place}: ${detail}`, { cause });
  }
}

/** Lines as text, packed or plain; what is wrong with the file is a StoreError. */
async function* readLines(path: string): AsyncGenerator<string> {
  const file = createReadStream(path);
  const isPacked = detectForm(path) === 'gzip';
  const stream: Readable = isPacked ? file.pipe(createGunzip()) : file;
  // A pipe does not hand errors on.
  if (isPacked) file.on('error', (error) => stream.destroy(error));
  let rest: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        yield Buffer.concat([...rest, chunk.subarray(from, end)]).toString();
        rest = [];
        length = 0;
        from = end + 1;
      }
      rest.push(chunk.subarray(from));
      length += chunk.length - from;
      if (length > LINE_BYTES_MAX) throw new StoreError('corrupt', `${path}: a line has no end`);
    }
    if (length > 0) yield Buffer.concat(rest).toString();
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new StoreError('corrupt', `${path} cannot be read to its end (${detail})`, { cause });
  } finally {
    file.destroy();
  }
}

/** Writes ticks to a new file, packed if its name ends in .gz; never over one that is there. */
export async function writeJournalFile(
  path: string,
  source: JournalSource,
  range: TickRange,
): Promise<{ readonly ticks: number }> {
  const file = createWriteStream(path, { flags: 'wx' });
  await once(file, 'open');
  const packed = path.endsWith('.gz') ? createGzip() : null;
  packed?.pipe(file);
  const target = packed ?? file;
  let failure: Error | null = null;
  file.on('error', (error) => (failure = error));
  const write = async (value: unknown): Promise<void> => {
    if (failure !== null) throw failure;
    if (!target.write(`${JSON.stringify(value)}\n`)) await once(target, 'drain');
  };
  try {
    let before: ReadonlySet<string> = new Set();
    let ticks = 0;
    await write({ format: JOURNAL_FORMAT, fleet: source.fleet });
    for await (const { seq, epoch, atMs, parts } of source.ticks(range)) {
      const told = parts.map((part) => (before.has(part.hash) ? { ...part, text: null } : part));
      await write({ seq, epoch, atMs, parts: told });
      before = new Set(parts.flatMap(({ hash, text }) => (text === null ? [] : hash)));
      ticks++;
    }
    target.end();
    await once(file, 'close');
    if (failure !== null) throw failure;
    return { ticks };
  } catch (error) {
    file.destroy();
    rmSync(path, { force: true }); // half a journal would be taken for a whole one
    throw error;
  }
}

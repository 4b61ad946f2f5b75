import { epochMs } from '../../model/ids.ts';
import type { Document, DocumentKind, EventRow, TickAsk, TickRow } from '../../ports/store.ts';
import type { Blob, Connection } from './connection.ts';
import { unpackPart } from './part-codec.ts';
import { type StoredText, fromText } from './text-codec.ts';

// Each function is called within a transaction: its statements then see one state of the file.

interface DocumentRow {
  readonly kind: DocumentKind;
  readonly id: StoredText;
  readonly text: StoredText;
}

export function readDocuments(db: Connection): readonly Document[] {
  const sql = 'SELECT kind, id, text FROM document ORDER BY kind, id';
  return db
    .prepare<DocumentRow>(sql)
    .all()
    .map(({ kind, id, text }) => ({ kind, id: fromText(id), text: fromText(text) }));
}

interface Times {
  readonly seq: number;
  readonly at_ms: number;
}

export function readTicks(db: Connection, ask: TickAsk): readonly TickRow[] {
  const ticks = db.prepare<Times & { epoch: number }>(
    'SELECT seq, epoch, at_ms FROM tick WHERE seq > ? AND at_ms >= ? ORDER BY seq LIMIT ?',
  );
  const parts = db.prepare<{ name: StoredText; hash: string }>(
    'SELECT name, hash FROM tick_part JOIN part USING (part) WHERE seq = ? ORDER BY place',
  );
  return ticks.all(ask.afterSeq, ask.sinceMs, ask.limit).map(({ seq, epoch, at_ms }) => ({
    seq,
    epoch,
    atMs: epochMs(at_ms),
    parts: parts.all(seq).map(({ name, hash }) => ({ name: fromText(name), hash })),
  }));
}

export function readParts(
  db: Connection,
  path: string,
  hashes: readonly string[],
): ReadonlyMap<string, string> {
  const part = db.prepare<{ encoding: string; data: Blob }>(
    'SELECT encoding, data FROM part WHERE hash = ?',
  );
  const found = new Map<string, string>();
  for (const hash of hashes) {
    const stored = part.get(hash);
    if (stored !== undefined) found.set(hash, unpackPart(stored, { hash, path }));
  }
  return found;
}

export function readEvents(db: Connection, ask: TickAsk): readonly EventRow[] {
  const events = db.prepare<Times & { text: StoredText }>(
    'SELECT seq, at_ms, text FROM event WHERE seq > ? AND at_ms >= ? ORDER BY seq LIMIT ?',
  );
  return events
    .all(ask.afterSeq, ask.sinceMs, ask.limit)
    .map(({ seq, at_ms, text }) => ({ seq, atMs: epochMs(at_ms), text: fromText(text) }));
}

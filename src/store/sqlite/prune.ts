import type { Commit } from '../../ports/store.ts';
import { must } from '../../support/assert.ts';
import { type JournalCaps, type OldestRows, ROW_BYTES, chooseDrop, dropsMax } from '../journal.ts';
import type { Connection } from './connection.ts';

/** Keeps the journal within its caps, a bounded number of rows at a time. */
export interface Pruner {
  /** After the commit has added its rows, in the same transaction. */
  prune(commit: Commit, added: { readonly addedBytes: number; readonly nowMs: number }): void;
}

interface Ends {
  readonly seq: number;
  readonly at_ms: number;
  readonly last: number;
}

export function createPruner(db: Connection, caps: JournalCaps): Pruner {
  const sql = prepareStatements(db);
  return {
    prune(commit, { addedBytes, nowMs }) {
      let bytes = must(sql.bytes.get(), 'the count of bytes').value + addedBytes;
      for (let drops = dropsMax(commit); drops > 0; drops--) {
        const tick = sql.oldestTick.get();
        const event = sql.oldestEvent.get();
        const oldest: OldestRows = { tick: toRow(tick), event: toRow(event) };
        const choice = chooseDrop(oldest, { bytes, newestAtMs: nowMs }, caps);
        if (choice === null) break;
        bytes -=
          choice === 'tick'
            ? dropTick(sql, must(tick, 'the oldest tick').seq)
            : dropEvent(sql, must(event, 'the oldest event').seq);
      }
      sql.setBytes.run(bytes);
    },
  };
}

type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements(db: Connection) {
  return {
    bytes: db.prepare<{ value: number }>("SELECT value FROM meta WHERE key = 'journal_bytes'"),
    setBytes: db.prepare("UPDATE meta SET value = ? WHERE key = 'journal_bytes'"),
    oldestTick: db.prepare<Ends>(
      'SELECT seq, at_ms, (SELECT max(seq) FROM tick) AS last FROM tick ORDER BY seq LIMIT 1',
    ),
    oldestEvent: db.prepare<Ends>(
      'SELECT seq, at_ms, (SELECT max(seq) FROM event) AS last FROM event ORDER BY seq LIMIT 1',
    ),
    tickParts: db.prepare<{ part: number }>('SELECT part FROM tick_part WHERE seq = ?'),
    dropTick: db.prepare('DELETE FROM tick WHERE seq = ?'),
    dropTickParts: db.prepare('DELETE FROM tick_part WHERE seq = ?'),
    /** A row, if no tick refers to the part any more. */
    unusedPart: db.prepare<{ bytes: number }>(
      'SELECT bytes FROM part WHERE part = ?1 ' +
        'AND NOT EXISTS (SELECT 1 FROM tick_part WHERE tick_part.part = ?1)',
    ),
    dropPart: db.prepare('DELETE FROM part WHERE part = ?'),
    eventBytes: db.prepare<{ bytes: number }>(
      'SELECT octet_length(text) AS bytes FROM event WHERE seq = ?',
    ),
    dropEvent: db.prepare('DELETE FROM event WHERE seq = ?'),
  };
}

const toRow = (ends: Ends | undefined) =>
  ends === undefined ? null : { atMs: ends.at_ms, isLatest: ends.seq === ends.last };

/** Both return the bytes that are gone. */
function dropTick(sql: Statements, seq: number): number {
  const parts = sql.tickParts.all(seq);
  sql.dropTick.run(seq);
  sql.dropTickParts.run(seq);
  let bytes = (1 + parts.length) * ROW_BYTES;
  for (const { part } of parts) {
    const unused = sql.unusedPart.get(part);
    if (unused === undefined) continue;
    sql.dropPart.run(part);
    bytes += unused.bytes;
  }
  return bytes;
}

function dropEvent(sql: Statements, seq: number): number {
  const { bytes } = must(sql.eventBytes.get(seq), 'the oldest event');
  sql.dropEvent.run(seq);
  return bytes + ROW_BYTES;
}

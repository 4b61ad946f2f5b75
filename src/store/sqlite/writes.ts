import type { Commit, Document, LeaseAnswer, LeaseAsk, TickWrite } from '../../ports/store.ts';
import { must } from '../../support/assert.ts';
import {
  type JournalCaps,
  ROW_BYTES,
  checkPlaces,
  fenced,
  missingPart,
  newestAtMs,
} from '../journal.ts';
import { type Lease, answerLease, isCurrent, releaseLease } from '../lease.ts';
import { type Connection, readNumber } from './connection.ts';
import { packPart } from './part-codec.ts';
import { type Pruner, createPruner } from './prune.ts';
import { toText } from './text-codec.ts';

/** What changes the file. Each call is made within a transaction, or a savepoint of one. */
export interface Writes {
  acquireLease(ask: LeaseAsk): LeaseAnswer;
  releaseLease(epoch: number): void;
  commit(commit: Commit): void;
}

export function prepareWrites(db: Connection, caps: JournalCaps): Writes {
  const sql = prepareStatements(db);
  const pruner = createPruner(db, caps);
  const readLease = (): Lease => must(sql.lease.get(), 'the row of the lease');
  const writeLease = ({ epoch, holder, untilMs }: Lease): void =>
    void sql.setLease.run(epoch, holder, untilMs);
  return {
    acquireLease(ask) {
      const { lease, answer } = answerLease(readLease(), ask);
      if (answer.kind === 'granted') writeLease(lease);
      return answer;
    },
    releaseLease: (epoch) => writeLease(releaseLease(readLease(), epoch)),
    commit(commit) {
      const lease = readLease();
      if (!isCurrent(lease, commit.epoch)) throw fenced(commit.epoch, lease);
      for (const document of commit.documents) putDocument(sql, document);
      addToJournal(sql, pruner, commit);
    },
  };
}

type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements(db: Connection) {
  return {
    lease: db.prepare<Lease>('SELECT epoch, holder, until_ms AS untilMs FROM lease'),
    setLease: db.prepare('UPDATE lease SET epoch = ?, holder = ?, until_ms = ?'),
    put: db.prepare(
      'INSERT INTO document (kind, id, text) VALUES (?, ?, ?) ' +
        'ON CONFLICT (kind, id) DO UPDATE SET text = excluded.text',
    ),
    drop: db.prepare('DELETE FROM document WHERE kind = ? AND id = ?'),
    lastSeqs: db.prepare<{ tick: number; event: number }>(
      'SELECT coalesce((SELECT max(seq) FROM tick), -1) AS tick, ' +
        'coalesce((SELECT max(seq) FROM event), -1) AS event',
    ),
    findPart: db.prepare<{ part: number }>('SELECT part FROM part WHERE hash = ?'),
    addPart: db.prepare('INSERT INTO part (hash, bytes, encoding, data) VALUES (?, ?, ?, ?)'),
    addTick: db.prepare('INSERT INTO tick (seq, epoch, at_ms) VALUES (?, ?, ?)'),
    // A large tick has more than a thousand parts: one call for all of them costs a tenth.
    heldParts: db.prepare<{ hash: string }>(
      'SELECT value AS hash FROM json_each(?) WHERE EXISTS (SELECT 1 FROM part WHERE hash = value)',
    ),
    addTickParts: db.prepare(
      'INSERT INTO tick_part (seq, place, part, name) ' +
        "SELECT ?1, key, part, value ->> '$.name' FROM json_each(?2) " +
        "CROSS JOIN part ON part.hash = value ->> '$.hash'",
    ),
    addEvent: db.prepare('INSERT INTO event (seq, at_ms, text) VALUES (?, ?, ?)'),
  };
}

function putDocument(sql: Statements, { kind, id, text }: Document): void {
  if (text === null) sql.drop.run(kind, toText(id));
  else sql.put.run(kind, toText(id), toText(text));
}

function addToJournal(sql: Statements, pruner: Pruner, commit: Commit): void {
  const nowMs = newestAtMs(commit);
  if (nowMs === null) return;
  checkPlaces(commit, must(sql.lastSeqs.get(), 'the last places'));
  let addedBytes = commit.tick === null ? 0 : addTick(sql, commit.epoch, commit.tick);
  for (const { seq, atMs, text } of commit.events) {
    sql.addEvent.run(seq, atMs, toText(text));
    addedBytes += Buffer.byteLength(text) + ROW_BYTES;
  }
  pruner.prune(commit, { addedBytes, nowMs });
}

/** Returns the bytes it adds. */
function addTick(sql: Statements, epoch: number, tick: TickWrite): number {
  let addedBytes = (1 + tick.parts.length) * ROW_BYTES;
  // Texts first: a part may refer to one that comes later in the same tick.
  const told = tick.parts.flatMap(({ hash, text }) => (text === null ? [] : [hash]));
  const held = new Set(sql.heldParts.all(JSON.stringify(told)).map(({ hash }) => hash));
  for (const { hash, text } of tick.parts) {
    if (text === null || held.has(hash)) continue;
    held.add(hash);
    const { encoding, data } = packPart(text);
    const bytes = data.length + ROW_BYTES;
    sql.addPart.run(hash, bytes, encoding, data);
    addedBytes += bytes;
  }
  sql.addTick.run(tick.seq, epoch, tick.atMs);
  const refs = tick.parts.map(({ name, hash }) => ({ name, hash }));
  const added = sql.addTickParts.run(tick.seq, JSON.stringify(refs));
  if (added === refs.length) return addedBytes;
  const missing = must(
    refs.find(({ hash }) => sql.findPart.get(hash) === undefined),
    'every part that is there has been added',
  );
  throw missingPart(tick.seq, missing.name, missing.hash);
}

/**
 * Ends the lease that the last process left behind. We hold the file's lock, so that process is
 * gone; should the lock have been lost, its writes are fenced by the next epoch.
 */
export function endLeftLease(db: Connection): void {
  if (readNumber(db, 'SELECT holder IS NOT NULL AS value FROM lease') === 0) return;
  db.exec('UPDATE lease SET holder = NULL');
}

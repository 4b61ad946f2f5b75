import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { StoreError } from '../../ports/store.ts';
import { must, unreachable } from '../../support/assert.ts';
import type { Connection } from './connection.ts';
import { openForReading, openForWriting, readFleet } from './database.ts';
import { toStoreError } from './errors.ts';
import { type WriteTarget, writeTogether } from './group-commit.ts';
import { takeLock } from './lock.ts';
import { checkReadable, checkWritable, resolvePath } from './preflight.ts';
import { OPENED, type Reply, type Request, type WorkerStart, isWrite } from './protocol.ts';
import { readDocuments, readEvents, readParts, readTicks } from './reads.ts';
import { prepareWrites } from './writes.ts';

// The thread that calls SQLite: started by worker-client.ts, ends when told to close.

/** Calls taken from the port at a time; those beyond it wait for the next transaction. */
const BATCH_MAX = 256;

interface Open {
  readonly path: string;
  readonly db: Connection;
  /** Null for a reader. */
  readonly target: WriteTarget | null;
  close(): void;
}

const port = must(parentPort, 'the port of a thread');
// The cast: it is what worker-client.ts was given.
const start = workerData as WorkerStart;
const reply = (message: Reply): void => port.postMessage(message);

try {
  const opened = open(start);
  // Calls that arrive while a transaction runs wait in the port; whatever waits is taken together.
  port.on('message', (first: Request) => serve(opened, [first, ...takeWaiting()]));
  reply({ id: OPENED, kind: 'done', answer: null });
} catch (error) {
  fail(OPENED, toStoreError(error, start.path));
  port.close();
}

function open(how: WorkerStart): Open {
  if (how.role === 'reader') {
    checkReadable(how.path);
    const path = resolvePath(how.path);
    const db = openForReading(path);
    return { path, db, target: null, close: () => db.close() };
  }
  const path = resolvePath(how.path);
  checkWritable(path);
  const lock = takeLock(path, how.holder);
  try {
    const db = openForWriting(path, how.fleet);
    const target = { db, path, writes: prepareWrites(db, how) };
    const close = (): void => {
      try {
        db.close();
      } finally {
        lock.release();
      }
    };
    return { path, db, target, close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function takeWaiting(): readonly Request[] {
  const waiting: Request[] = [];
  while (waiting.length < BATCH_MAX - 1) {
    const next: { readonly message: Request } | undefined = receiveMessageOnPort(port);
    if (next === undefined) break;
    waiting.push(next.message);
  }
  return waiting;
}

/** In their order: neighbouring writes together, every other call by itself. */
function serve(opened: Open, requests: readonly Request[]): void {
  for (let at = 0; at < requests.length;) {
    const rest = requests.slice(at);
    const end = rest.findIndex((request) => !isWrite(request));
    const writes = rest.slice(0, end < 0 ? rest.length : end).filter(isWrite);
    const [first] = rest;
    if (opened.target !== null && writes.length > 0) {
      const outcomes = writeTogether(opened.target, writes);
      for (const [index, outcome] of outcomes.entries()) {
        const { id } = must(writes[index], 'the write of an outcome');
        if (outcome.kind === 'done') reply({ id, kind: 'done', answer: outcome.answer });
        else fail(id, outcome.error);
      }
    } else if (first !== undefined) {
      serveOne(opened, first);
    }
    at += Math.max(writes.length, 1);
  }
}

function serveOne(opened: Open, request: Request): void {
  const { id } = request;
  try {
    const answer = request.kind === 'close' ? opened.close() : read(opened, request);
    reply({ id, kind: 'done', answer });
  } catch (error) {
    fail(id, toStoreError(error, opened.path));
  }
  // Nothing else keeps the thread alive.
  if (request.kind === 'close') port.close();
}

function read({ db, path }: Open, request: Exclude<Request, { kind: 'close' }>): unknown {
  switch (request.kind) {
    case 'load':
      return db.snapshot(() => readDocuments(db));
    case 'fleet':
      return db.snapshot(() => readFleet(db));
    case 'ticks':
      return db.snapshot(() => readTicks(db, request.ask));
    case 'parts':
      return db.snapshot(() => readParts(db, path, request.ask));
    case 'events':
      return db.snapshot(() => readEvents(db, request.ask));
    case 'lease':
    case 'release':
    case 'commit':
      throw new TypeError('a reader was asked to write');
    default:
      return unreachable(request);
  }
}

function fail(id: number, { kind, message, cause }: StoreError): void {
  const detail = cause instanceof Error ? (cause.stack ?? cause.message) : '';
  reply({ id, kind: 'failed', failure: { kind, message, cause: detail } });
}

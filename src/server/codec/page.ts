import { createHash } from 'node:crypto';
import type { PushDemandRequest } from '../../api/gen/bellows/v1/demand_pb.ts';
import type { Entry } from '../../model/demand.ts';
import { entryId, type EntryId, type EpochMs } from '../../model/ids.ts';
import { runThrough, type Turns } from '../../support/turns.ts';
import { checkText, Complaints, ID_LENGTH_MAX } from './complaints.ts';
import { readEntry } from './entry.ts';
import type { FormTable } from './forms.ts';
import { IdBook } from './id-book.ts';
import { readSpan } from './spans.ts';

/** Entries and removed ids of one message. */
export const PAGE_MAX = 2_000;
/** Pages of one push: each should be full. */
const PAGES_MAX = 10_000;
/** Letters that one page may take in the store. A message is smaller; counts of parts add to it. */
const PAGE_SIZE_MAX = 32 * 2 ** 20;

const TTL = { minMs: 10_000, maxMs: 7 * 86_400_000, usualMs: 5 * 60_000 };

/** Which page of which push it is. */
export interface PageHead {
  readonly source: string;
  readonly generation: number;
  /** Null: the push is all there is. */
  readonly baseGeneration: number | null;
  /** From 0. */
  readonly page: number;
  readonly isLast: boolean;
  readonly ttlMs: number;
}

/** What a page says. */
export interface PageBody {
  readonly entries: readonly Entry[];
  readonly undated: readonly EntryId[];
  readonly removedIds: readonly EntryId[];
  /** All entries and removed ids as text, the same for every encoding and split into pages. */
  readonly entriesText: string;
  readonly removedText: string;
  /** Tells this page from another one in its place. */
  readonly digest: string;
  readonly size: number;
  readonly taskCount: number;
}

/** The head alone is cheap: most refusals need no more. */
export function readHead(request: PushDemandRequest): PageHead {
  const { source, entries, removedIds, baseGeneration } = request;
  const complaints = new Complaints();
  checkText(source, { path: ['source'], lengthMax: ID_LENGTH_MAX, complaints });
  const total = entries.length + removedIds.length;
  if (total > PAGE_MAX) {
    const message = `${total} entries and removed ids are above the limit of ${PAGE_MAX}`;
    complaints.add(['entries'], message, 'push them in pages, `more` set on all but the last');
  }
  if (baseGeneration === undefined && removedIds.length > 0) {
    const remedy = 'set base_generation for a delta, or leave them out: the full set replaces all';
    complaints.add(['removed_ids'], 'are for a delta', remedy);
  }
  if (request.page >= PAGES_MAX) {
    const message = `${request.page} is above ${PAGES_MAX - 1}, the last`;
    complaints.add(['page'], message, `put up to ${PAGE_MAX} entries into each`);
  }
  const generation = readGeneration(request.generation, 'generation', complaints);
  const base =
    baseGeneration === undefined
      ? null
      : readGeneration(baseGeneration, 'base_generation', complaints);
  if (base !== null && base > generation) {
    const message = `${base} is above the generation itself, ${generation}`;
    complaints.add(['base_generation'], message, 'name the generation that this one changes');
  }
  const ttlMs = readSpan(request.ttl, { path: ['ttl'], range: TTL, complaints }) ?? TTL.usualMs;
  complaints.settle();
  const { page, more } = request;
  return { source, generation, baseGeneration: base, page, isLast: !more, ttlMs };
}

function readGeneration(raw: bigint, field: string, complaints: Complaints): number {
  if (raw > BigInt(Number.MAX_SAFE_INTEGER)) {
    const most = Number.MAX_SAFE_INTEGER;
    complaints.add([field], `${raw} is above ${most}, the highest`, 'count from 1');
    return 0;
  }
  return Number(raw);
}

/** What is known of the push that a page belongs to. */
interface BodyReading {
  readonly forms: FormTable;
  /** Ids of the pages before. */
  readonly taken: IdBook | null;
  readonly nowMs: EpochMs;
}

/** Entries read in one go: a few milliseconds' worth. */
const ENTRIES_PER_TURN = 250;

/** Reads entries and removed ids. */
export const readBody = (request: PushDemandRequest, reading: BodyReading): PageBody =>
  runThrough(readBodyInTurns(request, reading));

/** As `readBody`, with a stop after every few hundred entries. */
export function* readBodyInTurns(
  request: PushDemandRequest,
  { forms, taken, nowMs }: BodyReading,
): Turns<PageBody> {
  const complaints = new Complaints();
  const entries: Entry[] = [];
  const undated: EntryId[] = [];
  const texts: string[] = [];
  const ids = new IdBook();
  let size = 0;
  let taskCount = 0;
  for (const [n, wire] of request.entries.entries()) {
    if (n > 0 && n % ENTRIES_PER_TURN === 0) yield;
    const sizeMax = PAGE_SIZE_MAX - size;
    const read = readEntry(wire, ['entries', n], { forms, complaints, nowMs, sizeMax });
    const { id, count } = read?.entry ?? wire;
    const clash = id === '' ? null : (taken?.clash(id, count) ?? ids.clash(id, count));
    if (clash !== null) complaints.add(['entries', n, 'id'], clash, 'give each its own');
    ids.add(id, count);
    if (read === null) continue;
    size += read.size;
    taskCount += read.taskCount;
    entries.push(read.entry);
    texts.push(read.text);
    if (read.isUndated) undated.push(read.entry.id);
  }
  request.removedIds.forEach((id, n) => {
    checkText(id, { path: ['removed_ids', n], lengthMax: ID_LENGTH_MAX, complaints });
  });
  complaints.settle();
  const entriesText = texts.join('');
  const removedText = request.removedIds.map((id) => `${JSON.stringify(id)}\n`).join('');
  const parts = [String(request.more), entriesText, removedText];
  const digest = createHash('sha256').update(parts.join('\0')).digest('base64');
  const removedIds = request.removedIds.map(entryId);
  size += removedText.length;
  return { entries, undated, removedIds, entriesText, removedText, digest, size, taskCount };
}

import type { EpochMs } from '../model/ids.ts';

/**
 * What the controller remembers of one fleet: documents by kind and id, and a journal of ticks whose
 * parts are kept once, by content. Every adapter passes test/contract/store.ts. Calls reject with a
 * StoreError; a rejected commit has changed nothing that a later read could see, unless its kind is
 * `unknown-outcome`.
 */
export interface Store {
  /**
   * Takes or keeps the right to write. Refused while another holder's lease runs. `epoch` rises with
   * every change of holder and never repeats.
   */
  acquireLease(ask: LeaseAsk): Promise<LeaseAnswer>;
  /** Gives the lease back, if it is still ours. */
  releaseLease(epoch: number): Promise<void>;
  /** All documents, for a start. */
  load(): Promise<readonly Document[]>;
  /** One transaction, durable when it resolves. Rejects with `fenced` when the epoch is not current. */
  commit(commit: Commit): Promise<void>;
  /** Recorded ticks in order of their place, from `since` on, in pages of at most `limit`. */
  readTicks(ask: TickAsk): Promise<readonly TickRow[]>;
  /** Parts of the journal by hash; missing ones are left out. */
  readParts(hashes: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Events, oldest first, in pages. */
  readEvents(ask: TickAsk): Promise<readonly EventRow[]>;
  /** Writes what is queued and lets go of the lock. */
  close(): Promise<void>;
}

export interface LeaseAsk {
  /** Names the holder to people: host, process. */
  readonly holder: string;
  readonly nowMs: EpochMs;
  readonly ttlMs: number;
  /** Our epoch, when we hold the lease and want to keep it; null to take it. */
  readonly epoch: number | null;
}

export type LeaseAnswer =
  | { readonly kind: 'granted'; readonly epoch: number }
  | { readonly kind: 'held'; readonly holder: string; readonly untilMs: EpochMs };

/** Closed: a migration per new kind is not needed, but a reader must know them all. */
export const documentKinds = [
  'slice',
  'trouble',
  'health',
  'host',
  'floor',
  'pause',
  'demand',
  'fleet',
] as const;
export type DocumentKind = (typeof documentKinds)[number];

export interface Document {
  readonly kind: DocumentKind;
  readonly id: string;
  /** JSON; null deletes. */
  readonly text: string | null;
}

export interface Commit {
  readonly epoch: number;
  readonly documents: readonly Document[];
  readonly tick: TickWrite | null;
  readonly events: readonly EventRow[];
}

/** A tick for the journal: its parts by name; equal texts are kept once. */
export interface TickWrite {
  readonly seq: number;
  readonly atMs: EpochMs;
  readonly parts: readonly TickPart[];
}

export interface TickPart {
  /** Names are the reader's matter; they have no NUL. */
  readonly name: string;
  /** SHA-256 of the text, in hexadecimal. */
  readonly hash: string;
  /** Null when the tick before, of the same epoch, had a part of this hash: it is kept. */
  readonly text: string | null;
}

export interface TickRow {
  /** Place in the journal; rises, with gaps where old ticks were dropped. */
  readonly seq: number;
  readonly epoch: number;
  readonly atMs: EpochMs;
  readonly parts: readonly { readonly name: string; readonly hash: string }[];
}

export interface TickAsk {
  readonly sinceMs: EpochMs;
  /** After this place, for the next page; -1 from the start. */
  readonly afterSeq: number;
  readonly limit: number;
}

export interface EventRow {
  readonly seq: number;
  readonly atMs: EpochMs;
  /** JSON of a FleetEvent. */
  readonly text: string;
}

export type StoreErrorKind =
  /** Another controller holds the lease now. */
  | 'fenced'
  /** The file is in use by another process; the message says by whom. */
  | 'locked'
  | 'newer-schema'
  | 'corrupt'
  | 'full'
  | 'read-only'
  | 'unavailable'
  /** The commit may or may not have happened: read again before going on. */
  | 'unknown-outcome';

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly kind: StoreErrorKind;
  constructor(kind: StoreErrorKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }
}

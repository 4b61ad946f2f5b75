import { createHash } from 'node:crypto';
import { epochMs } from '../../src/model/ids.ts';
import type { Commit, EventRow, Store, TickPart } from '../../src/ports/store.ts';
import { seededRandom } from '../../src/support/random.ts';

// What the suites of the store contract share.

export interface Caps {
  readonly journalSizeMax: number;
  readonly journalAgeMaxMs: number;
}

/** A fresh store, and a way to open what it holds once more after it was closed. */
export interface OpenedStore {
  readonly store: Store;
  readonly reopen: () => Promise<Store>;
}

export type OpenStore = (caps: Caps) => Promise<OpenedStore>;

export const ampleCaps: Caps = { journalSizeMax: 2 ** 30, journalAgeMaxMs: 7 * 86_400_000 };

/** A store under test, its lease taken. */
export interface Subject {
  readonly store: Store;
  readonly epoch: number;
  /** Closes the store and opens it again, its lease taken anew. */
  readonly restart: () => Promise<Subject>;
}

export type Begin = (caps?: Partial<Caps>) => Promise<Subject>;

export const lease = (holder: string, nowMs: number, epoch: number | null = null, ttlMs = 1_000) =>
  ({ holder, nowMs: epochMs(nowMs), ttlMs, epoch }) as const;

export async function take(store: Store, nowMs: number): Promise<number> {
  const answer = await store.acquireLease(lease('a test', nowMs));
  if (answer.kind !== 'granted') throw new Error(`the lease is held by ${answer.holder}`);
  return answer.epoch;
}

export const aCommit = (epoch: number, over: Partial<Commit> = {}): Commit => ({
  epoch,
  documents: [],
  tick: null,
  events: [],
  ...over,
});

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A part with its text. */
export const aPart = (name: string, text: string): TickPart => ({ name, hash: hashOf(text), text });

/** A part that is said to be there already. */
export const kept = (name: string, text: string): TickPart => ({
  ...aPart(name, text),
  text: null,
});

export const anEvent = (seq: number, atMs = seq, text = `{"n":${seq}}`): EventRow => ({
  seq,
  atMs: epochMs(atMs),
  text,
});

/** Text that does not pack well, and differs by seed. */
export function noise(seed: number, length: number): string {
  const random = seededRandom(seed);
  const codes = Buffer.alloc(length);
  for (let n = 0; n < length; n++) codes[n] = 33 + Math.floor(random() * 90);
  return codes.toString('latin1');
}

export const everything = { sinceMs: epochMs(0), afterSeq: -1, limit: 1_000_000 } as const;

export const byKey = (store: Store): Promise<Readonly<Record<string, string | null>>> =>
  store
    .load()
    .then((documents) =>
      Object.fromEntries(documents.map(({ kind, id, text }) => [`${kind}/${id}`, text])),
    );

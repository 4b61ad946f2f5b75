import type { EpochMs } from '../model/ids.ts';
import type { TickInput } from '../model/tick.ts';
import { type Store, StoreError, type TickRow } from '../ports/store.ts';
import { readTick } from '../controller/journal.ts';

/** A tick as the journal holds it. */
export interface RawTick extends Omit<TickRow, 'parts'> {
  readonly parts: readonly RawPart[];
}

export interface RawPart {
  readonly name: string;
  readonly hash: string;
  /** Null where the journal has lost it, or holds something else in its place. */
  readonly text: string | null;
}

/** Both ends included. */
export interface TickRange {
  readonly sinceMs: EpochMs;
  readonly untilMs: EpochMs;
}

/** Recorded ticks, wherever they lie. May be read more than once. Rejects with a StoreError. */
export interface JournalSource {
  readonly fleet: string;
  /** In the order they were decided. */
  ticks(range: TickRange): AsyncIterable<RawTick>;
  close(): Promise<void>;
}

/** Read at a time: of a large fleet a tick may have megabytes that the one before had not. */
const TICKS_PER_PAGE = 16;
/** Letters of parts kept for the ticks to come; most parts of a tick are those of the one before. */
const CACHE_LENGTH_MAX = 32 * 1_024 * 1_024;

/** The journal of a store, in pages, beside whoever writes it. */
export function openStoreSource(
  store: Pick<Store, 'readTicks' | 'readParts' | 'close'> & { readonly fleet: string },
): JournalSource {
  return {
    fleet: store.fleet,
    close: () => store.close(),
    async *ticks({ sinceMs, untilMs }) {
      const cache = new PartCache(store);
      for (let afterSeq = -1; ;) {
        const rows = await store.readTicks({ sinceMs, afterSeq, limit: TICKS_PER_PAGE });
        await cache.fetch(rows);
        for (const row of rows) {
          // The controller's time never goes back: nothing that follows is earlier.
          if (row.atMs > untilMs) return;
          const parts = row.parts.map((part) => ({ ...part, text: cache.get(part.hash) }));
          const isWhole = parts.every(({ text }) => text !== null);
          // A controller at work drops its oldest ticks while we read.
          if (isWhole || (await isThere(store, row))) yield { ...row, parts };
        }
        if (rows.length < TICKS_PER_PAGE) return;
        afterSeq = rows.at(-1)?.seq ?? afterSeq;
      }
    },
  };
}

async function isThere(store: Pick<Store, 'readTicks'>, row: TickRow): Promise<boolean> {
  const [found] = await store.readTicks({ sinceMs: row.atMs, afterSeq: row.seq - 1, limit: 1 });
  return found?.seq === row.seq;
}

/** Texts by hash, those used last kept. */
class PartCache {
  readonly #store: Pick<Store, 'readParts'>;
  readonly #texts = new Map<string, string>();
  #length = 0;

  constructor(store: Pick<Store, 'readParts'>) {
    this.#store = store;
  }

  get(hash: string): string | null {
    return this.#texts.get(hash) ?? null;
  }

  /** Makes the parts of a page available, and forgets what neither it nor the limit keeps. */
  async fetch(rows: readonly TickRow[]): Promise<void> {
    const wanted = new Set(rows.flatMap(({ parts }) => parts.map(({ hash }) => hash)));
    const missing: string[] = [];
    for (const hash of wanted) {
      const text = this.#texts.get(hash);
      if (text === undefined) missing.push(hash);
      else {
        // To the end of the line: the first is the next to go.
        this.#texts.delete(hash);
        this.#texts.set(hash, text);
      }
    }
    for (const [hash, text] of await this.#read(missing)) {
      this.#texts.set(hash, text);
      this.#length += text.length;
    }
    for (const [hash, text] of this.#texts) {
      if (this.#length <= CACHE_LENGTH_MAX || wanted.has(hash)) break;
      this.#texts.delete(hash);
      this.#length -= text.length;
    }
  }

  /** One spoilt part must not hide the others: then they are asked for one by one. */
  async #read(hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    try {
      return await this.#store.readParts(hashes);
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    const found = new Map<string, string>();
    for (const hash of hashes) {
      try {
        for (const [key, text] of await this.#store.readParts([hash])) found.set(key, text);
      } catch (error) {
        if (!isDamage(error)) throw error;
      }
    }
    return found;
  }
}

const isDamage = (error: unknown): boolean =>
  error instanceof StoreError && error.kind === 'corrupt';

/** A tick that can be run again, or the parts of it that are gone. */
export type ReadTick =
  | { readonly kind: 'whole'; readonly input: TickInput; readonly outputText: string }
  | { readonly kind: 'missing'; readonly parts: readonly string[] };

/** Puts a tick together. Text that is no tick is a StoreError: its hash is right, so it was written so. */
export function toReadTick(raw: RawTick): ReadTick {
  const missing = raw.parts.flatMap(({ name, text }) => (text === null ? [name] : []));
  const named = new Set(raw.parts.map(({ name }) => name));
  for (const name of ['control', 'state', 'output']) if (!named.has(name)) missing.push(name);
  if (missing.length > 0) return { kind: 'missing', parts: missing };
  try {
    const parts = raw.parts.map(({ name, text }) => ({ name, text: text ?? '' }));
    return { kind: 'whole', ...readTick(raw, parts) };
  } catch (cause) {
    throw new StoreError('corrupt', `tick ${raw.seq} of the journal is no tick`, { cause });
  }
}

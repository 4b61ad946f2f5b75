import type {
  Commit,
  Document,
  DocumentKind,
  EventRow,
  Store,
  TickAsk,
  TickRow,
} from '../../ports/store.ts';
import { must } from '../../support/assert.ts';
import {
  type JournalCaps,
  ROW_BYTES,
  checkPlaces,
  chooseDrop,
  closed,
  dropsMax,
  fenced,
  missingPart,
  newestAtMs,
} from '../journal.ts';
import { type Lease, answerLease, isCurrent, noLease, releaseLease } from '../lease.ts';

export interface MemoryStore extends Store {
  /** Another handle on the same memory, as a second controller or a restart would get it. */
  connect(): Store;
}

/**
 * A store that ends with its process: for simulations and tests. Controllers that share it, by one
 * handle or several, compete for its lease. Calls take effect at once, in the order they are made.
 */
export function createMemoryStore(options: Partial<JournalCaps> = {}): MemoryStore {
  const { journalSizeMax = Infinity, journalAgeMaxMs = Infinity } = options;
  const memory = new Memory({ journalSizeMax, journalAgeMaxMs });
  return { ...openHandle(memory), connect: () => openHandle(memory) };
}

/** Closing a handle leaves the memory to the others. */
function openHandle(memory: Memory): Store {
  let isOpen = true;
  const whileOpen = async <T>(run: () => T): Promise<T> => {
    if (!isOpen) throw closed();
    return run();
  };
  return {
    acquireLease: (ask) =>
      whileOpen(() => {
        const { lease, answer } = answerLease(memory.lease, ask);
        memory.lease = lease;
        return answer;
      }),
    releaseLease: (epoch) =>
      whileOpen(() => {
        memory.lease = releaseLease(memory.lease, epoch);
      }),
    load: () => whileOpen(() => memory.documents()),
    commit: (commit) => whileOpen(() => memory.commit(commit)),
    readTicks: (ask) => whileOpen(() => page(memory.ticks, ask)),
    readParts: (hashes) => whileOpen(() => memory.readParts(hashes)),
    readEvents: (ask) => whileOpen(() => page(memory.events, ask)),
    close: async () => {
      isOpen = false;
    },
  };
}

interface Part {
  readonly text: string;
  /** Ticks of the journal that have it. */
  refCount: number;
}

class Memory {
  lease: Lease = noLease;
  readonly ticks: TickRow[] = [];
  readonly events: EventRow[] = [];
  readonly #texts = new Map<DocumentKind, Map<string, string>>();
  readonly #parts = new Map<string, Part>();
  readonly #caps: JournalCaps;
  #bytes = 0;

  constructor(caps: JournalCaps) {
    this.#caps = caps;
  }

  documents(): readonly Document[] {
    return [...this.#texts].flatMap(([kind, texts]) =>
      [...texts].map(([id, text]) => ({ kind, id, text })),
    );
  }

  readParts(hashes: readonly string[]): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    for (const hash of hashes) {
      const part = this.#parts.get(hash);
      if (part !== undefined) found.set(hash, part.text);
    }
    return found;
  }

  commit(commit: Commit): void {
    this.#check(commit);
    for (const document of commit.documents) this.#put(document);
    if (commit.tick !== null) this.#addTick(commit);
    for (const event of commit.events) {
      this.events.push({ ...event });
      this.#bytes += eventBytes(event);
    }
    this.#prune(commit);
  }

  /** All that can be wrong, before anything is changed. */
  #check(commit: Commit): void {
    const { epoch, tick } = commit;
    if (!isCurrent(this.lease, epoch)) throw fenced(epoch, this.lease);
    const last = { tick: this.ticks.at(-1)?.seq ?? -1, event: this.events.at(-1)?.seq ?? -1 };
    checkPlaces(commit, last);
    if (tick === null) return;
    const given = new Set(tick.parts.flatMap(({ hash, text }) => (text === null ? [] : hash)));
    for (const { name, hash, text } of tick.parts) {
      if (text === null && !given.has(hash) && !this.#parts.has(hash)) {
        throw missingPart(tick.seq, name, hash);
      }
    }
  }

  #put({ kind, id, text }: Document): void {
    const texts = this.#texts.get(kind) ?? new Map<string, string>();
    this.#texts.set(kind, texts);
    if (text === null) texts.delete(id);
    else texts.set(id, text);
  }

  #addTick({ epoch, tick }: Commit): void {
    const { seq, atMs, parts } = must(tick, 'the tick of a commit that has one');
    for (const { hash, text } of parts) {
      if (text === null || this.#parts.has(hash)) continue;
      this.#parts.set(hash, { text, refCount: 0 });
      this.#bytes += partBytes(text);
    }
    for (const { hash } of parts) must(this.#parts.get(hash), 'a checked part').refCount += 1;
    const row = { seq, epoch, atMs, parts: parts.map(({ name, hash }) => ({ name, hash })) };
    this.ticks.push(row);
    this.#bytes += tickBytes(row);
  }

  #prune(commit: Commit): void {
    const nowMs = newestAtMs(commit);
    if (nowMs === null) return;
    for (let drops = dropsMax(commit); drops > 0; drops--) {
      const [tick] = this.ticks;
      const [event] = this.events;
      const oldest = {
        tick: tick === undefined ? null : { atMs: tick.atMs, isLatest: this.ticks.length === 1 },
        event:
          event === undefined ? null : { atMs: event.atMs, isLatest: this.events.length === 1 },
      };
      const choice = chooseDrop(oldest, { bytes: this.#bytes, newestAtMs: nowMs }, this.#caps);
      if (choice === null) return;
      if (choice === 'tick') this.#dropTick();
      else this.#bytes -= eventBytes(must(this.events.shift(), 'the oldest event'));
    }
  }

  #dropTick(): void {
    const tick = must(this.ticks.shift(), 'the oldest tick');
    this.#bytes -= tickBytes(tick);
    for (const { hash } of tick.parts) {
      const part = must(this.#parts.get(hash), 'a part of a tick in the journal');
      part.refCount -= 1;
      if (part.refCount > 0) continue;
      this.#parts.delete(hash);
      this.#bytes -= partBytes(part.text);
    }
  }
}

const partBytes = (text: string): number => text.length + ROW_BYTES;
const tickBytes = (tick: TickRow): number => (1 + tick.parts.length) * ROW_BYTES;
const eventBytes = (event: EventRow): number => event.text.length + ROW_BYTES;

/** Rows are in order of their place; the page begins after `afterSeq`. */
function page<Row extends TickRow | EventRow>(rows: readonly Row[], ask: TickAsk): readonly Row[] {
  const found: Row[] = [];
  for (const row of rows) {
    if (found.length >= ask.limit) break;
    if (row.seq > ask.afterSeq && row.atMs >= ask.sinceMs) found.push(row);
  }
  return found;
}

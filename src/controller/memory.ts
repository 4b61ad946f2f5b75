import type { Control } from '../model/control.ts';
import type { LearnedHost } from '../model/learned-host.ts';
import { type EpochMs, epochMs } from '../model/ids.ts';
import type { Pause } from '../model/pause.ts';
import type { DemandPush, HeldFloor } from '../model/push.ts';
import { isLive, type SliceRecord } from '../model/slice-record.ts';
import type { GroupHealth, Trouble } from '../model/trouble.ts';
import { type Document, type DocumentKind, StoreError } from '../ports/store.ts';
import { runThrough, type Turns } from '../support/turns.ts';
import { readPush, writePush } from './push-text.ts';

/**
 * Documents of one kind, with changes that are not committed yet on top. Reading sees the changes;
 * `keep` makes them the truth, `drop` forgets them.
 */
export class Table<V> {
  readonly #kept = new Map<string, V>();
  readonly #changed = new Map<string, V | null>();
  /** Rises whenever something is, or may be, another than before. */
  #version = 0;

  get version(): number {
    return this.#version;
  }

  get(id: string): V | undefined {
    // Mostly nothing is changed, and every pass asks for every slice several times.
    const changed = this.#changed.size === 0 ? undefined : this.#changed.get(id);
    return changed === undefined ? this.#kept.get(id) : (changed ?? undefined);
  }

  /** Without the changes. */
  kept(id: string): V | undefined {
    return this.#kept.get(id);
  }

  keptValues(): Iterable<V> {
    return this.#kept.values();
  }

  put(id: string, value: V): void {
    this.#version++;
    this.#changed.set(id, value);
  }

  remove(id: string): void {
    this.#version++;
    if (this.#kept.has(id)) this.#changed.set(id, null);
    else this.#changed.delete(id);
  }

  /** Ids in order of first appearance; a caller that chooses sorts first. */
  *entries(): Generator<readonly [string, V]> {
    for (const [id, value] of this.#kept) {
      const changed = this.#changed.get(id);
      if (changed === undefined) yield [id, value];
      else if (changed !== null) yield [id, changed];
    }
    for (const [id, value] of this.#changed) {
      if (value !== null && !this.#kept.has(id)) yield [id, value];
    }
  }

  /**
   * As `entries`, for every pass reads all slices several times. Of what is changed meanwhile, only
   * the value at hand may be another.
   */
  values(): Iterable<V> {
    return this.#changed.size === 0 ? this.#kept.values() : this.#valuesChanged();
  }

  *#valuesChanged(): Generator<V> {
    for (const [id, value] of this.#kept) {
      const changed = this.#changed.get(id);
      if (changed === undefined) yield value;
      else if (changed !== null) yield changed;
    }
    for (const [id, value] of this.#changed) {
      if (value !== null && !this.#kept.has(id)) yield value;
    }
  }

  get changes(): ReadonlyMap<string, V | null> {
    return this.#changed;
  }

  keep(): void {
    for (const [id, value] of this.#changed) {
      if (value === null) this.#kept.delete(id);
      else this.#kept.set(id, value);
    }
    this.#changed.clear();
  }

  drop(): void {
    if (this.#changed.size > 0) this.#version++;
    this.#changed.clear();
  }
}

/** What outsiders have asked for and what is not over yet. */
export interface Held {
  readonly sources: readonly DemandPush[];
  readonly floors: readonly HeldFloor[];
  readonly pauses: readonly Pause[];
}

/** Where the loop stands; kept with every tick. */
export interface Marks {
  /** Ticks decided so far. */
  readonly seq: number;
  /** Events told so far. */
  readonly events: number;
  readonly atMs: EpochMs;
}

/** Text made at a time, in characters: about five milliseconds' worth. */
const TURN_SIZE = 2 ** 19;

const MARKS = 'marks';
const CONTROL = 'control';

/** All that the controller remembers of its fleet, in memory as in the store. */
export class Memory {
  readonly slices = new Table<SliceRecord>();
  readonly troubles = new Table<Trouble>();
  readonly health = new Table<GroupHealth>();
  readonly hosts = new Table<LearnedHost>();
  readonly floors = new Table<HeldFloor>();
  readonly pauses = new Table<Pause>();
  readonly demand = new Table<DemandPush>();
  readonly #marks = new Table<Marks>();
  readonly #control = new Table<Control>();
  readonly #tables: readonly (readonly [DocumentKind, Table<unknown>])[] = [
    ['slice', this.slices],
    ['trouble', this.troubles],
    ['health', this.health],
    ['host', this.hosts],
    ['floor', this.floors],
    ['pause', this.pauses],
    ['demand', this.demand],
    ['fleet', this.#marks],
    ['fleet', this.#control],
  ];

  get marks(): Marks {
    return this.#marks.get(MARKS) ?? { seq: 0, events: 0, atMs: epochMs(0) };
  }

  /**
   * Ticks are counted from the time of the first: should all be lost, ids that were minted before are
   * not minted again, and no old machine is taken for a new one.
   */
  startCounting(nowMs: number): void {
    if (this.marks.seq === 0) this.marks = { ...this.marks, seq: Math.floor(nowMs / 1_000) };
  }

  set marks(marks: Marks) {
    this.#marks.put(MARKS, marks);
  }

  /** The configuration last in force: it knows groups that a newer one has dropped. */
  get control(): Control | null {
    return this.#control.get(CONTROL) ?? null;
  }

  set control(control: Control) {
    this.#control.put(CONTROL, control);
  }

  /** Changes as documents for the store. */
  documents(): readonly Document[] {
    return runThrough(this.documentsInTurns());
  }

  /** As `documents`, with a stop wherever much text was made. */
  *documentsInTurns(): Turns<readonly Document[]> {
    const documents: Document[] = [];
    let size = 0;
    for (const [kind, table] of this.#tables) {
      for (const [id, value] of table.changes) {
        const push = table === this.demand ? this.demand.get(id) : undefined;
        const text = push !== undefined ? yield* writePush(push) : toText(value);
        documents.push({ kind, id, text });
        size += text?.length ?? 0;
        if (size < TURN_SIZE) continue;
        size = 0;
        yield;
      }
    }
    return documents;
  }

  /** What is asked of the fleet, as far as it is durable. */
  get held(): Held {
    return {
      sources: [...this.demand.keptValues()],
      floors: [...this.floors.keptValues()],
      pauses: [...this.pauses.keptValues()],
    };
  }

  get liveCount(): number {
    return [...this.slices.values()].filter(isLive).length;
  }

  get isChanged(): boolean {
    return this.#tables.some(([, table]) => table.changes.size > 0);
  }

  keep(): void {
    for (const [, table] of this.#tables) table.keep();
  }

  drop(): void {
    for (const [, table] of this.#tables) table.drop();
  }

  /** What a store gave at the start. */
  static from(documents: readonly Document[]): Memory {
    const memory = new Memory();
    for (const { kind, id, text } of documents) {
      if (text === null) continue;
      memory.#tableOf(kind, id).put(id, readText(kind, id, text));
    }
    memory.keep();
    return memory;
  }

  #tableOf(kind: DocumentKind, id: string): Table<unknown> {
    if (kind === 'fleet') return id === MARKS ? this.#marks : this.#control;
    const [, table] = this.#tables.find(([known]) => known === kind) ?? [];
    if (table === undefined) throw new StoreError('corrupt', `no such kind of document: ${kind}`);
    return table;
  }
}

const toText = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

function readText(kind: DocumentKind, id: string, text: string): unknown {
  try {
    return kind === 'demand' ? readPush(text) : JSON.parse(text);
  } catch (cause) {
    throw new StoreError('corrupt', `the ${kind} ${id} in the store is not JSON`, { cause });
  }
}

import type { Control } from '../model/control.ts';
import { type EpochMs, epochMs } from '../model/ids.ts';
import type { Pause } from '../model/pause.ts';
import type { DemandPush, HeldFloor } from '../model/push.ts';
import type { SliceRecord } from '../model/slice-record.ts';
import type { GroupHealth, Trouble } from '../model/trouble.ts';
import { type Document, type DocumentKind, StoreError } from '../ports/store.ts';

/**
 * Documents of one kind, with changes that are not committed yet on top. Reading sees the changes;
 * `keep` makes them the truth, `drop` forgets them.
 */
export class Table<V> {
  readonly #kept = new Map<string, V>();
  readonly #changed = new Map<string, V | null>();

  get(id: string): V | undefined {
    const changed = this.#changed.get(id);
    return changed === undefined ? this.#kept.get(id) : (changed ?? undefined);
  }

  put(id: string, value: V): void {
    this.#changed.set(id, value);
  }

  remove(id: string): void {
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

  *values(): Generator<V> {
    for (const [, value] of this.entries()) yield value;
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
    this.#changed.clear();
  }
}

/** Where the loop stands; kept with every tick. */
export interface Marks {
  /** Ticks decided so far. */
  readonly seq: number;
  /** Events told so far. */
  readonly events: number;
  readonly atMs: EpochMs;
}

const MARKS = 'marks';
const CONTROL = 'control';

/** All that the controller remembers of its fleet, in memory as in the store. */
export class Memory {
  readonly slices = new Table<SliceRecord>();
  readonly troubles = new Table<Trouble>();
  readonly health = new Table<GroupHealth>();
  readonly floors = new Table<HeldFloor>();
  readonly pauses = new Table<Pause>();
  readonly demand = new Table<DemandPush>();
  readonly #marks = new Table<Marks>();
  readonly #control = new Table<Control>();

  get marks(): Marks {
    return this.#marks.get(MARKS) ?? { seq: 0, events: 0, atMs: epochMs(0) };
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
    return this.#tables().flatMap(([kind, table]) =>
      [...table.changes].map(([id, value]) => {
        return { kind, id, text: value === null ? null : JSON.stringify(value) };
      }),
    );
  }

  get isChanged(): boolean {
    return this.#tables().some(([, table]) => table.changes.size > 0);
  }

  keep(): void {
    for (const [, table] of this.#tables()) table.keep();
  }

  drop(): void {
    for (const [, table] of this.#tables()) table.drop();
  }

  #tables(): readonly (readonly [DocumentKind, Table<unknown>])[] {
    return [
      ['slice', this.slices],
      ['trouble', this.troubles],
      ['health', this.health],
      ['floor', this.floors],
      ['pause', this.pauses],
      ['demand', this.demand],
      ['fleet', this.#marks],
      ['fleet', this.#control],
    ];
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
    const [, table] = this.#tables().find(([known]) => known === kind) ?? [];
    if (table === undefined) throw new StoreError('corrupt', `no such kind of document: ${kind}`);
    return table;
  }
}

function readText(kind: DocumentKind, id: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StoreError('corrupt', `the ${kind} ${id} in the store is not JSON`, { cause });
  }
}

import { hash as digest } from 'node:crypto';
import type { DemandClass } from '../model/demand.ts';
import type { TrackedSlice } from '../model/slice-record.ts';
import type { TickInput, TickOutput } from '../model/tick.ts';
import type { TickPart, TickWrite } from '../ports/store.ts';
import { assert, must } from '../support/assert.ts';
import { runThrough, type Turns } from '../support/turns.ts';

// A tick as parts that are kept once: what did not change since the last tick is a hash.

/** Few: a class of thousands of tasks that changes takes its neighbours' text along. */
const CLASSES_PER_PART = 4;
/** Text made at a time, in characters: about ten milliseconds' worth. */
const TURN_SIZE = 2 ** 20;

type Rest = Omit<TickInput, 'atMs' | 'epoch' | 'seq' | 'control' | 'slices' | 'demand'>;

/** Writes ticks for the store, remembering what the last one had. */
export class Journal {
  readonly #texts = new WeakMap<object, string>();
  /** Lists by name, with their hashes: one per group and per few classes. */
  readonly #lists = new Map<string, { readonly items: readonly object[]; readonly hash: string }>();
  #lastHashes: ReadonlySet<string> = new Set();

  /** The tick as parts. It counts as written only when `written` is told. */
  write(input: TickInput, output: TickOutput): TickWrite {
    return runThrough(this.writeInTurns(input, output));
  }

  /** As `write`, with a stop wherever much text was made. */
  *writeInTurns(input: TickInput, output: TickOutput): Turns<TickWrite> {
    const { atMs, seq, epoch: _, control, slices, demand, ...rest } = input;
    const parts = [this.#told('control', this.#textOf(control))];
    let size = 0;
    for (const [name, items] of [...listSlices(slices), ...listDemand(demand)]) {
      const part = this.#joined(name, items);
      parts.push(part);
      size += part.text?.length ?? 0;
      if (size < TURN_SIZE) continue;
      size = 0;
      yield;
    }
    parts.push(this.#told('state', JSON.stringify(rest)));
    // As JSON.stringify would have it, a field at a time.
    const fields: string[] = [];
    for (const [name, value] of Object.entries(output)) {
      fields.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
      if ((fields.at(-1)?.length ?? 0) >= TURN_SIZE) yield;
    }
    parts.push(this.#told('output', `{${fields.join(',')}}`));
    return { seq, atMs, parts };
  }

  written({ parts }: TickWrite): void {
    this.#lastHashes = new Set(parts.map(({ hash }) => hash));
  }

  /** A list whose items may be the same objects as in the last tick. */
  #joined(name: string, items: readonly object[]): TickPart {
    const before = this.#lists.get(name);
    // Most lists of most ticks: the same objects have the same text, which was written already.
    if (before !== undefined && this.#lastHashes.has(before.hash) && isSame(before.items, items)) {
      return { name, hash: before.hash, text: null };
    }
    const part = this.#told(name, `[${items.map((item) => this.#textOf(item)).join(',')}]`);
    this.#lists.set(name, { items, hash: part.hash });
    return part;
  }

  #told(name: string, text: string): TickPart {
    const hash = hashOf(text);
    return { name, hash, text: this.#lastHashes.has(hash) ? null : text };
  }

  #textOf(value: object): string {
    let text = this.#texts.get(value);
    if (text === undefined) this.#texts.set(value, (text = JSON.stringify(value)));
    return text;
  }
}

type NamedList = readonly [name: string, items: readonly object[]];

/** Slices by group: a change in one group leaves the others' parts alone. */
function listSlices(slices: readonly TrackedSlice[]): readonly NamedList[] {
  const groups = new Map<string, TrackedSlice[]>();
  for (const slice of slices) {
    const list = groups.get(slice.group);
    if (list === undefined) groups.set(slice.group, [slice]);
    else list.push(slice);
  }
  return [...groups].map(([group, list]) => [`slices/${group}`, list]);
}

function listDemand(demand: readonly DemandClass[]): readonly NamedList[] {
  const lists: NamedList[] = [];
  for (let first = 0; first < demand.length; first += CLASSES_PER_PART) {
    const some = demand.slice(first, first + CLASSES_PER_PART);
    lists.push([`demand/${first / CLASSES_PER_PART}`, some]);
  }
  return lists;
}

const isSame = (before: readonly object[], now: readonly object[]): boolean =>
  before.length === now.length && before.every((item, index) => item === now[index]);

export const hashOf = (text: string): string => digest('sha256', text);

/** A recorded tick, put together again. */
export function readTick(
  row: { readonly seq: number; readonly epoch: number; readonly atMs: TickInput['atMs'] },
  parts: readonly { readonly name: string; readonly text: string }[],
): { readonly input: TickInput; readonly outputText: string } {
  const text = (name: string): string =>
    must(parts.find((part) => part.name === name)?.text, `the part ${name} of tick ${row.seq}`);
  const list = <T>(prefix: string): T[] =>
    parts.flatMap((part): T[] => (part.name.startsWith(prefix) ? JSON.parse(part.text) : []));
  const rest: Rest = JSON.parse(text('state'));
  const slices = list<TrackedSlice>('slices/');
  slices.sort((a, b) => (a.id < b.id ? -1 : 1));
  const { atMs, epoch, seq } = row;
  const control = JSON.parse(text('control'));
  assert(typeof control === 'object' && control !== null, 'a control is an object');
  const demand = list<DemandClass>('demand/');
  return {
    input: { atMs, epoch, seq, control, slices, demand, ...rest },
    outputText: text('output'),
  };
}

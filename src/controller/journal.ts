import { hash as digest } from 'node:crypto';
import type { DemandClass } from '../model/demand.ts';
import type { TrackedSlice } from '../model/slice-record.ts';
import type { TickInput, TickOutput } from '../model/tick.ts';
import type { TickPart, TickWrite } from '../ports/store.ts';
import { assert, must } from '../support/assert.ts';
import { isSameItems } from '../support/same-items.ts';
import { runThrough, type Turns } from '../support/turns.ts';
import { foldOutput, unfoldOutput } from './folded-output.ts';

// A tick as parts that are kept once: what did not change since the last tick is a hash.

/**
 * What changes takes its neighbours' text along, and a part costs a row: slices are small and come
 * sixteen to a part, a class may have thousands of tasks and is one by itself.
 */
const SLICES_PER_PART = 16;
/** Longest text kept to be compared with the next. */
const SAID_MAX = 2 ** 18;
/** Text made at a time, in characters: about five milliseconds' worth. */
const TURN_SIZE = 2 ** 19;

type Rest = Omit<TickInput, 'atMs' | 'epoch' | 'seq' | 'control' | 'slices' | 'demand'>;

/** Writes ticks for the store, remembering what the last one had. */
export class Journal {
  readonly #texts = new WeakMap<object, string>();
  /** Lists by name, with their hashes: one per group and per few classes. */
  readonly #lists = new Map<string, { readonly items: readonly object[]; readonly hash: string }>();
  /** What a part last said, by its name: mostly it says the same again. */
  readonly #said = new Map<string, { readonly text: string; readonly hash: string }>();
  #lastHashes: ReadonlySet<string> = new Set();

  /** The tick as parts. It counts as written only when `written` is told. */
  write(input: TickInput, output: TickOutput): TickWrite {
    return runThrough(this.writeInTurns(input, output));
  }

  /** As `write`, with a stop wherever much text was made. */
  *writeInTurns(input: TickInput, output: TickOutput): Turns<TickWrite> {
    const { atMs, seq, epoch: _, control, slices, demand, ...rest } = input;
    const parts = [this.#toldAgain('control', this.#textOf(control))];
    let size = 0;
    for (const [name, items] of [...listSlices(slices), ...listDemand(demand)]) {
      const part = this.#joined(name, items);
      parts.push(part);
      size += part.text?.length ?? 0;
      if (size < TURN_SIZE) continue;
      size = 0;
      yield;
    }
    parts.push(this.#toldAgain('state', JSON.stringify(rest)));
    parts.push(this.#toldAgain('output', JSON.stringify(foldOutput(output))));
    return { seq, atMs, parts };
  }

  written({ parts }: TickWrite): void {
    this.#lastHashes = new Set(parts.map(({ hash }) => hash));
  }

  /** A list whose items may be the same objects as in the last tick. */
  #joined(name: string, items: readonly object[]): TickPart {
    const before = this.#lists.get(name);
    // Most lists of most ticks: the same objects have the same text, which was written already.
    if (
      before !== undefined &&
      this.#lastHashes.has(before.hash) &&
      isSameItems(before.items, items)
    ) {
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

  /** As `#told`, for parts that are made anew for every tick. */
  #toldAgain(name: string, text: string): TickPart {
    const before = this.#said.get(name);
    const hash = before?.text === text ? before.hash : hashOf(text);
    // A decision over a large fleet has megabytes, and is never the same twice.
    if (text.length <= SAID_MAX) this.#said.set(name, { text, hash });
    return { name, hash, text: this.#lastHashes.has(hash) ? null : text };
  }

  #textOf(value: object): string {
    let text = this.#texts.get(value);
    if (text === undefined) this.#texts.set(value, (text = JSON.stringify(value)));
    return text;
  }
}

type NamedList = readonly [name: string, items: readonly object[]];

/** Slices by group, a few at a time: a change in one part leaves the others alone. */
function listSlices(slices: readonly TrackedSlice[]): readonly NamedList[] {
  const lists: NamedList[] = [];
  const open = new Map<string, { list: TrackedSlice[]; parts: number }>();
  for (const slice of slices) {
    const { group } = slice;
    let last = open.get(group);
    if (last === undefined) open.set(group, (last = { list: [], parts: 0 }));
    if (last.list.length % SLICES_PER_PART === 0) {
      last.list = [];
      lists.push([`slices/${group}${last.parts === 0 ? '' : `/${last.parts}`}`, last.list]);
      last.parts++;
    }
    last.list.push(slice);
  }
  return lists;
}

const listDemand = (demand: readonly DemandClass[]): readonly NamedList[] =>
  demand.map((one, index) => [`demand/${index}`, [one]]);

export const hashOf = (text: string): string => digest('sha256', text);

/** The output as JSON.stringify has it. A record that is not even JSON is given as it is. */
function readOutput(text: string): string {
  let folded: Parameters<typeof unfoldOutput>[0];
  try {
    folded = JSON.parse(text);
  } catch {
    return text;
  }
  return JSON.stringify(unfoldOutput(folded));
}

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
    outputText: readOutput(text('output')),
  };
}

import { createHash } from 'node:crypto';
import type { DemandClass } from '../model/demand.ts';
import type { TrackedSlice } from '../model/slice-record.ts';
import type { TickInput, TickOutput } from '../model/tick.ts';
import type { TickPart, TickWrite } from '../ports/store.ts';
import { assert, must } from '../support/assert.ts';

// A tick as parts that are kept once: what did not change since the last tick is a hash.

const CLASSES_PER_PART = 16;

type Rest = Omit<TickInput, 'atMs' | 'epoch' | 'seq' | 'control' | 'slices' | 'demand'>;

/** Writes ticks for the store, remembering what the last one had. */
export class Journal {
  readonly #texts = new WeakMap<object, string>();
  #lastHashes: ReadonlySet<string> = new Set();

  /** The tick as parts. It counts as written only when `written` is told. */
  write(input: TickInput, output: TickOutput): TickWrite {
    const { atMs, seq, epoch: _, control, slices, demand, ...rest } = input;
    const parts = [
      this.#told('control', this.#textOf(control)),
      ...this.#slices(slices),
      ...this.#demand(demand),
      this.#told('state', JSON.stringify(rest)),
      this.#told('output', JSON.stringify(output)),
    ];
    return { seq, atMs, parts };
  }

  written({ parts }: TickWrite): void {
    this.#lastHashes = new Set(parts.map(({ hash }) => hash));
  }

  /** Slices by group: a change in one group leaves the others' parts alone. */
  #slices(slices: readonly TrackedSlice[]): readonly TickPart[] {
    const groups = new Map<string, TrackedSlice[]>();
    for (const slice of slices) {
      const list = groups.get(slice.group);
      if (list === undefined) groups.set(slice.group, [slice]);
      else list.push(slice);
    }
    return [...groups].map(([group, list]) => this.#joined(`slices/${group}`, list));
  }

  #demand(demand: readonly DemandClass[]): readonly TickPart[] {
    const parts: TickPart[] = [];
    for (let first = 0; first < demand.length; first += CLASSES_PER_PART) {
      const some = demand.slice(first, first + CLASSES_PER_PART);
      parts.push(this.#joined(`demand/${first / CLASSES_PER_PART}`, some));
    }
    return parts;
  }

  /** A list whose items may be the same objects as in the last tick. */
  #joined(name: string, items: readonly object[]): TickPart {
    return this.#told(name, `[${items.map((item) => this.#textOf(item)).join(',')}]`);
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

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

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

import type { Entry, EntryForm } from '../model/demand.ts';
import type { DemandPush } from '../model/push.ts';
import { must } from '../support/assert.ts';
import type { Turns } from '../support/turns.ts';

/** Entries of a push written at a time: about ten milliseconds' worth. */
const ENTRIES_PER_TURN = 5_000;

/** An entry in the store: its form is a place in the list of forms. */
type StoredEntry = Omit<Entry, 'form'> & { readonly form: number };

interface StoredPush extends Omit<DemandPush, 'entries'> {
  readonly entries: readonly StoredEntry[];
  readonly forms: readonly EntryForm[];
}

/**
 * A push as text, some entries at a time. A hundred thousand tasks have a few hundred forms: each is
 * written once, which makes the text a third as long, and read as one object again.
 */
export function* writePush({ entries, ...rest }: DemandPush): Turns<string> {
  const places = new Map<EntryForm, number>();
  const blocks: string[] = [];
  for (let first = 0; first < entries.length; first += ENTRIES_PER_TURN) {
    if (first > 0) yield;
    const stored = entries.slice(first, first + ENTRIES_PER_TURN).map((entry): StoredEntry => {
      const { form } = entry;
      let place = places.get(form);
      if (place === undefined) places.set(form, (place = places.size));
      return { ...entry, form: place };
    });
    blocks.push(JSON.stringify(stored).slice(1, -1));
  }
  if (places.size >= ENTRIES_PER_TURN) yield;
  const forms: string[] = [];
  for (const form of places.keys()) {
    if (forms.length > 0 && forms.length % ENTRIES_PER_TURN === 0) yield;
    forms.push(JSON.stringify(form));
  }
  const head = JSON.stringify(rest).slice(0, -1);
  return `${head},"entries":[${blocks.join(',')}],"forms":[${forms.join(',')}]}`;
}

/** The push that a text was made of. */
export function readPush(text: string): DemandPush {
  // The cast: `writePush` wrote it, and what is not JSON at all throws.
  const { forms, entries, ...rest } = JSON.parse(text) as StoredPush;
  return {
    ...rest,
    entries: entries.map((entry) => ({ ...entry, form: must(forms[entry.form], 'its form') })),
  };
}

import type { Ask, DemandClass, Entry, EntryBatch, EntryForm } from '../../model/demand.ts';
import type { EntryId } from '../../model/ids.ts';
import { unreachable } from '../../support/assert.ts';
import { byFirst, byNumber } from '../../support/order.ts';
import { runThrough, type Turns } from '../../support/turns.ts';

/** Entries looked at in one go: a few milliseconds' worth. */
const ENTRIES_PER_TURN = 5_000;

interface Draft {
  readonly entry: Entry;
  readonly isReserved: boolean;
  readonly batches: EntryBatch[];
  count: number;
}

/**
 * Groups entries that are alike in everything but identity (form, ask, priority), so that planning
 * costs what the shapes cost and not what the tasks cost. Classes come in the order of their first
 * entry; batches in service order. `reserved` names the gangs for which slices are reserved;
 * `textOf` is for callers that remember what `formText` gave.
 */
export const classify = (
  entries: readonly Entry[],
  reserved: ReadonlySet<EntryId> = new Set(),
  textOf: (form: EntryForm) => string = formText,
): readonly DemandClass[] => runThrough(classifyInTurns(entries, reserved, textOf));

/** As `classify`, with a stop after every few thousand entries. */
export function* classifyInTurns(
  entries: readonly Entry[],
  reserved: ReadonlySet<EntryId>,
  textOf: (form: EntryForm) => string = formText,
): Turns<readonly DemandClass[]> {
  const drafts = new Map<string, Draft>();
  const numberOf = createNumbering(textOf);
  for (const [order, entry] of entries.entries()) {
    if (order > 0 && order % ENTRIES_PER_TURN === 0) yield;
    const invalid = entry.invalid === null ? '' : JSON.stringify(entry.invalid);
    const isOne = entry.form.kind === 'gang' && entry.count === 1;
    const isReserved = isOne && reserved.has(entry.id);
    const key = `${numberOf(entry.form)} ${entry.priority} ${isReserved} ${invalid}`;
    let draft = drafts.get(key);
    if (draft === undefined) {
      drafts.set(key, (draft = { entry, isReserved, batches: [], count: 0 }));
    }
    draft.count += entry.count;
    const { id, count, submittedAtMs, owner, taskIds } = entry;
    draft.batches.push({ id, count, submittedAtMs, order, owner, taskIds });
  }
  const classes: DemandClass[] = [];
  let sorted = 0;
  for (const { entry, isReserved, batches, count } of drafts.values()) {
    sorted += batches.length;
    if (sorted >= ENTRIES_PER_TURN) {
      sorted = 0;
      yield;
    }
    const { form, priority, invalid } = entry;
    classes.push({ form, priority, invalid, isReserved, batches: batches.sort(byAge), count });
  }
  return classes;
}

/**
 * Numbers forms so that equal ones share a number. Schedulers often share one form object over
 * thousands of entries: then its text is made once.
 */
function createNumbering(textOf: (form: EntryForm) => string): (form: EntryForm) => number {
  const byForm = new Map<EntryForm, number>();
  const byWords = new Map<string, number>();
  return (form) => {
    const known = byForm.get(form);
    if (known !== undefined) return known;
    const words = textOf(form);
    const number = byWords.get(words) ?? byWords.size;
    byWords.set(words, number);
    byForm.set(form, number);
    return number;
  };
}

/** Oldest first; then as given. */
export const byAge = byFirst<EntryBatch>(
  byNumber((batch) => batch.submittedAtMs),
  byNumber((batch) => batch.order),
);

/** Equal text, equal form: resource order and letter case of variants do not matter. */
export function formText(form: EntryForm): string {
  switch (form.kind) {
    case 'single':
      return `1 ${askText(form.ask)}`;
    case 'gang':
      return `gang ${form.taskCount} ${askText(form.ask)}`;
    case 'bundles':
      return `bundles ${form.strategy} ${form.bundles.map(askText).join(' + ')}`;
    default:
      return unreachable(form);
  }
}

function askText(ask: Ask): string {
  const device = ask.device && [
    ask.device.type,
    ask.device.variants?.map((name) => name.toLowerCase()),
  ];
  const resources = Object.keys(ask.resources)
    .filter((name) => ask.resources[name] !== 0)
    .sort()
    .map((name) => [name, ask.resources[name]]);
  return JSON.stringify([device, ask.preemptible, ask.constraints, resources]);
}

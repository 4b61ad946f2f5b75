import type { DemandClass, Entry, EntryBatch, EntryForm } from '../model/demand.ts';
import { type EntryId, epochMs } from '../model/ids.ts';
import { byAge, classify, classifyInTurns, formText } from '../policy/demand/classes.ts';
import { must } from '../support/assert.ts';
import { runThrough, type Turns } from '../support/turns.ts';

/** The list of entries that one scheduler pushed, grouped; kept as long as the list itself. */
interface Grouped {
  /** Its gangs for which slices are reserved. */
  readonly reserved: ReadonlySet<EntryId>;
  readonly classes: readonly DemandClass[];
}

/** A class of one list, and how many entries the lists before it have. */
interface Place {
  readonly group: DemandClass;
  readonly offset: number;
}

/**
 * The classes of several pushes, as `classify` would make them of all their entries in a row. Lists
 * that did not change are not looked through again, and classes that did not change stay the same
 * objects: with a hundred thousand tasks a tick has no time for either.
 */
export class DemandClasses {
  readonly #gangs = new WeakMap<readonly Entry[], ReadonlySet<EntryId>>();
  readonly #texts = new WeakMap<EntryForm, string>();
  readonly #grouped = new WeakMap<readonly Entry[], Grouped>();
  /** By the first of the classes that were joined. */
  readonly #joined = new WeakMap<
    DemandClass,
    { readonly places: readonly Place[]; readonly whole: DemandClass }
  >();

  of(
    pushes: readonly (readonly Entry[])[],
    reserved: ReadonlySet<EntryId>,
  ): readonly DemandClass[] {
    const lists = pushes.map((entries) => this.#group(entries, reserved));
    if (lists.length === 1) return must(lists[0], 'the only list');
    const places: Place[] = [];
    let offset = 0;
    lists.forEach((classes, index) => {
      for (const group of classes) places.push({ group, offset });
      offset += pushes[index]?.length ?? 0;
    });
    // One entry stands for each class: what is alike comes together, in the order of first entries.
    return classify(
      places.map(({ group }) => standIn(group)),
      reserved,
      (form) => this.#textOf(form),
    ).map(({ batches }) => {
      return this.#join(batches.map(({ order }) => must(places[order], 'its place')));
    });
  }

  #textOf(form: EntryForm): string {
    let text = this.#texts.get(form);
    if (text === undefined) this.#texts.set(form, (text = formText(form)));
    return text;
  }

  #group(entries: readonly Entry[], reserved: ReadonlySet<EntryId>): readonly DemandClass[] {
    return runThrough(this.groupInTurns(entries, reserved));
  }

  /** The classes of one list. Made ahead of a tick, they are there when it asks for all. */
  *groupInTurns(
    entries: readonly Entry[],
    reserved: ReadonlySet<EntryId>,
  ): Turns<readonly DemandClass[]> {
    let gangs = this.#gangs.get(entries);
    if (gangs === undefined) this.#gangs.set(entries, (gangs = findGangs(entries)));
    const own = new Set([...reserved].filter((id) => gangs.has(id)));
    const known = this.#grouped.get(entries);
    if (known?.reserved.size === own.size && [...own].every((id) => known.reserved.has(id))) {
      return known.classes;
    }
    const classes = yield* classifyInTurns(entries, own);
    this.#grouped.set(entries, { reserved: own, classes });
    return classes;
  }

  #join(places: readonly Place[]): DemandClass {
    const { group: first, offset } = must(places[0], 'a class has entries');
    if (places.length === 1 && offset === 0) return first;
    const known = this.#joined.get(first);
    if (known !== undefined && isSame(known.places, places)) return known.whole;
    const batches = places.flatMap(({ group, offset: by }) => shift(group.batches, by));
    const count = places.reduce((sum, { group }) => sum + group.count, 0);
    const whole = { ...first, batches: batches.sort(byAge), count };
    this.#joined.set(first, { places, whole });
    return whole;
  }
}

const isSame = (before: readonly Place[], now: readonly Place[]): boolean =>
  before.length === now.length &&
  before.every(({ group, offset }, n) => group === now[n]?.group && offset === now[n]?.offset);

/** Reservations are for single gangs. */
function findGangs(entries: readonly Entry[]): ReadonlySet<EntryId> {
  const gangs = new Set<EntryId>();
  for (const { form, count, id } of entries) {
    if (form.kind === 'gang' && count === 1) gangs.add(id);
  }
  return gangs;
}

function standIn({ form, priority, invalid, batches }: DemandClass): Entry {
  const { id, count } = must(batches[0], 'a class has entries');
  const nothing = { submittedAtMs: epochMs(0), owner: null, taskIds: [] };
  return { id, count, form, priority, invalid, ...nothing };
}

const shift = (batches: readonly EntryBatch[], by: number): readonly EntryBatch[] =>
  by === 0 ? batches : batches.map((batch) => ({ ...batch, order: batch.order + by }));

import type { Entry, EntryForm } from '../model/demand.ts';
import type { Clock } from '../ports/clock.ts';

/** How much a set of entries is. */
export interface Totals {
  readonly entryCount: number;
  /** All counts multiplied out. */
  readonly taskCount: number;
  /** Letters in the store, about. */
  readonly size: number;
}

/** Of the set of one source. A text in the store has an end: above it nothing could be recorded. */
export const SET_MAX: Totals = {
  entryCount: 1_000_000,
  taskCount: 10_000_000,
  size: 400 * 2 ** 20,
};

/** Braces, field names, numbers and an instant, as the store has them. */
const ENTRY_SIZE = 150;
/** Looked at in one go: a few milliseconds' worth. */
const ENTRIES_PER_TURN = 5_000;

/** Lets others have a turn. */
export const pause = (clock: Clock): Promise<void> =>
  new Promise((resolve) => {
    clock.after(0, resolve);
  });

const measured = new WeakMap<readonly Entry[], Totals>();

/** How much a set that is held already is. In turns, and once for each list. */
export async function measure(entries: readonly Entry[], clock: Clock): Promise<Totals> {
  const known = measured.get(entries);
  if (known !== undefined) return known;
  const sizes = new Map<EntryForm, number>();
  let taskCount = 0;
  let size = 0;
  for (let n = 0; n < entries.length; n++) {
    if (n > 0 && n % ENTRIES_PER_TURN === 0) await pause(clock);
    const entry = entries[n];
    if (entry === undefined) break;
    const { form, id, count, owner, taskIds } = entry;
    let formSize = sizes.get(form);
    if (formSize === undefined) sizes.set(form, (formSize = JSON.stringify(form).length));
    taskCount += count * tasksOf(form);
    size += ENTRY_SIZE + id.length + (owner?.length ?? 0) + formSize;
    for (const taskId of taskIds) size += taskId.length + 3;
  }
  const totals = { entryCount: entries.length, taskCount, size };
  measured.set(entries, totals);
  return totals;
}

function tasksOf(form: EntryForm): number {
  if (form.kind === 'single') return 1;
  return form.kind === 'gang' ? form.taskCount : form.bundles.length;
}

export const addTotals = (a: Totals, b: Totals): Totals => ({
  entryCount: a.entryCount + b.entryCount,
  taskCount: a.taskCount + b.taskCount,
  size: a.size + b.size,
});

/** What there is too much of, in words; null when all is within bounds. */
export function findExcess(totals: Totals): string | null {
  const { entryCount, taskCount, size } = totals;
  if (entryCount > SET_MAX.entryCount) {
    return `${entryCount} entries are above the limit of ${SET_MAX.entryCount} for one source`;
  }
  if (taskCount > SET_MAX.taskCount) {
    const counted = 'tasks, all counts multiplied out,';
    return `${taskCount} ${counted} are above the limit of ${SET_MAX.taskCount} for one source`;
  }
  if (size > SET_MAX.size) {
    return `${size} letters in the store are above the limit of ${SET_MAX.size} for one source`;
  }
  return null;
}

import { formText } from '../../api/demand-text.ts';
import type { ClassVerdict, Placement } from '../../model/decision.ts';
import { type DemandClass, type Entry, type EntryBatch, entryIdAt } from '../../model/demand.ts';
import type { EntryId } from '../../model/ids.ts';
import type { DemandPush } from '../../model/push.ts';
import type { InvalidDemand, Unmet } from '../../model/reason.ts';
import { must } from '../../support/assert.ts';
import { byText } from '../../support/order.ts';
import type { Turns } from '../../support/turns.ts';
import type { FleetView } from './fleet-view.ts';

export type Outcome =
  | { readonly kind: 'placed'; readonly placement: Placement }
  | { readonly kind: 'unmet'; readonly unmet: Unmet; readonly count: number };

/** What the last decision made of an entry. */
export interface DecidedEntry {
  readonly demand: DemandClass;
  /** In service order within its class, from 0. */
  readonly place: number;
  readonly outcome: Outcome;
}

/** How a name led to an entry. */
export type FoundBy =
  | { readonly kind: 'id' }
  /** The name of several: the first that waits is taken, or the first. */
  | { readonly kind: 'batch'; readonly placedCount: number; readonly unmetCount: number }
  | { readonly kind: 'task'; readonly taskId: string; readonly taskCount: number };

export interface FoundEntry {
  readonly id: EntryId;
  readonly by: FoundBy;
  readonly batch: Pick<EntryBatch, 'id' | 'count' | 'submittedAtMs' | 'owner'>;
  readonly form: DemandClass['form'];
  readonly priority: number;
  readonly invalid: InvalidDemand | null;
  /** Null: its scheduler no longer has it pending. */
  readonly push: DemandPush | null;
  /** Null: pushed since the last decision. */
  readonly decided: DecidedEntry | null;
}

interface Named {
  readonly id: string;
  readonly count: number;
  readonly taskIds: readonly string[];
}

type Match =
  | { readonly kind: 'entry'; readonly index: number }
  | { readonly kind: 'batch' }
  | { readonly kind: 'task' };

interface DecidedMatch {
  readonly demand: DemandClass;
  readonly verdict: ClassVerdict;
  readonly batch: EntryBatch;
  /** Place of the batch's first entry in the class. */
  readonly start: number;
  readonly match: Match;
}

/** Entries looked at before others have a turn: about a millisecond's worth. */
const LOOKS_PER_TURN = 5_000;

/**
 * Pending entries of a name: what is pushed, beside what the last decision saw. Every batch is looked
 * at, some at a time: an index of 100,000 would take longer to make than one look through them.
 */
export function* findEntries(view: FleetView, name: string): Turns<readonly FoundEntry[]> {
  const isNamed = createMatcher(name);
  const decided = new Set(yield* findDecided(view, isNamed));
  const found: FoundEntry[] = [];
  let looks = 0;
  for (const push of view.held.sources.toSorted((a, b) => byText(a.source, b.source))) {
    for (const entry of push.entries) {
      if (++looks % LOOKS_PER_TURN === 0) yield;
      const match = isNamed(entry);
      if (match === null) continue;
      const same = [...decided].find((one) => isSame(one, entry));
      if (same !== undefined) decided.delete(same);
      found.push(toFound({ name, match, entry, push, decided: same ?? null }));
    }
  }
  for (const one of decided) found.push(toWithdrawn(name, one));
  return found;
}

function createMatcher(name: string): (one: Named) => Match | null {
  const slash = name.lastIndexOf('/');
  const batchId = slash > 0 ? name.slice(0, slash) : null;
  const digits = name.slice(slash + 1);
  const index = batchId !== null && /^(0|[1-9]\d{0,8})$/.test(digits) ? Number(digits) : null;
  return ({ id, count, taskIds }) => {
    if (id === name) return count === 1 ? { kind: 'entry', index: 0 } : { kind: 'batch' };
    if (index !== null && count > 1 && index < count && id === batchId) {
      return { kind: 'entry', index };
    }
    return taskIds.length > 0 && taskIds.includes(name) ? { kind: 'task' } : null;
  };
}

function* findDecided(
  { last }: FleetView,
  isNamed: (one: Named) => Match | null,
): Turns<readonly DecidedMatch[]> {
  if (last === null) return [];
  const found: DecidedMatch[] = [];
  let looks = 0;
  for (const [index, demand] of last.input.demand.entries()) {
    let start = 0;
    for (const batch of demand.batches) {
      if (++looks % LOOKS_PER_TURN === 0) yield;
      const match = isNamed(batch);
      if (match !== null) {
        const verdict = must(last.output.decision.classes[index], 'one verdict per class');
        found.push({ demand, verdict, batch, start, match });
      }
      start += batch.count;
    }
  }
  return found;
}

/** Whether a decision was about this very entry: two schedulers may use the same names. */
const isSame = ({ demand, batch }: DecidedMatch, entry: Entry): boolean =>
  batch.id === entry.id &&
  batch.count === entry.count &&
  batch.owner === entry.owner &&
  batch.submittedAtMs === entry.submittedAtMs &&
  demand.priority === entry.priority &&
  formText(demand.form) === formText(entry.form);

function toFound(from: {
  readonly name: string;
  readonly match: Match;
  readonly entry: Entry;
  readonly push: DemandPush | null;
  readonly decided: DecidedMatch | null;
}): FoundEntry {
  const { match, entry, push, decided } = from;
  const index = decided === null ? indexOf(match) : indexIn(decided);
  const { id, count, submittedAtMs, owner, form, priority, invalid } = entry;
  return {
    id: entryIdAt({ ...entry, order: 0 }, index),
    by: toFoundBy(from.name, entry, { match, decided }),
    batch: { id, count, submittedAtMs, owner },
    form,
    priority,
    invalid,
    push,
    decided: decided === null ? null : decide(decided, index),
  };
}

function toWithdrawn(name: string, decided: DecidedMatch): FoundEntry {
  const { batch, demand, match } = decided;
  const { form, priority, invalid } = demand;
  const entry = { ...batch, form, priority, invalid };
  return toFound({ name, match, entry, push: null, decided });
}

const indexOf = (match: Match): number => (match.kind === 'entry' ? match.index : 0);

const placedCountOf = ({ placed }: ClassVerdict): number =>
  placed.reduce((sum, { count }) => sum + count, 0);

/** Of a whole batch: the first that waits, as that is what people ask about. */
function indexIn({ match, verdict, batch, start }: DecidedMatch): number {
  if (match.kind !== 'batch') return indexOf(match);
  const firstUnmet = Math.max(0, placedCountOf(verdict) - start);
  return firstUnmet < batch.count ? firstUnmet : 0;
}

function toFoundBy(
  name: string,
  { count, taskIds }: Named,
  { match, decided }: { readonly match: Match; readonly decided: DecidedMatch | null },
): FoundBy {
  if (match.kind === 'task') return { kind: 'task', taskId: name, taskCount: taskIds.length };
  if (match.kind === 'entry') return { kind: 'id' };
  const left = decided === null ? 0 : placedCountOf(decided.verdict) - decided.start;
  const placedCount = Math.min(count, Math.max(0, left));
  const unmetCount = decided === null ? 0 : count - placedCount;
  return { kind: 'batch', placedCount, unmetCount };
}

function decide({ demand, verdict, start }: DecidedMatch, index: number): DecidedEntry {
  const place = start + index;
  let end = 0;
  for (const placement of verdict.placed) {
    end += placement.count;
    if (place < end) return { demand, place, outcome: { kind: 'placed', placement } };
  }
  const unmet = must(verdict.unmet, 'what is not placed is unmet');
  return { demand, place, outcome: { kind: 'unmet', unmet, count: verdict.unmetCount } };
}

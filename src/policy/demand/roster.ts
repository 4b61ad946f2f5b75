import type { ClassVerdict, DemandDecision, Placement } from '../../model/decision.ts';
import { type DemandClass, type EntryBatch, entryIdAt } from '../../model/demand.ts';
import type { EntryId } from '../../model/ids.ts';
import type { Unmet } from '../../model/reason.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { must } from '../../support/assert.ts';

/** Neighbouring entries of one batch with the same outcome: those at `from` up to but not `to`. */
export interface RosterRow {
  readonly demand: DemandClass;
  readonly batch: EntryBatch;
  readonly from: number;
  readonly to: number;
  readonly outcome:
    | { readonly kind: 'placed'; readonly placement: Placement }
    | { readonly kind: 'unmet'; readonly unmet: Unmet };
}

/** Who got what: a decision by class, told entry by entry, in the order the entries were given. */
export function listRoster(snapshot: Snapshot, decision: DemandDecision): readonly RosterRow[] {
  const rows = snapshot.demand.flatMap((demand, index) =>
    rowsOf(demand, must(decision.classes[index], 'one verdict per class')),
  );
  return rows.sort((a, b) => a.batch.order - b.batch.order || a.from - b.from);
}

function rowsOf(demand: DemandClass, verdict: ClassVerdict): readonly RosterRow[] {
  const outcomes = verdict.placed.map((placement) => ({
    count: placement.count,
    outcome: { kind: 'placed', placement } as const,
  }));
  const shares: { count: number; readonly outcome: RosterRow['outcome'] }[] = [...outcomes];
  if (verdict.unmet !== null) {
    shares.push({ count: verdict.unmetCount, outcome: { kind: 'unmet', unmet: verdict.unmet } });
  }
  const rows: RosterRow[] = [];
  let next = 0;
  for (const batch of demand.batches) {
    let from = 0;
    while (from < batch.count) {
      const share = must(shares[next], 'every entry has an outcome');
      const some = Math.min(share.count, batch.count - from);
      rows.push({ demand, batch, from, to: from + some, outcome: share.outcome });
      share.count -= some;
      from += some;
      if (share.count === 0) next++;
    }
  }
  return rows;
}

/** The names of a row's entries, at most `limit` of them. */
export function idsOf(row: RosterRow, limit = Infinity): readonly EntryId[] {
  const count = Math.min(row.to - row.from, limit);
  return Array.from({ length: count }, (_, index) => entryIdAt(row.batch, row.from + index));
}

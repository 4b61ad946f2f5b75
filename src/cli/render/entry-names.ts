import type { EntryBatch } from '../../model/demand.ts';
import { type RosterRow, idsOf } from '../../policy/demand/roster.ts';

/** Entries by name: `train-7`, `sweep/0..499`, or `sweep/12 and 40 more`. */
export function nameEntries(row: RosterRow, count: number): string {
  const { batch, from, to } = row;
  const own = to - from;
  if (own === count) return nameRange(batch, from, to);
  const [first] = idsOf(row, 1);
  return `${own > 1 ? nameRange(batch, from, to) : first} and ${count - own} more`;
}

function nameRange(batch: EntryBatch, from: number, to: number): string {
  if (batch.count === 1) return batch.id;
  if (to - from === batch.count) return `${batch.id} x ${batch.count}`;
  return to - from === 1 ? `${batch.id}/${from}` : `${batch.id}/${from}..${to - 1}`;
}

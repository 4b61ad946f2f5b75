import { create } from '@bufbuild/protobuf';
import { z } from 'zod';
import type {
  ListEntriesRequest,
  ListEntriesResponse,
} from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import { ListEntriesResponseSchema } from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import { type EntryStatus, EntryStatusSchema } from '../../api/gen/bellows/v1/status_pb.ts';
import type { ClassVerdict, Placement } from '../../model/decision.ts';
import { type DemandClass, type EntryBatch, entryIdAt } from '../../model/demand.ts';
import { must } from '../../support/assert.ts';
import type { DecidedTick } from '../fleet-feed.ts';
import { classId } from './class-id.ts';
import { toSpots } from './demand-view.ts';
import { fromToken, invalid, pageSizeOf, toToken } from './paging.ts';
import { toTimestamp } from './wire-values.ts';

/** Where the next page begins, told so that it is found again in another tick. */
const placeSchema = z.object({
  class: z.string(),
  /** Among the classes: where the next one is found when this one is gone. */
  at: z.int().min(0),
  batch: z.string(),
  submittedAtMs: z.number(),
  order: z.number(),
  index: z.int().min(0),
});
type Place = z.infer<typeof placeSchema>;

const outcomes = ['placed', 'unmet'];

/** One entry, by its place. */
interface Row {
  readonly demand: DemandClass;
  readonly at: number;
  readonly batch: EntryBatch;
  readonly index: number;
  /** Null: it waits. */
  readonly placement: Placement | null;
}

/** A page of pending work, class by class. Costs what is shown, and a look at batches before it. */
export function listEntries(
  last: DecidedTick | null,
  request: Pick<ListEntriesRequest, 'classId' | 'outcome' | 'pageSize' | 'pageToken'>,
): ListEntriesResponse {
  const size = pageSizeOf(request.pageSize);
  const { outcome } = request;
  if (outcome !== '' && !outcomes.includes(outcome)) {
    throw invalid(`outcome is ${JSON.stringify(outcome)}; it may be ${outcomes.join(' or ')}`);
  }
  const from = fromToken(request.pageToken, placeSchema);
  const entries: EntryStatus[] = [];
  for (const row of walk(last, { only: onlyClass(last, request.classId, from), from, outcome })) {
    if (entries.length === size) {
      return create(ListEntriesResponseSchema, { entries, nextPageToken: toToken(placeOf(row)) });
    }
    entries.push(toEntry(row));
  }
  return create(ListEntriesResponseSchema, { entries });
}

/** The class asked for; null: all. */
function onlyClass(last: DecidedTick | null, id: string, from: Place | null): string | null {
  if (id === '') return null;
  if (from !== null && from.class !== id) {
    throw invalid(`page_token is of class ${from.class}, not of class_id ${id}; leave one out`);
  }
  const isThere = last?.input.demand.some((demand) => classId(demand) === id) === true;
  // A class that was there when its last page was read may be done by now: that is its end.
  if (isThere || from !== null) return id;
  throw invalid(
    `class_id is ${JSON.stringify(id)}, and nothing pending is of that class; GetAutoscalerStatus lists the classes`,
  );
}

interface Walk {
  readonly only: string | null;
  readonly from: Place | null;
  readonly outcome: string;
}

function* walk(last: DecidedTick | null, { only, from, outcome }: Walk): Generator<Row> {
  if (last === null) return;
  const { demand: classes } = last.input;
  const known = from === null ? -1 : classes.findIndex((demand) => classId(demand) === from.class);
  const first = known >= 0 ? known : (from?.at ?? 0);
  for (let at = first; at < classes.length; at++) {
    const demand = must(classes[at], 'a class');
    if (only !== null && classId(demand) !== only) continue;
    const verdict = must(last.output.decision.classes[at], 'one verdict per class');
    const start = at === known && from !== null ? offsetOf(demand, from) : 0;
    yield* walkClass({ demand, at, verdict }, start, outcome);
  }
}

/** Entries of the class before a place; of a batch that is gone, before the next one. */
function offsetOf({ batches }: DemandClass, { batch: id, submittedAtMs, order, index }: Place) {
  let next = batches.findIndex((batch) => batch.submittedAtMs === submittedAtMs && batch.id === id);
  const own = next < 0 ? 0 : Math.min(index, batches[next]?.count ?? 0);
  if (next < 0) {
    const isAfter = (batch: EntryBatch): boolean =>
      batch.submittedAtMs > submittedAtMs ||
      (batch.submittedAtMs === submittedAtMs && batch.order >= order);
    next = batches.findIndex(isAfter);
    if (next < 0) next = batches.length;
  }
  let offset = own;
  for (let n = 0; n < next; n++) offset += batches[n]?.count ?? 0;
  return offset;
}

interface Told {
  readonly demand: DemandClass;
  readonly at: number;
  readonly verdict: ClassVerdict;
}

/** The first entries in service order got the first placement, and so on; the rest wait. */
function* walkClass({ demand, at, verdict }: Told, start: number, outcome: string): Generator<Row> {
  const placedCount = demand.count - verdict.unmetCount;
  const from = Math.max(start, outcome === 'unmet' ? placedCount : 0);
  const to = outcome === 'placed' ? placedCount : demand.count;
  let [place, placedTo] = [0, verdict.placed[0]?.count ?? 0];
  let base = 0;
  for (const batch of demand.batches) {
    if (base >= to) return;
    const end = Math.min(base + batch.count, to);
    for (let offset = Math.max(base, from); offset < end; offset++) {
      while (offset >= placedTo && place < verdict.placed.length) {
        place++;
        placedTo += verdict.placed[place]?.count ?? 0;
      }
      const placement = verdict.placed[place] ?? null;
      yield { demand, at, batch, index: offset - base, placement };
    }
    base += batch.count;
  }
}

const placeOf = ({ demand, at, batch, index }: Row): Place => {
  const { id, submittedAtMs, order } = batch;
  return { class: classId(demand), at, batch: id, submittedAtMs, order, index };
};

function toEntry({ demand, batch, index, placement }: Row): EntryStatus {
  return create(EntryStatusSchema, {
    id: entryIdAt(batch, index),
    classId: classId(demand),
    submittedAt: toTimestamp(batch.submittedAtMs),
    owner: batch.owner ?? '',
    outcome: placement === null ? 'unmet' : 'placed',
    spots: toSpots(placement?.spots ?? []),
    taskIds: batch.count === 1 ? [...batch.taskIds] : [],
  });
}

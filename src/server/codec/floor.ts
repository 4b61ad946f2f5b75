import { invalidText } from '../../api/reason-text.ts';
import type { RequestResourcesRequest } from '../../api/gen/bellows/v1/demand_pb.ts';
import { TASKS_MAX } from '../../config/snapshot-schema.ts';
import type { Floor } from '../../model/demand.ts';
import { entryId } from '../../model/ids.ts';
import { findInvalid } from '../../policy/demand/validity.ts';
import { readAsk } from './ask.ts';
import { checkText, Complaints, ID_LENGTH_MAX } from './complaints.ts';
import { readSpan } from './spans.ts';

const TTL = { minMs: 10_000, maxMs: 30 * 86_400_000, usualMs: 3_600_000 };

/** A floor to hold for a while, or one to drop. */
export type FloorWish =
  | { readonly kind: 'hold'; readonly floor: Floor; readonly ttlMs: number }
  | { readonly kind: 'drop'; readonly id: string };

export function readFloor(request: RequestResourcesRequest): FloorWish {
  const { id, count } = request;
  const complaints = new Complaints();
  checkText(id, { path: ['id'], lengthMax: ID_LENGTH_MAX, complaints });
  if (count === 0) {
    complaints.settle();
    return { kind: 'drop', id };
  }
  if (count > TASKS_MAX) {
    const message = `${count} copies are above the limit of ${TASKS_MAX}`;
    complaints.add(['count'], message, 'lower the count');
  }
  const ttlMs = readSpan(request.ttl, { path: ['ttl'], range: TTL, complaints }) ?? TTL.usualMs;
  const ask = readAsk(request.ask, ['ask'], complaints);
  // Pending work that makes no sense is shown as such; a floor has nobody to look at it.
  const invalid = findInvalid({ kind: 'single', ask });
  if (invalid !== null) {
    complaints.add(['ask', 'constraints'], invalidText(invalid), 'correct or drop one');
  }
  complaints.settle();
  return { kind: 'hold', floor: { id: entryId(id), ask, count }, ttlMs };
}

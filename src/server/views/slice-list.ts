import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { z } from 'zod';
import {
  type ListSlicesRequest,
  type ListSlicesResponse,
  ListSlicesResponseSchema,
} from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import type { SliceId } from '../../model/ids.ts';
import { isLive, type SliceRecord, type TrackedSlice } from '../../model/slice-record.ts';
import { sliceStatuses } from '../../model/slice.ts';
import { nearestName } from '../../support/nearest.ts';
import { byText } from '../../support/order.ts';
import type { DecidedTick } from '../fleet-feed.ts';
import type { ServedFleet } from '../served-fleet.ts';
import { fromToken, invalid, pageSizeOf, toToken } from './paging.ts';
import { type SeenSlice, toSlice } from './slice-view.ts';

const IDS_MAX = 1_000;

/** The last id of the page before: ids are never given twice, so the place holds between ticks. */
const placeSchema = z.object({ after: z.string() });

type Ask = Omit<ListSlicesRequest, '$typeName' | '$unknown' | 'fleet'>;

/** The slices of one fleet, with what its last decision says of them. */
export class SliceList {
  readonly #fleet: ServedFleet;
  #seen: {
    readonly last: DecidedTick;
    readonly slices: ReadonlyMap<SliceId, SeenSlice>;
  } | null = null;

  constructor(fleet: ServedFleet) {
    this.#fleet = fleet;
  }

  list(ask: Ask): ListSlicesResponse {
    const size = pageSizeOf(ask.pageSize);
    const from = fromToken(ask.pageToken, placeSchema);
    const { controller } = this.#fleet;
    const records = [...controller.slices()];
    const matches = createFilter(ask, controller.last, records);
    const found = records.filter(matches);
    const rest = from === null ? found : found.filter(({ id }) => id > from.after);
    rest.sort((a, b) => byText(a.id, b.id));
    const page = rest.slice(0, size);
    const seen = this.#seenIn(controller.last);
    const told = { nowMs: controller.now, withHistory: ask.withHistory };
    const lastId = page.at(-1)?.id;
    return create(ListSlicesResponseSchema, {
      slices: page.map((record) => toSlice(record, seen.get(record.id), told)),
      nextPageToken:
        rest.length > page.length && lastId !== undefined ? toToken({ after: lastId }) : '',
      totalCount: found.length,
    });
  }

  #seenIn(last: DecidedTick | null): ReadonlyMap<SliceId, SeenSlice> {
    if (last === null) return new Map();
    if (this.#seen?.last !== last) this.#seen = { last, slices: indexSlices(last) };
    return this.#seen.slices;
  }
}

function indexSlices({ input, output }: DecidedTick): ReadonlyMap<SliceId, SeenSlice> {
  const slices = new Map<SliceId, TrackedSlice>();
  for (const slice of input.slices) slices.set(slice.id, slice);
  const seen = new Map<SliceId, SeenSlice>();
  for (const { verdict, sliceIds } of output.verdicts) {
    for (const id of sliceIds) {
      const slice = slices.get(id);
      if (slice !== undefined) seen.set(id, { slice, verdict });
    }
  }
  return seen;
}

function createFilter(
  { group, statuses, sliceIds }: Ask,
  last: DecidedTick | null,
  records: readonly SliceRecord[],
): (record: SliceRecord) => boolean {
  if (group !== '') checkGroup(group, last, records);
  const known: ReadonlySet<string> = new Set(sliceStatuses);
  for (const status of statuses) {
    if (known.has(status)) continue;
    throw invalid(`statuses names ${JSON.stringify(status)}; there is ${sliceStatuses.join(', ')}`);
  }
  if (sliceIds.length > IDS_MAX) {
    throw invalid(`slice_ids has ${sliceIds.length} ids; it may have ${IDS_MAX} at most`);
  }
  const wanted: ReadonlySet<string> = new Set(statuses);
  const ids: ReadonlySet<string> = new Set(sliceIds);
  return (record) =>
    (group === '' || record.group === group) &&
    (wanted.size === 0 ? isLive(record) : wanted.has(record.status)) &&
    (ids.size === 0 || ids.has(record.id));
}

/** Groups of the configuration, and those that only slices remember. */
function checkGroup(
  group: string,
  last: DecidedTick | null,
  records: readonly SliceRecord[],
): void {
  const names = new Set<string>(last?.input.control.fleet.groups.map(({ name }) => name));
  for (const record of records) names.add(record.group);
  if (names.has(group)) return;
  const near = nearestName(group, [...names]);
  const hint = near === null ? '' : `; did you mean ${near}?`;
  throw new ConnectError(`there is no group ${JSON.stringify(group)}${hint}`, Code.NotFound);
}

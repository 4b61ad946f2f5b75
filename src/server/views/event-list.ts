import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { eventKinds } from '../../api/event-text.ts';
import {
  type ListEventsRequest,
  type ListEventsResponse,
  ListEventsResponseSchema,
} from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import type { Event } from '../../api/gen/bellows/v1/status_pb.ts';
import type { FleetEvent } from '../../model/event.ts';
import { epochMs, type EpochMs } from '../../model/ids.ts';
import { isWithin, type Scoped } from '../../model/trouble.ts';
import { type EventRow, type Store, StoreError } from '../../ports/store.ts';
import { nearestName } from '../../support/nearest.ts';
import type { ServedFleet } from '../served-fleet.ts';
import { toEvent } from './event-view.ts';
import { invalid, pageSizeOf } from './paging.ts';
import { fromTimestamp } from './wire-values.ts';

const HOUR_MS = 3_600_000;
/** Rows read at a time, and in one call: a filter that finds little is asked again from there. */
const ROWS_PER_READ = 1_000;
const ROWS_MAX = 20_000;

type Ask = Omit<ListEventsRequest, '$typeName' | '$unknown' | 'fleet'>;

/** A page of what happened, oldest first. */
export async function listEvents(fleet: ServedFleet, ask: Ask): Promise<ListEventsResponse> {
  const size = pageSizeOf(ask.pageSize);
  const { controller, store } = fleet;
  const sinceMs = ask.since === undefined ? controller.now - HOUR_MS : fromTimestamp(ask.since);
  const groups = controller.control.fleet.groups;
  const matches = createFilter(ask, groups);
  const page = await readPage(store, {
    sinceMs: epochMs(sinceMs),
    afterSeq: Number(ask.afterSeq ?? -1n),
    size,
    matches,
  });
  return create(ListEventsResponseSchema, {
    events: page.events,
    nextAfterSeq: page.nextAfterSeq === null ? undefined : BigInt(page.nextAfterSeq),
  });
}

function createFilter(
  { kinds, subject }: Ask,
  groups: readonly Scoped[],
): (event: FleetEvent) => boolean {
  for (const kind of kinds) {
    if (eventKinds.includes(kind)) continue;
    const near = nearestName(kind, eventKinds);
    const hint = near === null ? `there is ${eventKinds.join(', ')}` : `did you mean ${near}?`;
    throw invalid(`kinds names ${JSON.stringify(kind)}; ${hint}`);
  }
  const wanted: ReadonlySet<string> = new Set(kinds);
  const group = groups.find(({ name }) => name === subject);
  return (event) =>
    (wanted.size === 0 || wanted.has(event.kind)) &&
    (subject === '' || isAbout(event, subject, group));
}

/** Whether it names the slice or group, or stops launches in a scope that the group lies in. */
function isAbout(event: FleetEvent, subject: string, group: Scoped | undefined): boolean {
  switch (event.kind) {
    case 'slice-moved':
    case 'launch-refused':
    case 'stray-machine':
      return event.sliceId === subject || event.group === subject;
    case 'backoff-started':
    case 'backoff-ended': {
      const { scope } = event.trouble;
      return scope.name === subject || (group !== undefined && isWithin(scope, group));
    }
    case 'gang-rolled-back':
      return event.gang === subject || event.sliceIds.some((id) => id === subject);
    case 'paused':
      return event.pause.group === subject;
    case 'group-removed':
      return event.group === subject;
    default:
      return false; // about the fleet, a provider, or nothing that this version knows
  }
}

interface PageAsk {
  readonly sinceMs: EpochMs;
  readonly afterSeq: number;
  readonly size: number;
  readonly matches: (event: FleetEvent) => boolean;
}

interface Page {
  readonly events: Event[];
  /** Null: there is nothing more. */
  readonly nextAfterSeq: number | null;
}

async function readPage(store: ServedFleet['store'], ask: PageAsk): Promise<Page> {
  const events: Event[] = [];
  let { afterSeq } = ask;
  for (let read = 0; read < ROWS_MAX; read += ROWS_PER_READ) {
    const { sinceMs } = ask;
    const rows = await readRows(store, { sinceMs, afterSeq, limit: ROWS_PER_READ });
    for (const [index, { seq, atMs, text }] of rows.entries()) {
      if (events.length === ask.size)
        return { events, nextAfterSeq: rows[index - 1]?.seq ?? afterSeq };
      const event = parseEvent(text);
      if (ask.matches(event)) events.push(toEvent({ seq, atMs, event }));
    }
    afterSeq = rows.at(-1)?.seq ?? afterSeq;
    if (rows.length < ROWS_PER_READ) return { events, nextAfterSeq: null };
  }
  return { events, nextAfterSeq: afterSeq };
}

/** A store that fails for a while is not the caller's mistake. */
async function readRows(
  store: ServedFleet['store'],
  ask: Parameters<Store['readEvents']>[0],
): Promise<readonly EventRow[]> {
  try {
    return await store.readEvents(ask);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const message = `the store cannot be read now: ${error.message}; ask again`;
    throw new ConnectError(message, Code.Unavailable, undefined, undefined, error);
  }
}

/** Written by the controller, in one transaction with what it tells of. */
function parseEvent(text: string): FleetEvent {
  return JSON.parse(text);
}

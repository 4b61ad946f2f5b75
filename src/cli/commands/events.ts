import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { eventKinds } from '../../api/event-text.ts';
import { ListEventsResponseSchema } from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import { type Event, EventSchema } from '../../api/gen/bellows/v1/status_pb.ts';
import { parseDuration } from '../../config/quantity.ts';
import { type Remote, type ServerOptions, runRemote } from '../client.ts';
import { jsonDocument, jsonLine, toJsonValue } from '../json.ts';
import { CommandError, textOf, textsOf, wordOf } from '../option-values.ts';
import { exitCodes } from '../output.ts';
import { callPatiently, createOutageTeller } from '../patience.ts';
import { renderEvents } from '../render/events.ts';
import { plural } from '../render/words.ts';
import { type Surroundings, pauseFor } from '../surroundings.ts';
import { createView } from '../view.ts';

interface EventsOptions extends ServerOptions {
  readonly since?: unknown;
  readonly follow?: unknown;
  readonly kind?: unknown;
}

const EVENTS_MAX = 10_000;
const PAGE_SIZE = 1_000;
/** A filter may leave pages empty. */
const PAGES_MAX = 1_000;
const POLL_MS = 1_000;

interface Filter {
  readonly sinceMs: number | null;
  readonly kinds: readonly string[];
  readonly subject: string;
}

/** `bellows events [SUBJECT]`: what happened, oldest first; with `--follow`, what happens from now on too. */
export function runEvents(
  subject: string | undefined,
  options: EventsOptions,
  around: Surroundings,
): Promise<number> {
  return runRemote(options, around, async (remote) => {
    const filter: Filter = {
      sinceMs: parseSince(options.since, around.nowMs()),
      kinds: textsOf(options.kind).map((kind) => wordOf('--kind', kind, eventKinds)),
      subject: subject ?? '',
    };
    if (options.follow === true) return follow(remote, filter, options, around);
    const { events, nextAfterSeq } = await listEvents(remote, filter, null);
    const { out } = around;
    if (options.json === true) {
      const answer = create(ListEventsResponseSchema, {
        events: [...events],
        ...(nextAfterSeq === null ? {} : { nextAfterSeq }),
      });
      out.stdout(jsonDocument(toJsonValue(ListEventsResponseSchema, answer)));
    } else if (events.length === 0) {
      const when =
        textOf(options.since) === null ? ' in the last hour; --since 1d looks further' : '';
      out.stdout(`no events${when}\n`);
    } else {
      out.stdout(renderEvents(events, createView(around)));
    }
    if (nextAfterSeq !== null) {
      const shown = `the first ${plural(events.length, 'event')}`;
      out.stderr(`${shown} shown; a later --since, --kind or a subject narrows it down\n`);
    }
    return exitCodes.ok;
  });
}

async function follow(
  remote: Remote,
  filter: Filter,
  options: EventsOptions,
  around: Surroundings,
): Promise<number> {
  const signal = around.interrupted();
  const teller = createOutageTeller(remote, around);
  let afterSeq: bigint | null = null;
  while (!signal.aborted) {
    const after: bigint | null = afterSeq;
    const list: EventList | null = await callPatiently(
      () => listEvents(remote, filter, after),
      teller,
      signal,
    );
    if (list === null) break;
    around.out.stdout(
      options.json === true
        ? list.events.map((event) => jsonLine(toJsonValue(EventSchema, event))).join('')
        : renderEvents(list.events, createView(around)),
    );
    afterSeq = list.nextAfterSeq ?? list.events.at(-1)?.seq ?? afterSeq;
    // More than one answer holds is waiting: no reason to pause.
    if (list.nextAfterSeq === null) await pauseFor(POLL_MS, signal);
  }
  return exitCodes.ok;
}

interface EventList {
  readonly events: readonly Event[];
  /** Set when there are more than we fetch at a time. */
  readonly nextAfterSeq: bigint | null;
}

async function listEvents(
  { client, fleet }: Remote,
  { sinceMs, kinds, subject }: Filter,
  afterSeq: bigint | null,
): Promise<EventList> {
  const ask = {
    fleet,
    kinds: [...kinds],
    subject,
    pageSize: PAGE_SIZE,
    ...(sinceMs === null ? {} : { since: timestampFromMs(sinceMs) }),
  };
  const events: Event[] = [];
  let after = afterSeq;
  for (let pages = 0; pages < PAGES_MAX && events.length < EVENTS_MAX; pages++) {
    const page = await client.listEvents({
      ...ask,
      ...(after === null ? {} : { afterSeq: after }),
    });
    events.push(...page.events);
    after = page.nextAfterSeq ?? null;
    if (after === null) break;
  }
  return { events, nextAfterSeq: after };
}

/** `2h` ago, or a point in time, local like all that is shown; null when it is not given. */
function parseSince(value: unknown, nowMs: number): number | null {
  const text = textOf(value);
  if (text === null) return null;
  const duration = parseDuration(text);
  if (duration.kind === 'ok') return nowMs - duration.value;
  const isTime = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/.test(text);
  const whole = text.length > 10 ? text.replace(' ', 'T') : `${text}T00:00`;
  const ms = isTime ? Date.parse(whole) : Number.NaN;
  if (ms >= 0) return ms;
  const remedy = 'write 2h for two hours ago, or 2026-11-15T06:00Z';
  throw new CommandError(`--since: ${JSON.stringify(text)} is not a time; ${remedy}`);
}

import { create, type JsonObject } from '@bufbuild/protobuf';
import { eventKinds, eventText } from '../../api/event-text.ts';
import { type Event, EventSchema } from '../../api/gen/bellows/v1/status_pb.ts';
import type { FleetEvent } from '../../model/event.ts';
import type { NumberedEvent } from '../fleet-feed.ts';
import { toTimestamp } from './wire-values.ts';

const known = new WeakMap<NumberedEvent, Event>();

/** Recent events are shown with every status: each is put into words once. */
export function toRecentEvent(numbered: NumberedEvent): Event {
  let event = known.get(numbered);
  if (event === undefined) known.set(numbered, (event = toEvent(numbered)));
  return event;
}

export function toEvent({ seq, atMs, event }: NumberedEvent): Event {
  // A journal may hold kinds that another version of Bellows wrote: they are told by their fields.
  const text = isKnown(event) ? eventText({ atMs, event }) : event.kind;
  return create(EventSchema, {
    seq: BigInt(seq),
    at: toTimestamp(atMs),
    kind: event.kind,
    text,
    fields: toFields(event),
  });
}

const isKnown = ({ kind }: FleetEvent): boolean => eventKinds.includes(kind);

// Events are plain data, as their JSON in the store shows; the type does not say so.
const toFields = (event: FleetEvent): JsonObject => ({ ...event }) as JsonObject;

import type { FleetEvent, TimedEvent } from '../model/event.ts';
import type { EventRow } from '../ports/store.ts';

/** Events for the store, numbered from `firstSeq` on. */
export const toRows = (events: readonly TimedEvent[], firstSeq: number): readonly EventRow[] =>
  events.map(({ atMs, event }, index) => {
    return { seq: firstSeq + index, atMs, text: JSON.stringify(event) };
  });

/** The flat fields of an event, for a log line. */
export function toFields(event: FleetEvent): Record<string, string | number | boolean | null> {
  const fields: Record<string, string | number | boolean | null> = {};
  for (const [name, value] of Object.entries(event)) {
    if (name === 'kind') continue;
    fields[name] =
      typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as string);
  }
  return fields;
}

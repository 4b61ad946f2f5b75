import type { FleetEvent } from '../model/event.ts';

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

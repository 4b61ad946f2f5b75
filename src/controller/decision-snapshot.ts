import type { Snapshot } from '../model/snapshot.ts';
import type { TickInput } from '../model/tick.ts';
import { findConditions } from '../planner/conditions.ts';
import { prepare, type Prepared, toSnapshot } from '../planner/prepare.ts';
import { applyCalendars } from '../policy/calendar.ts';
import { withLearnedHosts } from '../policy/learned-host.ts';

/** What the demand decision of a tick looks at, and what was settled before it. */
export interface Grounds {
  /** With calendars applied, and hosts as they turned out to be. */
  readonly input: TickInput;
  readonly prepared: Prepared;
  readonly snapshot: Snapshot;
}

export function groundsOf(given: TickInput): Grounds {
  const hosts = withLearnedHosts(given.control, given.learned);
  const input = { ...given, control: applyCalendars(hosts, given.atMs) };
  const prepared = prepare(input, findConditions(input));
  return { input, prepared, snapshot: toSnapshot(input, prepared) };
}

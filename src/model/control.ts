import type { Bootstrap } from './bootstrap.ts';
import type { Fleet } from './fleet.ts';
import type { GroupName } from './ids.ts';

/** How long a slice may wait in each status; the consequences are in `lifecycle/timeouts.ts`. */
export interface Timeouts {
  readonly requestingMs: number;
  readonly bootingMs: number;
  readonly initializingMs: number;
  readonly drainingMs: number;
  readonly gangAssemblyMs: number;
  readonly registrationGraceMs: number;
}

/** What becomes of slices whose group changed its shape or bootstrap. */
export type OnChange = 'keep' | 'replace-idle' | 'roll';

/**
 * What a ready host counts as that nobody ever reported on. `busy` is safe: somebody may use it.
 * `idle` is for groups where all that needs room is pushed, running work too.
 */
export type Unreported = 'busy' | 'idle';

/** How one group is run, beside what it offers (Group). */
export interface GroupControl {
  readonly group: GroupName;
  readonly idleTimeoutMs: number;
  readonly timeouts: Timeouts;
  readonly onChange: OnChange;
  readonly unreported: Unreported;
  /** Launches of it at a time; null: no limit of its own. */
  readonly concurrentLaunchesMax: number | null;
  /** Fingerprint of shape and bootstrap: slices with another one are outdated. */
  readonly shape: string;
  /** The provider's own words for a machine: instanceType, image, ... */
  readonly launch: Readonly<Record<string, string>>;
  /** Null: an outside scheduler sees to it. */
  readonly bootstrap: Bootstrap | null;
}

/** How one provider is called. */
export interface ProviderControl {
  readonly name: string;
  readonly callTimeoutMs: number;
  readonly concurrentCalls: number;
}

/** Hours at which a group keeps more than its own min or spare. */
export interface CalendarEntry {
  readonly calendar: string;
  readonly timeZone: string;
  readonly group: GroupName;
  /** 0 is Sunday. */
  readonly days: readonly number[];
  /** Minutes of the day; `to` not after `from` means the next day. */
  readonly fromMinute: number;
  readonly toMinute: number;
  readonly min: number | null;
  readonly spare: number | null;
}

/** Limits on giving back: null means no limit. */
export interface BlastRadius {
  /** Slices that scale-down may start to drain or cancel in any minute. */
  readonly terminationsPerMinute: number | null;
  /** Share of a fleet's ready slices that may drain at a time; one may always. */
  readonly drainingRatio: number | null;
}

/** What the controller needs of a configuration; `fleet` before any calendar. */
export interface Control {
  readonly fleet: Fleet;
  /** One per group of the fleet, in its order. */
  readonly groups: readonly GroupControl[];
  readonly providers: readonly ProviderControl[];
  /** Groups of an earlier configuration that still have slices: they drain and never grow. */
  readonly retired: readonly GroupName[];
  readonly calendars: readonly CalendarEntry[];
  readonly blastRadius: BlastRadius;
  readonly evaluationIntervalMs: number;
  readonly reconcileIntervalMs: number;
  /** `advisory`: decide and record, never act. */
  readonly mode: 'active' | 'advisory';
}

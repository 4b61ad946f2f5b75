import type { Constraint } from './constraint.ts';
import type { EpochMs, GroupName } from './ids.ts';

/** The request itself is wrong; no fleet could serve it. */
export type InvalidDemand =
  | { readonly kind: 'mixed-gang'; readonly differences: readonly GangDifference[] }
  | { readonly kind: 'contradictory-constraints'; readonly constraints: readonly Constraint[] }
  | {
      readonly kind: 'ill-typed-constraint';
      readonly constraint: Constraint;
      readonly expected: string;
    }
  | { readonly kind: 'bundles-under-priority' }
  | { readonly kind: 'zero-tasks' }
  /** Its scheduler says so. */
  | { readonly kind: 'declared'; readonly detail: string };

/** A field in which tasks of one gang differ, with the tasks behind each value. */
export interface GangDifference {
  readonly field: string;
  readonly values: readonly { readonly value: string; readonly taskIds: readonly string[] }[];
}

export interface Shortage {
  readonly resource: string;
  readonly need: number;
  readonly have: number;
}

/** The first rule by which a group cannot take an entry. A closed list, in the order of checking. */
export type Exclusion =
  | { readonly kind: 'device'; readonly need: string; readonly have: string }
  | { readonly kind: 'variant'; readonly need: readonly string[]; readonly have: string | null }
  | { readonly kind: 'preemptible'; readonly need: boolean; readonly have: boolean }
  | { readonly kind: 'constraint'; readonly constraint: Constraint; readonly have: string | null }
  | { readonly kind: 'gang-shape'; readonly tasks: number; readonly hostsPerSlice: number }
  | { readonly kind: 'host-too-small'; readonly shortages: readonly Shortage[] }
  | Bound
  | { readonly kind: 'backoff' | 'stockout' | 'quota-exceeded'; readonly untilMs: EpochMs | null }
  | { readonly kind: 'deferred'; readonly untilMs: EpochMs | null }
  | { readonly kind: 'paused'; readonly untilMs: EpochMs | null }
  | { readonly kind: 'draining-group' };

/** A limit on slices that stands in the way: what was needed, what was left of how much. */
export type Bound =
  | { readonly kind: 'at-max'; readonly need: number; readonly have: number; readonly max: number }
  | (SharedBound & {
      readonly kind: 'quota-pool';
      readonly pool: string;
      readonly resource: string;
    })
  | (SharedBound & { readonly kind: 'spend-cap' })
  | (SharedBound & { readonly kind: 'fleet-max' });

interface SharedBound {
  readonly need: number;
  readonly have: number;
  readonly max: number;
  /** What groups below their min would draw first if there were more; 0 in a checked config. */
  readonly owed: number;
}

export interface GroupExclusion {
  readonly group: GroupName;
  readonly exclusion: Exclusion;
}

/** Why an entry waits, from the most basic failing to the most passing one. */
export const unmetCodes = [
  'invalid-demand',
  'no-matching-group',
  'gang-mismatch',
  'insufficient-resources',
  'no-capacity',
] as const;
export type UnmetCode = (typeof unmetCodes)[number];

/** One edit, to the config or to the request, after which the entry would be admitted. */
export type Change =
  | {
      readonly kind: 'raise-max';
      readonly group: GroupName;
      readonly from: number;
      readonly to: number;
    }
  | {
      readonly kind: 'raise-quota';
      readonly pool: string;
      readonly resource: string;
      readonly from: number;
      readonly to: number;
    }
  | { readonly kind: 'raise-spend-cap'; readonly from: number; readonly to: number }
  | { readonly kind: 'raise-fleet-max'; readonly from: number; readonly to: number }
  | {
      readonly kind: 'end-condition';
      readonly group: GroupName;
      readonly condition: 'backoff' | 'stockout' | 'quota-exceeded' | 'paused' | 'draining';
      readonly untilMs: EpochMs | null;
    }
  | {
      readonly kind: 'ask-value';
      readonly group: GroupName;
      readonly constraint: Constraint;
      readonly to: readonly string[];
    }
  | { readonly kind: 'ask-without'; readonly group: GroupName; readonly constraint: Constraint }
  | {
      readonly kind: 'ask-device';
      readonly group: GroupName;
      readonly from: string;
      readonly to: string;
    }
  | {
      readonly kind: 'ask-variant';
      readonly group: GroupName;
      readonly from: readonly string[];
      readonly to: string;
    }
  | { readonly kind: 'ask-preemptible'; readonly group: GroupName; readonly to: boolean }
  | {
      readonly kind: 'ask-tasks';
      readonly group: GroupName;
      readonly from: number;
      readonly to: number;
    }
  | {
      readonly kind: 'ask-less';
      readonly group: GroupName;
      readonly shortages: readonly Shortage[];
    };

/** A name in a request that looks like another one. */
export type Hint =
  | {
      readonly kind: 'did-you-mean';
      readonly key: string;
      readonly value: string;
      readonly known: string;
    }
  | {
      readonly kind: 'other-key';
      readonly key: string;
      readonly value: string;
      readonly knownKey: string;
    }
  | { readonly kind: 'unknown-key'; readonly key: string; readonly known: string | null }
  | {
      readonly kind: 'known-variants';
      readonly type: string;
      readonly variants: readonly string[];
    };

/** Why an entry waits, for every group, and what would end it. */
export interface Unmet {
  readonly code: UnmetCode;
  readonly invalid: InvalidDemand | null;
  /** Of bundles, the part that found no place; 0 otherwise. */
  readonly part: number;
  /** Every group, in config order, with the first rule that excluded it. Empty for invalid demand. */
  readonly groups: readonly GroupExclusion[];
  /** True when the fleet, empty and untroubled, could take it: it waits. False: it never runs here. */
  readonly isEverAdmitted: boolean;
  /** Null where no single change is enough. */
  readonly change: Change | null;
  /** How many of the waiting entries the change admits. */
  readonly changeAdmits: number;
  /** Where no single change is enough: the group with the fewest rules in the way, and all of them. */
  readonly nearest: { readonly group: GroupName; readonly rules: readonly Exclusion[] } | null;
  readonly hints: readonly Hint[];
}

/** Where room for a task comes from, cheapest first. */
export type RoomKind = 'free-room' | 'on-its-way' | 'new';

/** Why this group and not another. */
export type PlacedWhy =
  /** Room that is paid for already. */
  | { readonly kind: 'room-there' }
  /** The first group by rank that could take it. */
  | { readonly kind: 'first-by-rank'; readonly priority: number }
  /** The best score of utilization at its turn. */
  | { readonly kind: 'best-utilization' }
  /** Room left over on slices that are opened for other work: nothing more to pay. */
  | { readonly kind: 'fills-up' }
  /** Dearer by its share than elsewhere, but cheapest in the whole slices that it alone fills. */
  | { readonly kind: 'whole-slices'; readonly costMicroUsdPerHour: number }
  /** The plan that costs least puts it there; its share of the slice's price, per hour. */
  | { readonly kind: 'least-cost'; readonly shareMicroUsdPerHour: number };

/** The best other group for the same entry, and what its share there would cost per hour. */
export interface RunnerUp {
  readonly group: GroupName;
  readonly shareMicroUsdPerHour: number | null;
}

export const groupAvailabilities = [
  'available',
  'requesting',
  'backoff',
  'stockout',
  'quota-exceeded',
  'at-max',
  'paused',
  'draining',
] as const;
export type GroupAvailability = (typeof groupAvailabilities)[number];

/** What became of a group in this decision. */
export type GroupVerdict =
  | { readonly kind: 'selected' }
  | { readonly kind: 'blocked'; readonly by: Exclusion }
  | { readonly kind: 'at-max'; readonly total: number; readonly max: number }
  | { readonly kind: 'idle' };

import type { Strategy } from './fleet.ts';
import type { GroupName } from './ids.ts';
import type {
  Exclusion,
  GroupAvailability,
  GroupVerdict,
  PlacedWhy,
  RoomKind,
  RunnerUp,
  Unmet,
} from './reason.ts';

/** So many tasks of an entry, on this kind of room in this group. */
export interface Spot {
  readonly group: GroupName;
  readonly room: RoomKind;
  readonly tasks: number;
}

/** `count` entries of a class, all placed alike. */
export interface Placement {
  readonly count: number;
  readonly spots: readonly Spot[];
  readonly why: PlacedWhy;
  readonly runnerUp: RunnerUp | null;
}

/**
 * What became of a class. The first `placed[0].count` entries in service order got the first
 * placement, and so on; the rest are unmet.
 */
export interface ClassVerdict {
  readonly placed: readonly Placement[];
  readonly unmetCount: number;
  /** Set when and only when `unmetCount` is positive. */
  readonly unmet: Unmet | null;
}

export interface FloorVerdict {
  /** Copies that hosts there, on their way or launched now can hold. */
  readonly heldCount: number;
  readonly unmet: Unmet | null;
}

/** New slices of a group, by what asked for them. */
export interface LaunchCauses {
  readonly demand: number;
  readonly min: number;
  readonly spare: number;
  readonly floor: number;
}

export interface GroupReport {
  readonly group: GroupName;
  readonly availability: GroupAvailability;
  readonly verdict: GroupVerdict;
  /** Slices that count against `max`. */
  readonly total: number;
  readonly launch: number;
  readonly causes: LaunchCauses;
  /** Of new slices alone; null when the group has no price. */
  readonly costMicroUsdPerHour: number | null;
  /** Whole slices without work that no want of this decision uses. */
  readonly unused: { readonly ready: number; readonly onItsWay: number };
  /** Slices, there or coming, that floors are held with. */
  readonly held: number;
  /** Slices missing to `min` or `spare`, with the bound that forbids them. */
  readonly shortfall: { readonly slices: number; readonly by: Exclusion } | null;
}

/** Which slices to launch, and why, for every class of work and every group. */
export interface DemandDecision {
  readonly strategy: Strategy;
  /** One per group, in config order. */
  readonly groups: readonly GroupReport[];
  /** One per demand class of the snapshot, in its order. */
  readonly classes: readonly ClassVerdict[];
  readonly floors: readonly FloorVerdict[];
  /** Price of all launches; groups without a price count as 0. */
  readonly costMicroUsdPerHour: number;
}

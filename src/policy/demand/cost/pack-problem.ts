/**
 * The packing problem in numbers: what the cost strategy solves once names, constraints and gangs
 * are out of the way. Flat arrays, because the search spends its life in them.
 *
 * A *type* is a group, launched in *units* (slices) of `hostsPerUnit` equal hosts. A *shape* is a
 * class of single tasks. A *room* is free space on hosts that cost nothing more: reported free
 * room, capacity on its way, slices that the minimum launches anyway.
 */
export interface PackProblem {
  readonly resourceCount: number;
  readonly shapeCount: number;
  readonly typeCount: number;
  /** `need[shape * resourceCount + resource]`, integers in the resource's smallest unit. */
  readonly need: Float64Array;
  /** Copies of each shape to place. */
  readonly count: Int32Array;
  /** Free room of one empty host: `capacity[type * resourceCount + resource]`. */
  readonly capacity: Float64Array;
  readonly hostsPerUnit: Int32Array;
  /** Price of a unit, in micro-dollars per hour; 0 is allowed. */
  readonly unitPrice: Float64Array;
  /** `allowed[shape * typeCount + type]` is 1 where a copy may run in a new host of the type: rules hold and an empty host is large enough. */
  readonly allowed: Uint8Array;
  /** As `allowed`, for rooms: rules hold, whatever the size (the fit is checked room by room). */
  readonly allowedInRoom: Uint8Array;
  /** What opening units draws on: group maxima, quota pools, the spend cap, the fleet maximum. */
  readonly budgets: readonly PackBudget[];
  readonly rooms: readonly PackRoom[];
}

/**
 * A linear bound on new units: the sum over types of `use[type] * units[type]` is at most `left`.
 * Whole numbers below 2^53 add up exactly; of others a hair (1e-9 of `left`) stays unspent, so that
 * rounding breaks no bound. A `left` below 0 is one of 0.
 */
export interface PackBudget {
  readonly left: number;
  readonly use: Float64Array;
}

/** `count` hosts of a type with the same free room. */
export interface PackRoom {
  readonly type: number;
  readonly free: Float64Array;
  readonly count: number;
}

/** `count` hosts with the same content: `copies[i]` of `shapes[i]` on each. */
export interface PackedHosts {
  readonly count: number;
  readonly shapes: readonly number[];
  readonly copies: readonly number[];
}

export interface PackPlan {
  /** Hosts to open. The units needed for a type are its hosts divided by `hostsPerUnit`, rounded up. */
  readonly opened: readonly (PackedHosts & { readonly type: number })[];
  /** What goes into existing rooms; counts per room sum to at most the room's count. */
  readonly used: readonly (PackedHosts & { readonly room: number })[];
  /** Copies of each shape that found no place. */
  readonly unplaced: Int32Array;
  /**
   * What one more copy of each shape would cost, in micro-dollars per hour: its price in the fluid
   * relaxation, but no more than the cheapest unit that admits it. 0 where rooms took every copy,
   * and where no type admits the shape.
   */
  readonly worth: Float64Array;
}

/** Limits of the search, in steps and never in time, so that equal input gives equal plans. */
export interface PackEffort {
  /** Rounds of closing the worst hosts and building them anew. */
  readonly roundsMax: number;
  /**
   * Shapes looked at while filling hosts, 20 to 30 ns each. Past it, what is not placed yet is placed
   * by quick fillings. 1,200,000 and 60 rounds are enough; twice that gains 0.1 points.
   */
  readonly workMax: number;
}

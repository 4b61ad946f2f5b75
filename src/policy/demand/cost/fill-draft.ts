// A kernel over flat arrays: positions run over the table's shapes, `k` over resources, hence `!`.

/** The shapes that one type admits: what a copy takes of a host and what it is worth there. */
export interface FillTable {
  readonly resourceCount: number;
  /** A whole host. */
  readonly capacity: Float64Array;
  /** The shape at each position, ascending, and the position of each shape (-1: not admitted). */
  readonly shapes: Int32Array;
  readonly positionOf: Int32Array;
  /** By position and resource: units needed, and the same as a share of a host. */
  readonly need: Float64Array;
  readonly share: Float64Array;
  /** By position: the largest of the shares. */
  readonly dominant: Float64Array;
  /** By position: what a copy is worth, in parts of a host. Set anew for each construction. */
  readonly value: Float64Array;
  /** Positions by value, most valuable first. */
  readonly byValue: Int32Array;
}

/** A filling under way. The arrays are shared from filling to filling; between two, `taken` is 0. */
export interface FillDraft {
  readonly free: Float64Array;
  /** Copies taken, by position, and the positions that have any (or had, before a swap). */
  readonly taken: Int32Array;
  readonly kinds: Int32Array;
  kindCount: number;
  /** Positions whose shapes have copies left, most valuable first. */
  readonly live: Int32Array;
  liveCount: number;
  /** Scratch: positions that may still fit, and the weight of each resource. */
  readonly open: Int32Array;
  openCount: number;
  readonly weight: Float64Array;
  /** Shapes looked at so far, over all fillings: the measure of effort. */
  work: number;
}

export function openDraft(shapeCount: number, resourceCount: number): FillDraft {
  return {
    free: new Float64Array(resourceCount),
    taken: new Int32Array(shapeCount),
    kinds: new Int32Array(shapeCount),
    kindCount: 0,
    live: new Int32Array(shapeCount),
    liveCount: 0,
    open: new Int32Array(shapeCount),
    openCount: 0,
    weight: new Float64Array(resourceCount),
    work: 0,
  };
}

/** Puts copies in (or takes them out, if negative). */
export function take(table: FillTable, draft: FillDraft, at: number, copies: number): void {
  const { resourceCount, need } = table;
  const { free, taken, kinds } = draft;
  for (let k = 0; k < resourceCount; k++) {
    free[k] = free[k]! - copies * need[at * resourceCount + k]!;
  }
  taken[at] = taken[at]! + copies;
  for (let i = 0; i < draft.kindCount; i++) if (kinds[i] === at) return;
  kinds[draft.kindCount++] = at;
}

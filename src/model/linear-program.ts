/**
 * A linear program as plain data: minimise `cost · x` over `x` within its bounds, such that every
 * row's sum lies within the row's bounds. `Infinity` and `-Infinity` stand for "no bound".
 */
export interface LinearProgram {
  /** One entry per variable; so do `variableMin` and `variableMax`. */
  readonly cost: Float64Array;
  readonly variableMin: Float64Array;
  readonly variableMax: Float64Array;
  /** One entry per row; so does `rowMax`. */
  readonly rowMin: Float64Array;
  readonly rowMax: Float64Array;
  readonly matrix: RowMatrix;
}

/**
 * A sparse matrix by rows: the entries of row `i` are at the positions from `starts[i]` up to, but
 * not including, `starts[i + 1]`. No row names a variable twice.
 */
export interface RowMatrix {
  readonly starts: Int32Array;
  readonly variables: Int32Array;
  readonly coefficients: Float64Array;
}

/** A row under construction: its bounds, and pairs of variable and coefficient. */
export interface LinearRow {
  readonly min: number;
  readonly max: number;
  readonly entries: readonly (readonly [variable: number, coefficient: number])[];
}

/** A variable under construction. */
export interface LinearVariable {
  readonly cost: number;
  readonly min: number;
  readonly max: number;
}

/** Packs variables and rows, numbered in the order given, into a program. */
export function toLinearProgram(
  variables: readonly LinearVariable[],
  rows: readonly LinearRow[],
): LinearProgram {
  const starts = new Int32Array(rows.length + 1);
  for (const [index, row] of rows.entries()) {
    starts[index + 1] = (starts[index] ?? 0) + row.entries.length;
  }
  const entries = rows.flatMap((row) => row.entries);
  return {
    cost: Float64Array.from(variables, ({ cost }) => cost),
    variableMin: Float64Array.from(variables, ({ min }) => min),
    variableMax: Float64Array.from(variables, ({ max }) => max),
    rowMin: Float64Array.from(rows, ({ min }) => min),
    rowMax: Float64Array.from(rows, ({ max }) => max),
    matrix: {
      starts,
      variables: Int32Array.from(entries, ([variable]) => variable),
      coefficients: Float64Array.from(entries, ([, coefficient]) => coefficient),
    },
  };
}

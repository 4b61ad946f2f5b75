import type { PriceProgram } from './price-program.ts';

// A kernel over flat arrays: every index is a shape, type, row or position below the length that
// `openTableau` gave the array, hence the `!`.

/**
 * A primal simplex tableau for the fluid program, small because the rows "all copies of a shape go
 * somewhere" are not in it. Each shape has one *key* variable, which takes whatever its other
 * variables leave over; with that put into the remaining rows, those of the shapes disappear
 * (generalised upper bounding, Dantzig and Van Slyke 1967). What is inverted has a row per type
 * and resource and a row per shared budget: 81 instead of 528 for 27 types and 447 shapes.
 *
 * Variables are numbered: pairs (copies of a shape on a type), then an overflow per shape, a host
 * count per type, a slack per row.
 */
export interface Tableau {
  readonly program: PriceProgram;
  readonly rowCount: number;
  /** The inverse of the working basis, row by row. */
  readonly inverse: Float64Array;
  /** Which variable is basic at each position, its value, and its shape (-1 for hosts, slacks). */
  readonly basic: Int32Array;
  readonly basicValue: Float64Array;
  readonly basicShape: Int32Array;
  /** Per shape: the key variable and its value. */
  readonly key: Int32Array;
  readonly keyValue: Float64Array;
  /** Per variable: 1 if it is basic or a key. */
  readonly isBasic: Uint8Array;
  /** Per type: 1 while its host count rests at its upper bound, outside the basis. */
  readonly isFull: Uint8Array;
  /** Per row: what one more unit of its right-hand side saves; at least 0 at the optimum. */
  readonly price: Float64Array;
  /** Scratch: the entering column in terms of the basis, and the rate at which each key falls. */
  readonly column: Float64Array;
  readonly keyRate: Float64Array;
}

/** A variable about to enter: which way it moves, and what a unit of it costs (below 0 saves). */
export interface Entering {
  readonly variable: number;
  readonly direction: 1 | -1;
  readonly reducedCost: number;
}

/** What stops the entering variable, and after how far. */
type Stop =
  | { readonly kind: 'basic'; readonly position: number; readonly step: number }
  | { readonly kind: 'key'; readonly shape: number; readonly step: number }
  | { readonly kind: 'own-bound'; readonly step: number };

/** Rates below this are rounding errors and stop nothing. */
const RATE_MIN = 1e-9;

/** The shape of a variable, or -1 for host counts and slacks. */
export function shapeOf(program: PriceProgram, variable: number): number {
  if (variable < program.pairCount) return program.pairShape[variable]!;
  if (variable < program.pairCount + program.shapeCount) return variable - program.pairCount;
  return -1;
}

/** One pivot: the variable enters, what stops it leaves, values and prices follow. */
export function pivot(tableau: Tableau, entering: Entering): void {
  const { program, key, keyValue, isBasic } = tableau;
  const { variable, direction } = entering;
  const shape = shapeOf(program, variable);
  const type = variable - program.pairCount - program.shapeCount;
  const isHosts = type >= 0 && type < program.typeCount;

  computeColumn(tableau, variable);
  computeKeyRates(tableau, shape);
  const ownMax = isHosts ? program.hostsMax[type]! : Infinity;
  const stop = findStop(tableau, direction, ownMax);
  // Only rounding can leave a saving direction without an end: all costs are at least 0.
  if (stop.step === Infinity) return;
  moveValues(tableau, direction * stop.step);
  if (stop.kind === 'own-bound') {
    tableau.isFull[type] = direction === 1 ? 1 : 0;
    return;
  }
  const value = direction === 1 ? stop.step : ownMax - stop.step;
  if (isHosts) tableau.isFull[type] = 0;
  isBasic[variable] = 1;

  let position = stop.kind === 'basic' ? stop.position : tableau.basicShape.indexOf(stop.shape);
  if (stop.kind === 'key') {
    if (position < 0) {
      // Nothing else of the shape is basic (so the entering variable is its): a plain change of
      // keys, which leaves the working basis and the prices as they are.
      isBasic[key[shape]!] = 0;
      key[shape] = variable;
      keyValue[shape] = value;
      return;
    }
    swapKey(tableau, stop.shape, position, shape === stop.shape);
  }
  const leaver = tableau.basic[position]!;
  isBasic[leaver] = 0;
  // A basic variable that rose to its end is a host count at its limit.
  if (stop.kind === 'basic' && direction * tableau.column[position]! < 0) {
    tableau.isFull[leaver - program.pairCount - program.shapeCount] = 1;
  }
  exchange(tableau, position, entering.reducedCost);
  tableau.basic[position] = variable;
  tableau.basicShape[position] = shape;
  tableau.basicValue[position] = value;
}

/** `column` = inverse x (column of the variable - column of its shape's key). */
function computeColumn(tableau: Tableau, variable: number): void {
  const { program, rowCount, column } = tableau;
  const { pairCount, shapeCount, typeCount, resourceCount, budgetCount, use } = program;
  column.fill(0);
  const hostsFirst = pairCount + shapeCount;
  if (variable < hostsFirst) {
    const key = tableau.key[shapeOf(program, variable)]!;
    if (variable < pairCount) addPairColumn(tableau, variable, 1);
    if (key < pairCount) addPairColumn(tableau, key, -1);
    return;
  }
  const type = variable - hostsFirst;
  if (type < typeCount) {
    for (let resource = 0; resource < resourceCount; resource++) {
      addInverseColumn(tableau, type * resourceCount + resource, -1);
    }
    for (let budget = 0; budget < budgetCount; budget++) {
      const amount = use[budget * typeCount + type]!;
      if (amount !== 0) addInverseColumn(tableau, typeCount * resourceCount + budget, amount);
    }
    return;
  }
  const row = variable - hostsFirst - typeCount;
  for (let i = 0; i < rowCount; i++) column[i] = tableau.inverse[i * rowCount + row]!;
}

function addPairColumn(tableau: Tableau, pair: number, sign: number): void {
  const { program } = tableau;
  const { resourceCount, share } = program;
  const firstRow = program.pairType[pair]! * resourceCount;
  for (let resource = 0; resource < resourceCount; resource++) {
    const amount = share[pair * resourceCount + resource]!;
    if (amount !== 0) addInverseColumn(tableau, firstRow + resource, sign * amount);
  }
}

function addInverseColumn(tableau: Tableau, row: number, factor: number): void {
  const { rowCount, inverse, column } = tableau;
  for (let i = 0, at = row; i < rowCount; i++, at += rowCount) {
    column[i] = column[i]! + factor * inverse[at]!;
  }
}

/** A key falls by what enters of its shape and rises by what its other variables give up. */
function computeKeyRates(tableau: Tableau, enteringShape: number): void {
  const { rowCount, basicShape, column, keyRate } = tableau;
  keyRate.fill(0);
  if (enteringShape >= 0) keyRate[enteringShape] = 1;
  for (let i = 0; i < rowCount; i++) {
    const shape = basicShape[i]!;
    if (shape >= 0) keyRate[shape] = keyRate[shape]! - column[i]!;
  }
}

/** The ratio test: who reaches a bound first. */
function findStop(tableau: Tableau, direction: 1 | -1, ownMax: number): Stop {
  const { program, rowCount, basic, basicValue, column, keyRate, keyValue } = tableau;
  const hostsFirst = program.pairCount + program.shapeCount;
  let stop: Stop = { kind: 'own-bound', step: ownMax };
  for (let i = 0; i < rowCount; i++) {
    const rate = direction * column[i]!;
    let step = Infinity;
    if (rate > RATE_MIN) {
      step = Math.max(0, basicValue[i]!) / rate;
    } else if (rate < -RATE_MIN) {
      const type = basic[i]! - hostsFirst;
      if (type < 0 || type >= program.typeCount) continue;
      step = Math.max(0, program.hostsMax[type]! - basicValue[i]!) / -rate;
    }
    if (step < stop.step) stop = { kind: 'basic', position: i, step };
  }
  for (let shape = 0; shape < program.shapeCount; shape++) {
    // Direction is 1 here: only host counts ever fall, and no shape's rate stems from the entering
    // variable then; the rates of the other keys turn with the direction.
    const rate = direction * keyRate[shape]!;
    if (rate <= RATE_MIN) continue;
    const step = Math.max(0, keyValue[shape]!) / rate;
    if (step < stop.step) stop = { kind: 'key', shape, step };
  }
  return stop;
}

function moveValues(tableau: Tableau, step: number): void {
  const { program, rowCount, basicValue, column, keyRate, keyValue } = tableau;
  if (step === 0) return;
  for (let i = 0; i < rowCount; i++) basicValue[i] = basicValue[i]! - step * column[i]!;
  for (let shape = 0; shape < program.shapeCount; shape++) {
    keyValue[shape] = keyValue[shape]! - step * keyRate[shape]!;
  }
}

/**
 * Makes the variable at `position` the key of its shape and puts the old key in its place. In the
 * inverse only that row changes, to the negated sum of all rows of the shape; the entering column
 * changes alike, and by one more when the entering variable is measured against this very key.
 */
function swapKey(tableau: Tableau, shape: number, position: number, isOwnShape: boolean): void {
  const { rowCount, inverse, basic, basicValue, basicShape, column, key, keyValue } = tableau;
  const target = position * rowCount;
  let columnSum = isOwnShape ? -1 : 0;
  for (let i = 0; i < rowCount; i++) {
    if (basicShape[i] !== shape) continue;
    columnSum += column[i]!;
    if (i === position) continue;
    for (let j = 0; j < rowCount; j++) {
      inverse[target + j] = inverse[target + j]! + inverse[i * rowCount + j]!;
    }
  }
  for (let j = 0; j < rowCount; j++) inverse[target + j] = -inverse[target + j]!;
  column[position] = -columnSum;

  const oldKey = key[shape]!;
  key[shape] = basic[position]!;
  basic[position] = oldKey;
  const oldValue = keyValue[shape]!;
  keyValue[shape] = basicValue[position]!;
  basicValue[position] = oldValue;
}

/** Eliminates the entering column from all rows but its own, and brings the prices up to date. */
function exchange(tableau: Tableau, position: number, reducedCost: number): void {
  const { rowCount, inverse, column, price } = tableau;
  const target = position * rowCount;
  const scale = 1 / column[position]!;
  for (let j = 0; j < rowCount; j++) {
    const value = inverse[target + j]! * scale;
    inverse[target + j] = value;
    if (value !== 0) price[j] = price[j]! - reducedCost * value;
  }
  for (let i = 0; i < rowCount; i++) {
    const factor = column[i]!;
    if (i === position || factor === 0) continue;
    const row = i * rowCount;
    for (let j = 0; j < rowCount; j++) {
      inverse[row + j] = inverse[row + j]! - factor * inverse[target + j]!;
    }
  }
}

import type { PriceProgram } from './price-program.ts';
import type { Tableau } from './simplex.ts';

// A kernel over flat arrays: every index is a shape, type, row or pair of the program, hence `!`.

/**
 * A first tableau: every shape whole on one type (or in its overflow), as many hosts of each type
 * as that takes. A good first guess saves more than half of the pivots.
 */
export function openTableau(program: PriceProgram): Tableau {
  const { shapeCount, typeCount, resourceCount, budgetCount, pairCount } = program;
  const rowCount = typeCount * resourceCount + budgetCount;
  const slackFirst = pairCount + shapeCount + typeCount;
  const { key, load } = placeShapes(program);
  const tableau: Tableau = {
    program,
    rowCount,
    inverse: new Float64Array(rowCount * rowCount),
    basic: Int32Array.from({ length: rowCount }, (_, row) => slackFirst + row),
    basicValue: new Float64Array(rowCount),
    basicShape: new Int32Array(rowCount).fill(-1),
    key,
    keyValue: program.count.slice(),
    isBasic: new Uint8Array(slackFirst + rowCount),
    isFull: new Uint8Array(typeCount),
    price: new Float64Array(rowCount),
    column: new Float64Array(rowCount),
    keyRate: new Float64Array(shapeCount),
  };
  for (let row = 0; row < rowCount; row++) tableau.inverse[row * rowCount + row] = 1;
  for (let budget = 0; budget < budgetCount; budget++) {
    tableau.basicValue[typeCount * resourceCount + budget] = program.left[budget]!;
  }
  for (let type = 0; type < typeCount; type++) openHosts(tableau, type, load);
  for (const variable of tableau.key) tableau.isBasic[variable] = 1;
  for (const variable of tableau.basic) tableau.isBasic[variable] = 1;
  return tableau;
}

/** Makes the type's host count basic in its tightest row, if it needs any hosts at all. */
function openHosts(tableau: Tableau, type: number, load: Float64Array): void {
  const { program, rowCount, inverse, basic, basicValue, price } = tableau;
  const { shapeCount, typeCount, resourceCount, budgetCount, pairCount, use } = program;
  const first = type * resourceCount;
  let tightest = first;
  for (let row = first; row < first + resourceCount; row++) {
    basicValue[row] = perturbation(row) - load[row]!;
    if (basicValue[row]! < basicValue[tightest]!) tightest = row;
  }
  if (resourceCount === 0 || basicValue[tightest]! >= 0) return;
  const hosts = -basicValue[tightest]!;
  for (let row = first; row < first + resourceCount; row++) {
    basicValue[row] = basicValue[row]! + hosts;
    inverse[row * rowCount + tightest] = -1;
  }
  for (let budget = 0; budget < budgetCount; budget++) {
    const row = typeCount * resourceCount + budget;
    const amount = use[budget * typeCount + type]!;
    inverse[row * rowCount + tightest] = amount;
    basicValue[row] = basicValue[row]! - amount * hosts;
  }
  basic[tightest] = pairCount + shapeCount + type;
  basicValue[tightest] = hosts;
  price[tightest] = program.hostPrice[type]!;
}

/** Right-hand sides a hair above 0 and all different: no two rows stop a pivot at once (no cycles). */
function perturbation(row: number): number {
  return 1e-6 * (1 + ((row * 7919) % 1009) / 1009);
}

interface Placement {
  /** Per shape: its pair, or its overflow. */
  readonly key: Int32Array;
  /** Per type and resource: hosts' worth of that resource in use. */
  readonly load: Float64Array;
}

/** Least flexible shapes first, each on the type where it is cheapest alone within the limits. */
function placeShapes(program: PriceProgram): Placement {
  const { shapeCount, typeCount, resourceCount, pairCount, pairStart, pairType, share } = program;
  const load = new Float64Array(typeCount * resourceCount);
  const hosts = new Float64Array(typeCount);
  const key = Int32Array.from({ length: shapeCount }, (_, shape) => pairCount + shape);
  const width = (shape: number): number => pairStart[shape + 1]! - pairStart[shape]!;
  const order = Int32Array.from({ length: shapeCount }, (_, shape) => shape);
  order.sort((a, b) => width(a) - width(b) || a - b);
  for (const shape of order) {
    const count = program.count[shape]!;
    let bestCost = Infinity;
    let bestHosts = 0;
    for (let pair = pairStart[shape]!; pair < pairStart[shape + 1]!; pair++) {
      const type = pairType[pair]!;
      let dominant = 0;
      let after = hosts[type]!;
      for (let k = 0; k < resourceCount; k++) {
        const amount = share[pair * resourceCount + k]!;
        dominant = Math.max(dominant, amount);
        after = Math.max(after, load[type * resourceCount + k]! + amount * count);
      }
      const cost = program.hostPrice[type]! * dominant;
      if (cost >= bestCost || !hasRoom(program, hosts, type, after)) continue;
      bestCost = cost;
      bestHosts = after;
      key[shape] = pair;
    }
    if (bestCost === Infinity) continue;
    const pair = key[shape]!;
    const type = pairType[pair]!;
    hosts[type] = bestHosts;
    for (let k = 0; k < resourceCount; k++) {
      const row = type * resourceCount + k;
      load[row] = load[row]! + share[pair * resourceCount + k]! * count;
    }
  }
  return { key, load };
}

/** Whether the type may have `after` hosts beside those of the others. */
function hasRoom(program: PriceProgram, hosts: Float64Array, type: number, after: number): boolean {
  const { typeCount, budgetCount, use, left } = program;
  if (after > program.hostsMax[type]!) return false;
  for (let budget = 0; budget < budgetCount; budget++) {
    const row = budget * typeCount;
    if (use[row + type] === 0) continue;
    let spent = use[row + type]! * (after - hosts[type]!);
    for (let other = 0; other < typeCount; other++) spent += use[row + other]! * hosts[other]!;
    if (spent > left[budget]!) return false;
  }
  return true;
}

import type { PriceProgram } from './price-program.ts';
import { openTableau } from './simplex-start.ts';
import { type Entering, pivot, type Tableau } from './simplex.ts';

// A kernel over flat arrays: every index is a shape, type, row or pair of the program, hence `!`.

/** What the fluid relaxation says, in the program's money. */
export interface FluidPrices {
  /** Per shape: what one more copy costs. */
  readonly worth: Float64Array;
  /** Per pair: what a copy costs there beyond its worth; at least 0 at the optimum. */
  readonly excess: Float64Array;
  /** Per type: how many hosts the relaxation opens. */
  readonly hosts: Float64Array;
  /** Per type: the price of a host, and what its limits make it worth beyond that. */
  readonly hostWorth: Float64Array;
  /** Per shape: copies that the limits leave without a host. */
  readonly overflow: Float64Array;
  readonly cost: number;
  readonly pivots: number;
}

/** A saving per copy or host below this counts as none; the dearest host costs 1. */
const SAVING_MIN = 1e-9;
/** Shapes looked at again after a pivot, before all are. */
const SHORTLIST_MAX = 12;
/** What a saving per host weighs against one per copy. It steers the path, not the result. */
const HOST_WEIGHT = 100;

/**
 * Solves the program exactly, or stops after `pivotsMax` with prices that are nearly right: they
 * guide a search and decide nothing by themselves. 150 shapes on 27 types take about 200 pivots.
 */
export function solvePrices(program: PriceProgram, pivotsMax: number): FluidPrices {
  const tableau = openTableau(program);
  const everyShape = Int32Array.from({ length: program.shapeCount }, (_, shape) => shape);
  const saving = new Float64Array(program.shapeCount);
  let shortlist: Int32Array = everyShape;
  let pivots = 0;
  while (pivots < pivotsMax) {
    let entering = findEntering(tableau, shortlist, saving);
    if (entering === null || shortlist === everyShape) {
      if (shortlist !== everyShape) entering = findEntering(tableau, everyShape, saving);
      if (entering === null) break;
      shortlist = shorten(saving);
    }
    pivot(tableau, entering);
    pivots++;
  }
  return readPrices(tableau, pivots);
}

/** The shapes with most to save. */
function shorten(saving: Float64Array): Int32Array {
  const shapes: number[] = [];
  for (let shape = 0; shape < saving.length; shape++) if (saving[shape]! > 0) shapes.push(shape);
  shapes.sort((a, b) => saving[b]! - saving[a]! || a - b);
  return Int32Array.from(shapes.slice(0, SHORTLIST_MAX));
}

/**
 * The variable that saves most: by what a copy saves times the copies there are, which is nearly
 * what the pivot will save. Notes in `saving` what each shape looked at has to offer.
 */
function findEntering(tableau: Tableau, shapes: Int32Array, saving: Float64Array): Entering | null {
  const { program, isBasic } = tableau;
  const { pairCount, pairStart, count } = program;
  let best = 0;
  let entering = findHosts(tableau);
  if (entering !== null) best = Math.abs(entering.reducedCost) * HOST_WEIGHT;
  for (let i = 0; i < shapes.length; i++) {
    const shape = shapes[i]!;
    const worth = keyCost(tableau, shape);
    let most = SAVING_MIN;
    let variable = -1;
    for (let pair = pairStart[shape]!; pair < pairStart[shape + 1]!; pair++) {
      const saved = worth - pairCost(tableau, pair);
      if (saved <= most || isBasic[pair] === 1) continue;
      most = saved;
      variable = pair;
    }
    if (worth - program.overflowPrice > most && isBasic[pairCount + shape] === 0) {
      most = worth - program.overflowPrice;
      variable = pairCount + shape;
    }
    const total = variable < 0 ? 0 : most * count[shape]!;
    saving[shape] = total;
    if (total <= best) continue;
    best = total;
    entering = { variable, direction: 1, reducedCost: -most };
  }
  return entering;
}

/** The host count or slack that saves most per unit, or null. */
function findHosts(tableau: Tableau): Entering | null {
  const { program, price, isBasic, isFull, rowCount } = tableau;
  const { typeCount } = program;
  const hostsFirst = program.pairCount + program.shapeCount;
  let most = SAVING_MIN;
  let entering: Entering | null = null;
  for (let type = 0; type < typeCount; type++) {
    if (isBasic[hostsFirst + type] === 1) continue;
    const reducedCost = hostCost(tableau, type);
    const saved = isFull[type] === 1 ? reducedCost : -reducedCost;
    if (saved <= most) continue;
    most = saved;
    entering = { variable: hostsFirst + type, direction: isFull[type] === 1 ? -1 : 1, reducedCost };
  }
  for (let row = 0; row < rowCount; row++) {
    const variable = hostsFirst + typeCount + row;
    if (-price[row]! <= most || isBasic[variable] === 1) continue;
    most = -price[row]!;
    entering = { variable, direction: 1, reducedCost: price[row]! };
  }
  return entering;
}

/** What the resources of a copy cost at present prices. */
function pairCost(tableau: Tableau, pair: number): number {
  const { program, price } = tableau;
  const { resourceCount, share } = program;
  const firstRow = program.pairType[pair]! * resourceCount;
  let cost = 0;
  for (let k = 0; k < resourceCount; k++) {
    cost += price[firstRow + k]! * share[pair * resourceCount + k]!;
  }
  return cost;
}

function keyCost(tableau: Tableau, shape: number): number {
  const key = tableau.key[shape]!;
  const { pairCount, overflowPrice } = tableau.program;
  return key < pairCount ? pairCost(tableau, key) : overflowPrice;
}

/** Price of a host and of the budget it draws, less what its resources fetch. */
function hostCost(tableau: Tableau, type: number): number {
  const { program, price } = tableau;
  const { typeCount, resourceCount, budgetCount, use } = program;
  let cost = program.hostPrice[type]!;
  for (let k = 0; k < resourceCount; k++) cost -= price[type * resourceCount + k]!;
  for (let budget = 0; budget < budgetCount; budget++) {
    cost += use[budget * typeCount + type]! * price[typeCount * resourceCount + budget]!;
  }
  return cost;
}

function readPrices(tableau: Tableau, pivots: number): FluidPrices {
  const { program, rowCount, basic, basicValue, isFull, price, key } = tableau;
  const { shapeCount, typeCount, resourceCount, pairCount, hostPrice, hostsMax } = program;
  const hosts = new Float64Array(typeCount);
  const hostWorth = new Float64Array(typeCount);
  for (let type = 0; type < typeCount; type++) {
    if (isFull[type] === 1) hosts[type] = hostsMax[type]!;
    let fetched = 0;
    for (let k = 0; k < resourceCount; k++) fetched += price[type * resourceCount + k]!;
    hostWorth[type] = Math.max(hostPrice[type]!, fetched);
  }
  const worth = Float64Array.from({ length: shapeCount }, (_, shape) => keyCost(tableau, shape));
  const overflow = new Float64Array(shapeCount);
  for (let row = 0; row < rowCount; row++) {
    const variable = basic[row]!;
    const type = variable - pairCount - shapeCount;
    if (type >= 0 && type < typeCount) hosts[type] = basicValue[row]!;
    if (type < 0 && variable >= pairCount) overflow[variable - pairCount] = basicValue[row]!;
  }
  for (let shape = 0; shape < shapeCount; shape++) {
    if (key[shape]! >= pairCount) overflow[shape] = tableau.keyValue[shape]!;
  }
  let cost = 0;
  for (let type = 0; type < typeCount; type++) cost += hosts[type]! * hostPrice[type]!;
  const excess = new Float64Array(pairCount);
  for (let pair = 0; pair < pairCount; pair++) {
    excess[pair] = pairCost(tableau, pair) - worth[program.pairShape[pair]!]!;
  }
  return { worth, excess, hosts, hostWorth, overflow, cost, pivots };
}

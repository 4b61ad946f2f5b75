import type { FillTable } from './fill-draft.ts';
import type { PackModel } from './pack-model.ts';
import { priceAlone, toPriceModel } from './price-program.ts';
import { solvePrices } from './prices.ts';

// Arrays are indexed by shapes, types and resources below the model's counts, hence the `!`.

/** What the search goes by: the prices of the fluid relaxation, put into the model's terms. */
export interface Guidance {
  /** Per shape: what one more copy costs, in micro-dollars per hour. */
  readonly worth: Float64Array;
  /** Per type: the price of a host, and what its limits make it worth beyond that. */
  readonly hostWorth: Float64Array;
  /** Per type: the part of that worth which is due to limits; 0 where it may open at will. */
  readonly scarcity: Float64Array;
  /** Per shape: the types that the relaxation uses and that cost the shape hardly more than it is worth. */
  readonly fairTypes: readonly (readonly number[])[];
  /** Per shape: every type that admits it and may open at all, ascending. */
  readonly typesOf: readonly (readonly number[])[];
  /** Those of them with several hosts per unit: a unit that is paid for may have some to spare. */
  readonly largeTypesOf: readonly (readonly number[])[];
  /** Per shape: copies that the relaxation, too, leaves without a host. They wait for the others. */
  readonly held: Int32Array;
  /** Per shape: how hard it is to place, 0 to about 1. */
  readonly hardness: Float64Array;
}

/** A pair is fair while it costs no more than this part of a host above the worth. */
const FAIR_EXCESS = 0.02;
/** Bounds the relaxation, in numbers written to the inverse: 910 pivots with 81 rows, 410 with 120. */
const PIVOT_WORK_MAX = 6e6;

export function findGuidance(model: PackModel, count: Int32Array): Guidance {
  const { shapeCount, typeCount, hostPrice, hostsPerUnit, allowed } = model;
  const { program, types, priceUnit } = toPriceModel(model, count);
  const rowCount = program.typeCount * program.resourceCount + program.budgetCount;
  const prices = solvePrices(program, Math.ceil(PIVOT_WORK_MAX / (rowCount * rowCount + 1)));
  const worth = prices.worth.map((price) => price * priceUnit);
  const hostWorth = hostPrice.slice();
  types.forEach((type, index) => {
    hostWorth[type] = prices.hostWorth[index]! * priceUnit;
  });

  const fairTypes: number[][] = [];
  const typesOf: number[][] = [];
  for (let shape = 0; shape < shapeCount; shape++) {
    const fair: number[] = [];
    for (let pair = program.pairStart[shape]!; pair < program.pairStart[shape + 1]!; pair++) {
      const index = program.pairType[pair]!;
      const isUsed = prices.hosts[index]! > 1e-6;
      const isFair = prices.excess[pair]! <= FAIR_EXCESS * prices.hostWorth[index]!;
      if (isUsed && isFair) fair.push(types[index]!);
    }
    fairTypes.push(fair);
    const admitting: number[] = [];
    for (let type = 0; type < typeCount && count[shape]! > 0; type++) {
      if (allowed[shape * typeCount + type] === 0 || model.unitsMax[type] === 0) continue;
      admitting.push(type);
    }
    typesOf.push(admitting);
    const isPriced = program.pairStart[shape + 1]! > program.pairStart[shape]!;
    if (!isPriced) worth[shape] = priceWithoutLimits(model, shape);
  }
  return {
    worth,
    hostWorth,
    scarcity: hostWorth.map((price, type) => partOf(price - hostPrice[type]!, price)),
    fairTypes,
    typesOf,
    largeTypesOf: typesOf.map((admitting) => admitting.filter((type) => hostsPerUnit[type]! > 1)),
    held: Int32Array.from(prices.overflow, (copies) => Math.floor(copies + 1e-6)),
    hardness: findHardness(model, worth, hostWorth),
  };
}

/**
 * The mean of dominant share and share in the price, on the type where the shape is smallest. Either
 * alone is worse: shapes that hog a cheap resource would come too early or too late.
 */
export function findHardness(
  model: PackModel,
  worth: Float64Array,
  hostWorth: Float64Array,
): Float64Array {
  const { shapeCount, typeCount, allowed, dominant } = model;
  const hardness = new Float64Array(shapeCount);
  for (let shape = 0; shape < shapeCount; shape++) {
    let smallest = Infinity;
    for (let type = 0; type < typeCount; type++) {
      const pair = shape * typeCount + type;
      if (allowed[pair] === 0 || dominant[pair]! >= smallest) continue;
      smallest = dominant[pair]!;
      hardness[shape] = (smallest + partOf(worth[shape]!, hostWorth[type]!)) / 2;
    }
  }
  return hardness;
}

/** All shapes, the hardest first. */
export function hardestFirst(hardness: Float64Array): Int32Array {
  const shapes = new Int32Array(hardness.length).map((_, shape) => shape);
  return shapes.sort((a, b) => hardness[b]! - hardness[a]! || a - b);
}

/** A price as part of another; 0 if that is 0. */
function partOf(price: number, whole: number): number {
  return whole > 0 ? price / whole : 0;
}

/** How a construction weighs what it fills hosts with. Rounds of repair differ in it. */
export interface Taste {
  /** Weight of the dominant share beside the price: makes resources count that have no price. */
  readonly dominantWeight: number;
  /** Extra value of large shapes, which go in early or never. */
  readonly sizeBonus: number;
}

/** Sets what copies are worth in a host: (worth as part of the host's + weight x share) x (1 + bonus x share). */
export function valueShapes(
  table: FillTable,
  hostWorth: number,
  worth: Float64Array,
  taste: Taste,
): void {
  for (let at = 0; at < table.shapes.length; at++) {
    const share = table.dominant[at]!;
    const price = partOf(worth[table.shapes[at]!]!, hostWorth);
    table.value[at] = (price + taste.dominantWeight * share) * (1 + taste.sizeBonus * share);
  }
  const { value, byValue } = table;
  byValue.sort((a, b) => value[b]! - value[a]! || a - b);
}

/** What a copy costs where it is cheapest alone, or 0 where no type may open for it. */
export function priceWithoutLimits(model: PackModel, shape: number): number {
  const type = model.cheapest[shape]!;
  return type < 0 ? 0 : priceAlone(model, shape, type);
}

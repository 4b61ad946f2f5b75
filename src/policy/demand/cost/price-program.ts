import type { PackModel } from './pack-model.ts';

// Arrays are indexed by shapes, types, pairs and resources below the counts given, hence the `!`.

/**
 * The fluid relaxation that prices come from, where hosts and copies may be split at will:
 *
 *     minimise    sum_t price_t hosts_t + overflowPrice sum_s overflow_s
 *     such that   sum_t copies_st + overflow_s = count_s            for each shape s
 *                 sum_s share_stk copies_st <= hosts_t              for each type t and resource k
 *                 sum_t use_bt hosts_t <= left_b                    for each budget b
 *                 0 <= hosts_t <= hostsMax_t
 *
 * `share` is the part of a host's resource that a copy takes. The overflow is expensive and makes
 * every problem feasible. Prices are scaled so that the dearest host costs 1.
 */
export interface PriceProgram {
  readonly shapeCount: number;
  readonly typeCount: number;
  readonly resourceCount: number;
  readonly count: Float64Array;
  /** Allowed pairs of a shape and a type; those of shape `s` begin at `pairStart[s]`. */
  readonly pairCount: number;
  readonly pairStart: Int32Array;
  readonly pairShape: Int32Array;
  readonly pairType: Int32Array;
  /** `share[pair * resourceCount + resource]`. */
  readonly share: Float64Array;
  readonly hostPrice: Float64Array;
  readonly hostsMax: Float64Array;
  readonly budgetCount: number;
  /** `use[budget * typeCount + type]`, per host. */
  readonly use: Float64Array;
  readonly left: Float64Array;
  readonly overflowPrice: number;
}

/** The program of a model, and what its numbers mean there. */
export interface PriceModel {
  readonly program: PriceProgram;
  /** The model's type behind each type of the program. */
  readonly types: Int32Array;
  /** Micro-dollars per hour of one unit of the program's money. */
  readonly priceUnit: number;
}

/**
 * A copy left out costs as much as a hundred of the dearest hosts: no plan that could place it
 * saves that much by not doing so, and the numbers stay within what a dense inverse can carry.
 */
const OVERFLOW_PRICE = 100;

/**
 * Hosts can be filled to 99.7 % in the resource that decides, but only to 96 or 97 % in the others.
 * Planning with that much less of the others keeps prices honest; without it multi-9k costs 1.2
 * points more. It belongs here only: fillings and bounds use true capacities.
 */
const PLANNED_PART = 0.97;

/** Rows for types in the working basis: 40 types of three resources. A pivot takes rows squared. */
const ROWS_MAX = 120;

export function toPriceModel(model: PackModel, count: Int32Array): PriceModel {
  const { resourceCount, shapeCount, typeCount, need, capacity, allowed, hostPrice } = model;
  const types = chooseTypes(model, count);
  const planned = plannedParts(model, count);
  const pairStart = new Int32Array(shapeCount + 1);
  const pairShape: number[] = [];
  const pairType: number[] = [];
  const share: number[] = [];
  for (let shape = 0; shape < shapeCount; shape++) {
    for (let index = 0; index < types.length && count[shape]! > 0; index++) {
      const type = types[index]!;
      if (allowed[shape * typeCount + type] === 0) continue;
      pairShape.push(shape);
      pairType.push(index);
      for (let k = 0; k < resourceCount; k++) {
        const needed = need[shape * resourceCount + k]!;
        const room = capacity[type * resourceCount + k]! * planned[k]!;
        share.push(needed > 0 ? needed / room : 0);
      }
    }
    pairStart[shape + 1] = pairType.length;
  }
  const priceUnit = Math.max(...types.map((type) => hostPrice[type]!), 0) || 1;
  return {
    types,
    priceUnit,
    program: {
      shapeCount,
      typeCount: types.length,
      resourceCount,
      // Shapes that no type admits have no row to satisfy: their overflow would say nothing.
      count: Float64Array.from(count, (copies, shape) => {
        return pairStart[shape + 1] === pairStart[shape] ? 0 : copies;
      }),
      pairCount: pairType.length,
      pairStart,
      pairShape: Int32Array.from(pairShape),
      pairType: Int32Array.from(pairType),
      share: Float64Array.from(share),
      hostPrice: Float64Array.from(types, (type) => hostPrice[type]! / priceUnit),
      hostsMax: Float64Array.from(
        types,
        (type) => model.unitsMax[type]! * model.hostsPerUnit[type]!,
      ),
      ...budgetRows(model, types),
      overflowPrice: OVERFLOW_PRICE,
    },
  };
}

/** Shared budgets per host, each scaled so that its largest use is 1. */
function budgetRows(
  model: PackModel,
  types: Int32Array,
): Pick<PriceProgram, 'budgetCount' | 'use' | 'left'> {
  const budgets = model.budgets.filter((budget) => budget.left < Infinity);
  const use = new Float64Array(budgets.length * types.length);
  const left = new Float64Array(budgets.length);
  for (const [row, budget] of budgets.entries()) {
    const perHost = Array.from(types, (type) => budget.use[type]! / model.hostsPerUnit[type]!);
    const largest = Math.max(...perHost, 0) || 1;
    for (const [index, amount] of perHost.entries()) {
      use[row * types.length + index] = amount / largest;
    }
    left[row] = Math.max(0, budget.left) / largest;
  }
  return { budgetCount: budgets.length, use, left };
}

/** What a copy costs alone on a type: the price of the part of a host that it blocks. */
export function priceAlone(model: PackModel, shape: number, type: number): number {
  return model.hostPrice[type]! * model.dominant[shape * model.typeCount + type]!;
}

/**
 * Types worth a place in the program. Where not all have one, half of the places go to the cheapest
 * type of each shape that has none yet, most money first; the others to types where much of the
 * demand is cheap or nearly so. A type left out has no price but stays open to the search.
 */
function chooseTypes(model: PackModel, count: Int32Array): Int32Array {
  const { shapeCount, typeCount, allowed } = model;
  const typesMax = Math.max(2, Math.floor(ROWS_MAX / Math.max(1, model.resourceCount)));
  const openable = new Int32Array(typeCount)
    .map((_, type) => type)
    .filter((type) => {
      return model.unitsMax[type]! > 0;
    });
  if (openable.length <= typesMax) return openable;
  const cheapest = Int32Array.from({ length: shapeCount }, (_, shape) => {
    return count[shape]! > 0 ? model.cheapest[shape]! : -1;
  });
  const money = Float64Array.from(cheapest, (type, shape) => {
    return type < 0 ? -1 : count[shape]! * (1 + priceAlone(model, shape, type));
  });
  const byMoney = new Int32Array(shapeCount)
    .map((_, shape) => shape)
    .filter((shape) => money[shape]! >= 0);
  byMoney.sort((a, b) => money[b]! - money[a]! || a - b);

  const chosen = new Set<number>();
  const votes = new Float64Array(typeCount);
  for (const shape of byMoney) {
    const admits = (type: number): boolean => allowed[shape * typeCount + type] === 1;
    const isCovered = [...chosen].some(admits);
    if (!isCovered && chosen.size < typesMax / 2) chosen.add(cheapest[shape]!);
    const least = 1 + priceAlone(model, shape, cheapest[shape]!);
    for (let type = 0; type < typeCount; type++) {
      if (!admits(type) || model.unitsMax[type]! <= 0) continue;
      // At twice the least price a vote counts a sixteenth.
      const ratio = least / (1 + priceAlone(model, shape, type));
      votes[type] = votes[type]! + money[shape]! * ratio * ratio * ratio * ratio;
    }
  }
  const byVotes = new Int32Array(typeCount)
    .map((_, type) => type)
    .filter((type) => votes[type]! > 0);
  byVotes.sort((a, b) => votes[b]! - votes[a]! || a - b);
  for (const type of byVotes) if (chosen.size < typesMax) chosen.add(type);
  return Int32Array.from(chosen).sort();
}

/**
 * The part of each resource to plan with. All of the resource that decides: the one that, each
 * shape on its cheapest type, is the dominant one for most of the money (the GPUs, as a rule).
 */
function plannedParts(model: PackModel, count: Int32Array): Float64Array {
  const { resourceCount, shapeCount, need, capacity } = model;
  const money = new Float64Array(resourceCount);
  for (let shape = 0; shape < shapeCount; shape++) {
    const type = count[shape]! > 0 ? model.cheapest[shape]! : -1;
    if (type < 0) continue;
    let dominant = 0;
    for (let k = 1; k < resourceCount; k++) {
      const here = need[shape * resourceCount + k]! * capacity[type * resourceCount + dominant]!;
      const there = need[shape * resourceCount + dominant]! * capacity[type * resourceCount + k]!;
      if (here > there) dominant = k;
    }
    money[dominant] = money[dominant]! + count[shape]! * priceAlone(model, shape, type);
  }
  const decisive = money.indexOf(Math.max(...money, 0));
  return money.map((_, resource) => (resource === decisive ? 1 : PLANNED_PART));
}

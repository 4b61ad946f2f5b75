import type { PackBudget } from './pack-problem.ts';

// Types and budgets are numbered from 0, and every array here has one entry per type, hence `!`.

/** What is asked of types before they are merged; the names are those of `PackProblem`. */
export interface TypeTable {
  readonly resourceCount: number;
  readonly typeCount: number;
  readonly capacity: Float64Array;
  readonly hostsPerUnit: Int32Array;
  readonly unitPrice: Float64Array;
  readonly budgets: readonly PackBudget[];
}

/** Types that no plan can tell apart, taken together. */
export interface TypeClasses {
  /** The types of each class, ascending. Classes are in the order of their first types. */
  readonly members: readonly (readonly number[])[];
  readonly classOf: Int32Array;
  /** Per type: units it may open by the budgets that concern it alone; `Infinity` for any number. */
  readonly unitsMax: Float64Array;
  /** Budgets that concern several types, with `use` per class. */
  readonly shared: readonly PackBudget[];
}

/**
 * Merges types with equal hosts, prices, shared budgets and `marks` (the caller's string for what
 * else must agree, as a rule which shapes are allowed). The same machine offered in five zones is
 * one class: what the search looks at falls by that factor, and nothing is lost, because units of
 * a class are dealt out to its types afterwards.
 */
export function classifyTypes(table: TypeTable, marks: (type: number) => string): TypeClasses {
  const { typeCount, resourceCount, capacity, hostsPerUnit, unitPrice, budgets } = table;
  const unitsMax = new Float64Array(typeCount).fill(Infinity);
  const shared: PackBudget[] = [];
  for (const budget of budgets) {
    const users = usersOf(budget);
    if (users.length > 1) shared.push(budget);
    if (users.length !== 1) continue;
    const type = users[0]!;
    const use = budget.use.subarray(type, type + 1);
    const left = safeLeft({ left: budget.left, use });
    unitsMax[type] = Math.min(unitsMax[type]!, unitsWithin(left, use[0]!));
  }

  const classOf = new Int32Array(typeCount);
  const members: number[][] = [];
  const known = new Map<string, number>();
  for (let type = 0; type < typeCount; type++) {
    const numbers = [
      unitPrice[type]!,
      hostsPerUnit[type]!,
      ...capacity.subarray(type * resourceCount, (type + 1) * resourceCount),
      ...shared.map((budget) => budget.use[type]!),
    ];
    const key = `${numbers.join(' ')} ${marks(type)}`;
    const found = known.get(key) ?? members.length;
    if (found === members.length) {
      known.set(key, found);
      members.push([]);
    }
    members[found]!.push(type);
    classOf[type] = found;
  }
  const perClass = shared.map((budget) => {
    const use = Float64Array.from(members, (types) => budget.use[types[0]!]!);
    return { left: safeLeft(budget), use };
  });
  return { members, classOf, unitsMax, shared: perClass };
}

/** The largest whole number of units with `units * use <= left`, exact even where a quotient rounds up. */
export function unitsWithin(left: number, use: number): number {
  if (left < 0) return 0;
  if (left === Infinity) return Infinity;
  let units = Math.floor(left / use);
  while (units > 0 && units * use > left) units--;
  return units;
}

/**
 * What may be spent of a budget so that no rounding breaks it. Whole numbers below 2^53 add up
 * exactly; others are kept a hair below, more than the rounding of a million sums.
 */
function safeLeft({ left, use }: PackBudget): number {
  const isWhole = Number.isInteger(left) && use.every(Number.isInteger);
  return isWhole ? left : left - Math.abs(left) * 1e-9;
}

/** A row of zeros and ones as a short string, to compare rows by. */
export function bitKey(length: number, bit: (index: number) => number): string {
  const words = new Uint16Array(Math.ceil(length / 16));
  for (let index = 0; index < length; index++) {
    words[index >> 4]! |= bit(index) << (index & 15);
  }
  return String.fromCharCode(...words);
}

/** As `bitKey`, for every column of a matrix: read row by row, as it lies in memory. */
export function columnKeys(matrix: Uint8Array, columnCount: number): string[] {
  const rowCount = columnCount === 0 ? 0 : matrix.length / columnCount;
  const length = Math.ceil(rowCount / 16);
  const words = new Uint16Array(columnCount * length);
  for (let row = 0, at = 0; row < rowCount; row++) {
    for (let word = row >> 4; at < (row + 1) * columnCount; at++, word += length) {
      words[word]! |= matrix[at]! << (row & 15);
    }
  }
  return Array.from({ length: columnCount }, (_, column) =>
    String.fromCharCode(...words.subarray(column * length, (column + 1) * length)),
  );
}

function usersOf(budget: PackBudget): number[] {
  const users: number[] = [];
  for (let type = 0; type < budget.use.length; type++) if (budget.use[type]! > 0) users.push(type);
  return users;
}

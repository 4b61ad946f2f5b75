import {
  type LinearProgram,
  type LinearRow,
  type LinearVariable,
  toLinearProgram,
} from '../../model/linear-program.ts';
import type { PackBudget } from './cost/pack-problem.ts';
import { bitKey, classifyTypes } from './cost/type-classes.ts';

// Arrays are indexed by shapes, types and resources below the problem's counts, hence the `!`.

/** The largest m: with four or more tasks to a host, little is left over that rows could tell of. */
const LARGE_PER_HOST_MAX = 3;

/** What a plan placed, for the question what it could have cost at least. */
export interface FluidProblem {
  readonly resourceCount: number;
  readonly typeCount: number;
  /** Of one empty host: `capacity[type * resourceCount + resource]`. */
  readonly capacity: Float64Array;
  readonly hostsPerUnit: Int32Array;
  /** In micro-dollars per hour. */
  readonly unitPrice: Float64Array;
  /** Units of each type that are launched whatever the demand. */
  readonly unitsMin: Int32Array;
  /** Bounds on new units, those of `unitsMin` included. */
  readonly budgets: readonly PackBudget[];
  /** Free room of existing hosts, summed per type: `pooledRoom[type * resourceCount + resource]`. */
  readonly pooledRoom: Float64Array;
  readonly shapes: readonly FluidShape[];
}

export interface FluidShape {
  /** Copies that the plan placed. */
  readonly count: number;
  /** 1 for a single task, n for a gang: a copy is so many tasks, each with this `need`. */
  readonly tasks: number;
  readonly need: Float64Array;
  /** A gang whose tasks each take a whole empty host, in units of their own, on types with several hosts per unit. */
  readonly wholeHosts: boolean;
  /** Per type: 1 where its tasks may run. */
  readonly allowed: Uint8Array;
}

/**
 * The fluid relaxation as a program: units and copies may be split at will. Its value is a lower
 * bound, in micro-dollars per hour, on the new units of any plan that places these copies:
 *
 *     minimise    sum_t price_t units_t
 *     such that   sum_t copies_st = count_s                                    for each shape s
 *                 sum_s tasks_s need_sk copies_st <= capacity_tk hosts_t + room_tk
 *                 sum_(s large) tasks_s copies_st <= m hosts_t + ...           for m = 1, 2, 3
 *                 units_t >= unitsMin_t, and every budget
 *
 * where hosts_t are the hosts of the units that no whole-host gang has to itself. Tasks are large
 * if they need more than 1/(m+1) of a host: it holds at most m of them, so two tasks of 60 % take
 * two hosts. Such rows leave the bounds of the published problems as they are and raise others by
 * up to 18 %; rows for each pair of shape and type would say less and take ten times as long.
 * Equal types are merged, and so are equal shapes.
 */
export function fluidProgram(problem: FluidProblem): LinearProgram {
  const shapes = mergeShapes(problem.shapes);
  const { types, shared } = mergeTypes(problem, shapes);
  const variables: LinearVariable[] = [];
  const rows: LinearRow[] = [];
  // Units first, so that a type's number is that of its units; then hosts that all may share.
  for (const { unitPrice, unitsMin, unitsMax } of types) {
    variables.push({ cost: unitPrice, min: unitsMin, max: Math.max(unitsMin, unitsMax) });
  }
  for (const _ of types) variables.push({ cost: 0, min: 0, max: Infinity });
  const draws: readonly Draw[][] = types.map(() => []);
  for (const shape of shapes) {
    const ways = waysToPlace(types, shape);
    rows.push({
      min: shape.count,
      max: shape.count,
      entries: ways.map((_, i) => [variables.length + i, 1]),
    });
    for (const { type, draw } of ways) {
      draws[type]!.push({ ...draw, variable: variables.length });
      variables.push({ cost: 0, min: 0, max: Infinity });
    }
  }
  for (const [index, type] of types.entries()) {
    rows.push(...typeRows(type, { units: index, hosts: types.length + index }, draws[index]!));
  }
  for (const { left, use } of shared) {
    rows.push({ min: -Infinity, max: left, entries: [...use.entries()].filter(([, n]) => n > 0) });
  }
  return toLinearProgram(variables, rows);
}

/** Types alike, taken together. */
interface FluidType {
  /** The first of them, to look up what is allowed. */
  readonly first: number;
  readonly capacity: Float64Array;
  readonly room: Float64Array;
  readonly hostsPerUnit: number;
  readonly unitPrice: number;
  readonly unitsMin: number;
  readonly unitsMax: number;
}

interface FluidTypes {
  readonly types: readonly FluidType[];
  /** Budgets over several of them. */
  readonly shared: readonly PackBudget[];
}

function mergeTypes(problem: FluidProblem, shapes: readonly FluidShape[]): FluidTypes {
  const { resourceCount, capacity, pooledRoom } = problem;
  const { members, unitsMax, shared } = classifyTypes(problem, (type) => {
    return bitKey(shapes.length, (shape) => shapes[shape]!.allowed[type]!);
  });
  const types = members.map((all): FluidType => {
    const first = all[0]!;
    const sum = (value: (type: number) => number): number => {
      return all.reduce((total, type) => total + value(type), 0);
    };
    return {
      first,
      capacity: capacity.subarray(first * resourceCount, (first + 1) * resourceCount),
      room: Float64Array.from({ length: resourceCount }, (_, k) => {
        return sum((type) => pooledRoom[type * resourceCount + k]!);
      }),
      hostsPerUnit: problem.hostsPerUnit[first]!,
      unitPrice: problem.unitPrice[first]!,
      unitsMin: sum((type) => problem.unitsMin[type]!),
      unitsMax: sum((type) => unitsMax[type]!),
    };
  });
  return { types, shared };
}

function mergeShapes(shapes: readonly FluidShape[]): readonly FluidShape[] {
  const merged = new Map<string, FluidShape>();
  for (const shape of shapes) {
    if (shape.count === 0) continue;
    const bits = bitKey(shape.allowed.length, (type) => shape.allowed[type]!);
    const key = `${shape.tasks} ${shape.wholeHosts} ${shape.need.join(' ')} ${bits}`;
    const count = shape.count + (merged.get(key)?.count ?? 0);
    merged.set(key, { ...shape, count });
  }
  return [...merged.values()];
}

/** How copies of a shape use a type. */
type Way =
  /** Beside others, on new hosts or in existing room. */
  | { readonly kind: 'beside'; readonly shape: FluidShape }
  /** A gang in new units of its own. */
  | { readonly kind: 'own-units'; readonly units: number }
  /** In existing room alone: a gang, or a task too large for an empty host. */
  | { readonly kind: 'in-room'; readonly shape: FluidShape };
type Draw = Way & { readonly variable: number };

function waysToPlace(
  types: readonly FluidType[],
  shape: FluidShape,
): readonly { readonly type: number; readonly draw: Way }[] {
  return types.flatMap(({ first, capacity, room, hostsPerUnit }, type) => {
    if (shape.allowed[first] === 0) return [];
    const fit = tasksThatFit(capacity, shape);
    const roomFit = tasksThatFit(room, shape);
    const isApart = shape.wholeHosts && hostsPerUnit > 1;
    const ways: Way[] = [];
    if (fit > 0 && !isApart) ways.push({ kind: 'beside', shape });
    if (fit > 0 && isApart) {
      ways.push({ kind: 'own-units', units: Math.ceil(shape.tasks / hostsPerUnit) });
    }
    if (roomFit > 0 && (isApart || fit === 0)) ways.push({ kind: 'in-room', shape });
    return ways.map((draw) => ({ type, draw }));
  });
}

/** Tasks that fit, by the resource that runs out first; `Infinity` for tasks that need nothing. */
function tasksThatFit(room: Float64Array, { need }: FluidShape): number {
  let fit = Infinity;
  for (let k = 0; k < need.length; k++) {
    if (need[k]! > 0) fit = Math.min(fit, Math.floor(room[k]! / need[k]!));
  }
  return fit;
}

/** The rows of one type: its hosts, and its resources. */
function typeRows(
  type: FluidType,
  own: { readonly units: number; readonly hosts: number },
  draws: readonly Draw[],
): LinearRow[] {
  const { capacity, hostsPerUnit } = type;
  const hosts: Entry[] = [
    [own.hosts, 1],
    [own.units, -hostsPerUnit],
  ];
  for (const draw of draws) {
    if (draw.kind === 'own-units') hosts.push([draw.variable, hostsPerUnit * draw.units]);
  }
  const rows: LinearRow[] = [{ min: 0, max: 0, entries: hosts }];
  for (let k = 0; k < capacity.length; k++) rows.push(...resourceRows(type, own.hosts, draws, k));
  return rows;
}

type Entry = readonly [variable: number, coefficient: number];

function resourceRows(
  { capacity, room }: FluidType,
  hosts: number,
  draws: readonly Draw[],
  resource: number,
): LinearRow[] {
  const host = capacity[resource]!;
  // In parts of a host, so that bytes and GPUs come out alike.
  const scale = host || room[resource]! || 1;
  const all: Entry[] = host > 0 ? [[hosts, -1]] : [];
  const inRoom: Entry[] = [];
  const large = Array.from({ length: LARGE_PER_HOST_MAX }, (_, index): LargeTasks => {
    return { perHost: index + 1, needMin: Infinity, entries: [[hosts, -(index + 1)]] };
  });
  for (const draw of draws) {
    if (draw.kind === 'own-units') continue;
    const { tasks, need } = draw.shape;
    const needed = need[resource]!;
    if (needed === 0) continue;
    const entry: Entry = [draw.variable, (tasks * needed) / scale];
    all.push(entry);
    if (draw.kind === 'in-room') inRoom.push(entry);
    if (draw.kind !== 'beside') continue;
    for (const tier of large) {
      if (needed * (tier.perHost + 1) <= host) continue;
      tier.entries.push([draw.variable, tasks]);
      tier.needMin = Math.min(tier.needMin, needed);
    }
  }
  const max = room[resource]! / scale;
  const rows: LinearRow[] = [{ min: -Infinity, max, entries: all }];
  if (inRoom.length > 0) rows.push({ min: -Infinity, max, entries: inRoom });
  for (const { needMin, entries } of large) {
    // Existing room, however it is cut, holds no more tasks than the smallest of them allows.
    const most = Math.floor(room[resource]! / needMin);
    if (entries.length > 1) rows.push({ min: -Infinity, max: most, entries });
  }
  return rows;
}

/** Tasks so large that a host holds at most `perHost` of them. */
interface LargeTasks {
  readonly perHost: number;
  needMin: number;
  readonly entries: Entry[];
}

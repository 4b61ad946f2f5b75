import type { Content, Filling } from './fill.ts';
import type { PackModel } from './pack-model.ts';
import { unitsWithin } from './type-classes.ts';

// Arrays are indexed by shapes, types and resources below the model's counts, hence the `!`.

/** `count` hosts of a type with the same content; `free` is what each has left. Never changed. */
export interface HostGroup extends Filling {
  readonly type: number;
  readonly count: number;
}

/** A plan in the making: changed in place while it is built, copied before it is changed again. */
export interface PackState {
  /** Copies of each shape not placed yet. */
  readonly left: Int32Array;
  /** Hosts opened of each type; only `addHosts` changes them. */
  readonly hosts: Float64Array;
  /** What the units of these hosts draw on each budget. */
  readonly spent: Float64Array;
  groups: HostGroup[];
}

export function emptyState(model: PackModel, left: Int32Array): PackState {
  return {
    left: left.slice(),
    hosts: new Float64Array(model.typeCount),
    spent: new Float64Array(model.budgets.length),
    groups: [],
  };
}

export function copyState(state: PackState): PackState {
  return {
    left: state.left.slice(),
    hosts: state.hosts.slice(),
    spent: state.spent.slice(),
    groups: [...state.groups],
  };
}

/** Units of the type that `hosts` hosts take. */
export function unitsOf(model: PackModel, type: number, hosts: number): number {
  return Math.ceil(hosts / model.hostsPerUnit[type]!);
}

/** Hosts of the type that are paid for and empty: the rest of its last unit. */
export function spareHosts(model: PackModel, state: PackState, type: number): number {
  const hosts = state.hosts[type]!;
  return unitsOf(model, type, hosts) * model.hostsPerUnit[type]! - hosts;
}

/** Hosts of the type that may still be opened within its maximum and every budget. */
export function openableHosts(model: PackModel, state: PackState, type: number): number {
  let more = model.unitsMax[type]! - unitsOf(model, type, state.hosts[type]!);
  for (let budget = 0; budget < model.budgets.length && more > 0; budget++) {
    const { use, left } = model.budgets[budget]!;
    if (use[type]! > 0) more = Math.min(more, unitsWithin(left - state.spent[budget]!, use[type]!));
  }
  return spareHosts(model, state, type) + Math.max(0, more) * model.hostsPerUnit[type]!;
}

/** Opens hosts of a type (or closes them, if negative) and books their units. */
export function addHosts(model: PackModel, state: PackState, type: number, count: number): void {
  const before = state.hosts[type]!;
  state.hosts[type] = before + count;
  const units = unitsOf(model, type, before + count) - unitsOf(model, type, before);
  if (units === 0) return;
  for (let budget = 0; budget < model.budgets.length; budget++) {
    state.spent[budget] = state.spent[budget]! + units * model.budgets[budget]!.use[type]!;
  }
}

/** Price of all units, in micro-dollars per hour. */
export function costOf(model: PackModel, state: PackState): number {
  let cost = 0;
  for (let type = 0; type < model.typeCount; type++) {
    cost += model.unitPrice[type]! * unitsOf(model, type, state.hosts[type]!);
  }
  return cost;
}

export function leftCount(state: PackState): number {
  return state.left.reduce((sum, count) => sum + count, 0);
}

/** Opens the group's hosts and takes their content from what is left. */
export function openGroup(model: PackModel, state: PackState, group: HostGroup): void {
  addHosts(model, state, group.type, group.count);
  takeCopies(state.left, group, group.count);
  state.groups.push(group);
}

/** Takes the content of `hosts` such hosts from what is left, or gives it back if negative. */
export function takeCopies(left: Int32Array, content: Content, hosts: number): void {
  const { shapes, copies } = content;
  for (let i = 0; i < shapes.length; i++) {
    left[shapes[i]!] = left[shapes[i]!]! - hosts * copies[i]!;
  }
}

/** How many hosts can be given this content with the copies that are left. */
export function timesAvailable(left: Int32Array, content: Content): number {
  let times = Infinity;
  const { shapes, copies } = content;
  for (let i = 0; i < shapes.length; i++) {
    times = Math.min(times, Math.floor(left[shapes[i]!]! / copies[i]!));
  }
  return times;
}

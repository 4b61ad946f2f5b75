import type { PackModel } from './pack-model.ts';
import { addHosts, type HostGroup, openableHosts, type PackState, unitsOf } from './pack-state.ts';

// Arrays are indexed by shapes, types and resources below the model's counts, hence the `!`.

/** Moves groups to cheaper types that hold their content, as far as the limits allow. */
export function downsize(model: PackModel, state: PackState): void {
  const { hostPrice, cheapestFirst } = model;
  const after: HostGroup[] = [];
  for (const group of state.groups) {
    let staying = group.count;
    for (let i = 0; i < cheapestFirst.length && staying > 0; i++) {
      const type = cheapestFirst[i]!;
      if (hostPrice[type]! >= hostPrice[group.type]!) break;
      if (!canHold(model, group, type)) continue;
      const count = Math.min(staying, openableHosts(model, state, type));
      if (count === 0 || savingOfMove(model, state, group.type, type, count) <= 0) continue;
      after.push({ ...group, type, count, free: freeAfterMove(model, group, type) });
      addHosts(model, state, group.type, -count);
      addHosts(model, state, type, count);
      staying -= count;
    }
    if (staying > 0) after.push(staying < group.count ? { ...group, count: staying } : group);
  }
  state.groups = after;
}

function canHold(model: PackModel, group: HostGroup, type: number): boolean {
  const { resourceCount, typeCount, capacity, allowed } = model;
  const from = group.type * resourceCount;
  const to = type * resourceCount;
  for (let k = 0; k < resourceCount; k++) {
    if (capacity[from + k]! - group.free[k]! > capacity[to + k]!) return false;
  }
  for (const shape of group.shapes) if (allowed[shape * typeCount + type] === 0) return false;
  return true;
}

function freeAfterMove(model: PackModel, group: HostGroup, type: number): Float64Array {
  const { resourceCount, capacity } = model;
  return group.free.map((free, k) => {
    const used = capacity[group.type * resourceCount + k]! - free;
    return capacity[type * resourceCount + k]! - used;
  });
}

/** Whole units are paid, so a move may save nothing, or even cost, until a unit is empty. */
function savingOfMove(
  model: PackModel,
  state: PackState,
  from: number,
  to: number,
  count: number,
): number {
  const unitsChange = (type: number, change: number): number => {
    const hosts = state.hosts[type]!;
    return unitsOf(model, type, hosts + change) - unitsOf(model, type, hosts);
  };
  const saved = -unitsChange(from, -count) * model.unitPrice[from]!;
  return saved - unitsChange(to, count) * model.unitPrice[to]!;
}

import { type BulkOrder, fillInBulk, toBulkOrder } from './bulk.ts';
import type { Content } from './fill.ts';
import { type HostGroup, type PackState, takeCopies, timesAvailable } from './pack-state.ts';
import type { Search } from './search.ts';

// Arrays are indexed by shapes, types and resources below the model's counts, hence the `!`.

/**
 * Puts copies into free room of open hosts until nothing more fits, the hardest shapes first. Where
 * copies do not suffice for all hosts of a group, the group is split.
 */
export function insertIntoFree(search: Search, state: PackState): void {
  const { model, draft, order: shapes } = search;
  const { left } = state;
  const orders: (BulkOrder | undefined)[] = [];
  const after: HostGroup[] = [];
  for (const group of state.groups) {
    const { type } = group;
    const room = model.hosts[type]!;
    const request = { type, allowed: model.allowed, shapes, left, room };
    const order = (orders[type] ??= toBulkOrder(model, request));
    let untouched = group.count;
    while (untouched > 0) {
      draft.work += order.length >> 2;
      const added = fillInBulk(order, left, group.free, -1);
      if (added.shapes.length === 0) break;
      const count = Math.min(untouched, timesAvailable(left, added));
      takeCopies(left, added, count);
      after.push({ type, count, free: order.free.slice(), ...addContent(group, added) });
      untouched -= count;
    }
    if (untouched > 0) {
      after.push(untouched < group.count ? { ...group, count: untouched } : group);
    }
  }
  state.groups = after;
}

function addContent(old: Content, added: Content): Content {
  const shapes = [...old.shapes];
  const copies = [...old.copies];
  for (let index = 0; index < added.shapes.length; index++) {
    const shape = added.shapes[index]!;
    const at = shapes.indexOf(shape);
    if (at < 0) {
      shapes.push(shape);
      copies.push(added.copies[index]!);
    } else {
      copies[at] = copies[at]! + added.copies[index]!;
    }
  }
  return { shapes, copies };
}

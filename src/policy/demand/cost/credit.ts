import type { PackPlan, PackProblem, PackedHosts } from './pack-problem.ts';

// Indices come from the arrays they index, hence the `!` on lookups in them.

/**
 * The same problem with its empty rooms given back: as if they were not there, and the budgets had
 * never paid for them. `isEmpty` says which rooms are whole hosts without work.
 *
 * Why: a plan is made anew on every tick. Slices launched on the last one are now empty rooms, and
 * filling given rooms is another search than choosing them, which may need one host more and so
 * launch for ever. With the rooms given back the search sees what it saw on the last tick, makes
 * the same plan, and finds all of it there.
 */
export function giveBackEmptyRooms(problem: PackProblem, isEmpty: readonly boolean[]): PackProblem {
  const hosts = countEmptyHosts(problem, isEmpty);
  const units = Array.from(hosts, (count, type) => count / problem.hostsPerUnit[type]!);
  return {
    ...problem,
    rooms: problem.rooms.filter((_, room) => !isEmpty[room]),
    budgets: problem.budgets.map(({ left, use }) => {
      return { use, left: units.reduce((sum, count, type) => sum + count * use[type]!, left) };
    }),
  };
}

/** A plan for the problem with rooms given back, as a plan for the problem itself. */
export function takeEmptyRooms(
  problem: PackProblem,
  isEmpty: readonly boolean[],
  plan: PackPlan,
): PackPlan {
  const kept = problem.rooms.flatMap((_, room) => (isEmpty[room] ? [] : [room]));
  const used: (PackedHosts & { room: number })[] = plan.used.map((hosts) => {
    return { ...hosts, room: kept[hosts.room]! };
  });
  const opened: (PackedHosts & { type: number })[] = [];
  const empty = listEmptyRooms(problem, isEmpty);
  for (const hosts of plan.opened) {
    const rooms = empty[hosts.type]!;
    let left = hosts.count;
    while (left > 0 && rooms.length > 0) {
      const room = rooms.at(-1)!;
      const some = Math.min(left, room.count);
      used.push({ room: room.index, count: some, shapes: hosts.shapes, copies: hosts.copies });
      left -= some;
      room.count -= some;
      if (room.count === 0) rooms.pop();
    }
    if (left > 0) opened.push({ ...hosts, count: left });
  }
  return { ...plan, used, opened };
}

/** Empty rooms by type, the first of each last. */
function listEmptyRooms(
  { rooms, typeCount }: PackProblem,
  isEmpty: readonly boolean[],
): { readonly index: number; count: number }[][] {
  const lists: { readonly index: number; count: number }[][] = [];
  for (let type = 0; type < typeCount; type++) lists.push([]);
  for (let index = rooms.length - 1; index >= 0; index--) {
    const { type, count } = rooms[index]!;
    if (isEmpty[index]) lists[type]!.push({ index, count });
  }
  return lists;
}

/** The plan that places more, or as much for less; never the second where it breaks a budget. */
export function betterPlan(problem: PackProblem, first: PackPlan, second: PackPlan): PackPlan {
  const units = countUnits(problem, second);
  const isWithin = problem.budgets.every(({ left, use }) => {
    const drawn = units.reduce((sum, count, type) => sum + count * use[type]!, 0);
    return drawn <= left;
  });
  if (!isWithin) return first;
  const waiting = countUnplaced(second) - countUnplaced(first);
  if (waiting !== 0) return waiting < 0 ? second : first;
  return priceOf(problem, second) < priceOf(problem, first) ? second : first;
}

const countUnplaced = ({ unplaced }: PackPlan): number =>
  unplaced.reduce((sum, count) => sum + count, 0);

function countUnits({ typeCount, hostsPerUnit }: PackProblem, { opened }: PackPlan): number[] {
  const hosts = new Float64Array(typeCount);
  for (const { type, count } of opened) hosts[type] = hosts[type]! + count;
  return Array.from(hosts, (count, type) => Math.ceil(count / hostsPerUnit[type]!));
}

function priceOf(problem: PackProblem, plan: PackPlan): number {
  const units = countUnits(problem, plan);
  return units.reduce((sum, count, type) => sum + count * problem.unitPrice[type]!, 0);
}

function countEmptyHosts(
  { rooms, typeCount }: PackProblem,
  isEmpty: readonly boolean[],
): Float64Array {
  const hosts = new Float64Array(typeCount);
  rooms.forEach(({ type, count }, room) => {
    if (isEmpty[room]) hosts[type] = hosts[type]! + count;
  });
  return hosts;
}

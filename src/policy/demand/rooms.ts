import type { RoomKind } from '../../model/reason.ts';
import { assert } from '../../support/assert.ts';

// Group and part indices are in range by construction of the problem, hence the `!` on lookups.

/** `count` hosts of a group with the same free room, in the order in which they are tried. */
interface Bin {
  free: Float64Array;
  count: number;
  readonly kind: RoomKind;
  /** Hosts of slices nobody uses: only these can serve a gang that needs whole slices. */
  isUntouched: boolean;
  next: Bin | null;
}

/** Tasks that found a place on one kind of room. */
export interface Taken {
  readonly kind: RoomKind;
  readonly count: number;
}

/** Hosts of one group with equal free room. */
export interface RoomView {
  readonly kind: RoomKind;
  readonly free: Float64Array;
  readonly count: number;
  readonly isUntouched: boolean;
}

/**
 * Free room by group, consumed in a fixed order: reported room, then slices on their way, then
 * slices opened in this decision. Equal hosts are one record with a count, so a thousand tasks on a
 * thousand hosts cost one step. Every part remembers, per group, how far it has looked: room only
 * shrinks, so what did not fit once never fits later.
 */
export interface Rooms {
  /** Adds hosts behind those there; `isUntouched` for whole slices without work. */
  add(group: number, kind: RoomKind, free: Float64Array, count: number, isUntouched: boolean): void;
  /** First fit: places up to `copies` of a part, one or more to a host, and says where. */
  take(group: number, part: number, copies: number): readonly Taken[];
  /** Like `take`, but at most one copy to a host, and never on a host in `avoid`. */
  takeOne(group: number, part: number, avoid: ReadonlySet<object>): TakenHost | null;
  /** Untouched slices of the group. */
  wholeSlices(group: number): number;
  /** Takes untouched slices out, for a gang alone; fewer may be there than asked. */
  takeWholeSlices(group: number, slices: number): readonly { kind: RoomKind; slices: number }[];
  /** Hosts with room, in order. */
  view(group: number): readonly RoomView[];
  /** Puts other hosts in the place of all that a group has; cannot be undone. */
  replace(group: number, rooms: readonly RoomView[]): void;
  /** Starts a trial: until it is kept or undone, everything done is remembered. Trials nest. */
  mark(): number;
  keep(mark: number): void;
  undo(mark: number): void;
}

export interface TakenHost {
  readonly kind: RoomKind;
  /** Identity of the host, to keep others of the same entry away from it. */
  readonly host: object;
}

interface RoomsInput {
  readonly groupCount: number;
  readonly hostsPerSlice: readonly number[];
  /** Per part, what one copy needs, by resource index. */
  readonly needs: readonly Float64Array[];
}

export function createRooms({ groupCount, hostsPerSlice, needs }: RoomsInput): Rooms {
  const heads = Array.from({ length: groupCount }, () => emptyBin());
  const tails = heads.slice();
  /** By group and part, the last bin known not to fit; looking goes on behind it. */
  const cursors: (Bin | undefined)[][] = heads.map(() => []);
  const log: (() => void)[] = [];
  let trials = 0;

  const remember = (group: number, bin: Bin): void => {
    if (trials === 0) return;
    const { free, count, isUntouched, next } = bin;
    const tail = tails[group]!;
    log.push(() => {
      bin.free = free;
      bin.count = count;
      bin.isUntouched = isUntouched;
      bin.next = next;
      tails[group] = tail;
    });
  };
  const moveCursor = (group: number, part: number, bin: Bin): void => {
    const list = cursors[group]!;
    const before = list[part];
    list[part] = bin;
    if (trials === 0) return;
    log.push(() => {
      list[part] = before;
    });
  };
  const insertAfter = (group: number, bin: Bin, added: Bin): Bin => {
    added.next = bin.next;
    bin.next = added;
    if (tails[group] === bin) tails[group] = added;
    return added;
  };

  /** Puts `full` hosts with `perHost` copies and one with `rest` copies; the others stay as they are. */
  const fill = (group: number, bin: Bin, need: Float64Array, plan: Filling): void => {
    remember(group, bin);
    const { free, count, kind, isUntouched } = bin;
    const used = plan.full + (plan.rest > 0 ? 1 : 0);
    const remaining = count - used;
    const perSlice = hostsPerSlice[group]!;
    // The other hosts of a slice that is used in part are no longer a whole slice.
    const beside = isUntouched ? Math.min(remaining, (perSlice - (used % perSlice)) % perSlice) : 0;
    let last = bin;
    bin.isUntouched = false;
    if (plan.full > 0) {
      bin.count = plan.full;
      bin.free = minus(free, need, plan.perHost);
      if (plan.rest > 0) {
        const partly = minus(free, need, plan.rest);
        last = insertAfter(group, last, newBin(partly, 1, kind, false));
      }
    } else {
      bin.count = 1;
      bin.free = minus(free, need, plan.rest);
    }
    if (beside > 0) last = insertAfter(group, last, newBin(free, beside, kind, false));
    if (remaining > beside) {
      insertAfter(group, last, newBin(free, remaining - beside, kind, isUntouched));
    }
  };

  return {
    add(group, kind, free, count, isUntouched) {
      if (count === 0) return;
      const tail = tails[group]!;
      remember(group, tail);
      insertAfter(group, tail, newBin(free, count, kind, isUntouched));
    },

    take(group, part, copies) {
      const need = needs[part]!;
      const taken: { kind: RoomKind; count: number }[] = [];
      let left = copies;
      let looked = cursors[group]![part] ?? heads[group]!;
      while (left > 0 && looked.next !== null) {
        const bin = looked.next;
        const perHost = bin.count === 0 ? 0 : fitCopies(bin.free, need);
        if (perHost === 0) {
          looked = bin;
          continue;
        }
        const full = Math.min(bin.count, Math.floor(left / perHost));
        const packed = full === 0 ? 0 : full * perHost; // not 0 times Infinity
        const rest = full < bin.count ? left - packed : 0;
        fill(group, bin, need, { perHost, full, rest });
        const count = packed + rest;
        left -= count;
        const same = taken.at(-1);
        if (same?.kind === bin.kind) same.count += count;
        else taken.push({ kind: bin.kind, count });
      }
      if (looked !== heads[group]) moveCursor(group, part, looked);
      return taken;
    },

    takeOne(group, part, avoid) {
      const need = needs[part]!;
      for (let bin = heads[group]!.next; bin !== null; bin = bin.next) {
        if (bin.count === 0 || avoid.has(bin) || fitCopies(bin.free, need) === 0) continue;
        fill(group, bin, need, { perHost: 1, full: 0, rest: 1 });
        return { kind: bin.kind, host: bin };
      }
      return null;
    },

    wholeSlices(group) {
      let hosts = 0;
      for (let bin = heads[group]!.next; bin !== null; bin = bin.next) {
        if (bin.isUntouched) hosts += bin.count;
      }
      return hosts / hostsPerSlice[group]!;
    },

    takeWholeSlices(group, slices) {
      const taken: { kind: RoomKind; slices: number }[] = [];
      let left = slices;
      for (let bin = heads[group]!.next; bin !== null && left > 0; bin = bin.next) {
        if (!bin.isUntouched || bin.count === 0) continue;
        const some = Math.min(left, bin.count / hostsPerSlice[group]!);
        remember(group, bin);
        bin.count -= some * hostsPerSlice[group]!;
        left -= some;
        taken.push({ kind: bin.kind, slices: some });
      }
      return taken;
    },

    view(group) {
      const views: RoomView[] = [];
      for (let bin = heads[group]!.next; bin !== null; bin = bin.next) {
        const { kind, free, count, isUntouched } = bin;
        if (count > 0) views.push({ kind, free, count, isUntouched });
      }
      return views;
    },

    replace(group, rooms) {
      let tail = emptyBin();
      heads[group] = tail;
      for (const { kind, free, count, isUntouched } of rooms) {
        if (count === 0) continue;
        tail.next = newBin(free, count, kind, isUntouched);
        tail = tail.next;
      }
      tails[group] = tail;
      cursors[group] = [];
      assert(trials === 0, 'rooms are not replaced within a trial');
    },

    mark() {
      trials++;
      return log.length;
    },
    keep(mark) {
      assert(mark <= log.length, 'trials end newest first');
      trials--;
      if (trials === 0) log.length = 0;
    },
    undo(mark) {
      assert(mark <= log.length, 'trials end newest first');
      while (log.length > mark) log.pop()!(); // the length was checked
      trials--;
    },
  };
}

interface Filling {
  readonly perHost: number;
  readonly full: number;
  readonly rest: number;
}

const newBin = (free: Float64Array, count: number, kind: RoomKind, isUntouched: boolean): Bin => {
  return { free, count, kind, isUntouched, next: null };
};

/** Stands in front of a group's first host, so that every host has one before it. */
const emptyBin = (): Bin => newBin(new Float64Array(0), 0, 'free-room', false);

/** Copies of `need` that fit into `free`, exactly; Infinity for a part that needs nothing. */
export function fitCopies(free: Float64Array, need: Float64Array): number {
  let copies = Infinity;
  for (let k = 0; k < need.length; k++) {
    const each = need[k]!;
    if (each === 0) continue;
    const room = free[k]!;
    if (each > room) return 0;
    let times = Math.floor(room / each);
    if (times * each > room) times--; // the division rounded up
    if (times < copies) copies = times;
  }
  return copies;
}

/** Floored at 0 only for Infinity copies of nothing, which would otherwise give NaN. */
function minus(free: Float64Array, need: Float64Array, copies: number): Float64Array {
  return free.map((room, k) => (need[k]! === 0 ? room : room - need[k]! * copies));
}

import type { RoomKind } from '../../model/reason.ts';
import { assert } from '../../support/assert.ts';
import type { TrialLog } from './trial-log.ts';

// Vectors have one element per resource of the problem and loads name its parts, hence the `!`.

/** `count` hosts with the same free room, in the order in which they are tried. */
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

export interface TakenHost {
  readonly kind: RoomKind;
  /** Identity of the host, to keep others of the same entry away from it. */
  readonly host: object;
}

/** Hosts of one group with equal free room. */
export interface RoomView {
  readonly kind: RoomKind;
  readonly free: Float64Array;
  readonly count: number;
  readonly isUntouched: boolean;
}

/** `count` hosts, each with so many copies of so many parts. */
export interface HostLoad {
  readonly count: number;
  readonly parts: readonly number[];
  readonly copies: readonly number[];
}

/** Copies on some hosts of a bin: `full` hosts with `perHost` each, and one with `rest`. */
interface Filling {
  readonly perHost: number;
  readonly full: number;
  readonly rest: number;
}

/**
 * The hosts of one group with room, consumed first to last. Equal hosts are one record with a
 * count, so a thousand tasks on a thousand hosts cost one step. Every part remembers how far it has
 * looked: room only shrinks, so what did not fit once never fits later.
 */
export class HostList {
  readonly #hostsPerSlice: number;
  readonly #trials: TrialLog;
  /** Stands in front of the first host, so that every host has one before it. */
  #head = newBin({ kind: 'free-room', free: new Float64Array(0), count: 0, isUntouched: false });
  #tail = this.#head;
  /** By part, the last bin known not to fit; looking goes on behind it. */
  #cursors: (Bin | undefined)[] = [];

  constructor(hostsPerSlice: number, trials: TrialLog) {
    this.#hostsPerSlice = hostsPerSlice;
    this.#trials = trials;
  }

  /** Adds hosts behind those there; untouched ones come in whole slices. */
  add(room: RoomView): void {
    if (room.count === 0) return;
    this.#remember(this.#tail);
    this.#insertAfter(this.#tail, room);
  }

  /** First fit: places up to `copies` of a part, as many to a host as fit, and says where. */
  take(part: number, need: Float64Array, copies: number): readonly Taken[] {
    let looked = this.#cursors[part] ?? this.#head;
    if (looked.next === null) return none;
    const taken: { readonly kind: RoomKind; count: number }[] = [];
    let left = copies;
    while (left > 0 && looked.next !== null) {
      const bin: Bin = looked.next;
      const perHost = bin.count === 0 ? 0 : fitCopies(bin.free, need);
      if (perHost === 0) {
        looked = bin;
        continue;
      }
      const full = Math.min(bin.count, Math.floor(left / perHost));
      const packed = full === 0 ? 0 : full * perHost; // not 0 times Infinity
      const rest = full < bin.count ? left - packed : 0;
      this.#fill(bin, need, { perHost, full, rest });
      left -= packed + rest;
      const same = taken.at(-1);
      if (same?.kind === bin.kind) same.count += packed + rest;
      else taken.push({ kind: bin.kind, count: packed + rest });
    }
    if (looked !== this.#head) this.#moveCursor(part, looked);
    return taken;
  }

  /** Places one copy on the first host that is not to be avoided. */
  takeOne(need: Float64Array, avoid: ReadonlySet<object>): TakenHost | null {
    for (let bin = this.#head.next; bin !== null; bin = bin.next) {
      if (bin.count === 0 || avoid.has(bin) || fitCopies(bin.free, need) === 0) continue;
      this.#fill(bin, need, { perHost: 1, full: 0, rest: 1 });
      return { kind: bin.kind, host: bin };
    }
    return null;
  }

  get wholeSlices(): number {
    let hosts = 0;
    for (let bin = this.#head.next; bin !== null; bin = bin.next) {
      if (bin.isUntouched) hosts += bin.count;
    }
    return hosts / this.#hostsPerSlice;
  }

  /** Untouched slices that were there or coming before this decision. */
  get unused(): { readonly ready: number; readonly onItsWay: number } {
    let ready = 0;
    let onItsWay = 0;
    for (let bin = this.#head.next; bin !== null; bin = bin.next) {
      if (!bin.isUntouched) continue;
      if (bin.kind === 'free-room') ready += bin.count;
      else if (bin.kind === 'on-its-way') onItsWay += bin.count;
    }
    return { ready: ready / this.#hostsPerSlice, onItsWay: onItsWay / this.#hostsPerSlice };
  }

  /** Takes untouched slices out, for a gang alone; fewer may be there than asked. */
  takeWholeSlices(slices: number): readonly { kind: RoomKind; slices: number }[] {
    const taken: { kind: RoomKind; slices: number }[] = [];
    let left = slices;
    for (let bin = this.#head.next; bin !== null && left > 0; bin = bin.next) {
      if (!bin.isUntouched || bin.count === 0) continue;
      const some = Math.min(left, bin.count / this.#hostsPerSlice);
      this.#remember(bin);
      bin.count -= some * this.#hostsPerSlice;
      left -= some;
      taken.push({ kind: bin.kind, slices: some });
    }
    return taken;
  }

  /** Hosts with room, in order, as they are now: what is placed later shows in them. */
  view(): readonly RoomView[] {
    const views: RoomView[] = [];
    for (let bin = this.#head.next; bin !== null; bin = bin.next) {
      if (bin.count > 0) views.push(bin);
    }
    return views;
  }

  /** Books loads on hosts, by place in the order of `view`; not within a trial. */
  load(loads: readonly (readonly HostLoad[] | undefined)[], needs: readonly Float64Array[]): void {
    assert(!this.#trials.isOn, 'hosts are not loaded within a trial');
    let place = 0;
    for (let bin = this.#head.next; bin !== null;) {
      const { next } = bin;
      const ofBin = bin.count > 0 ? loads[place++] : undefined;
      if (ofBin !== undefined && ofBin.length > 0) this.#loadBin(bin, ofBin, needs);
      bin = next;
    }
  }

  /** The bin itself gets the first load; behind it come the other loads, then hosts left alone. */
  #loadBin(bin: Bin, loads: readonly HostLoad[], needs: readonly Float64Array[]): void {
    const { free, kind, isUntouched } = bin;
    let left = bin.count;
    bin.count = 0;
    bin.isUntouched = false;
    let last = bin;
    for (const load of loads) {
      left -= load.count;
      const after = unload(free, load, needs);
      if (bin.count === 0) {
        bin.free = after;
        bin.count = load.count;
      } else {
        last = this.#insertAfter(last, {
          kind,
          free: after,
          count: load.count,
          isUntouched: false,
        });
      }
    }
    assert(left >= 0, 'no planner uses more hosts than there are');
    // The other hosts of a slice that is used in part are no longer a whole slice.
    const beside = isUntouched ? left % this.#hostsPerSlice : left;
    this.#leave(last, { kind, free, count: left, isUntouched }, beside);
  }

  /** Loads some hosts of a bin; the others stay as they are, behind them. */
  #fill(bin: Bin, need: Float64Array, { perHost, full, rest }: Filling): void {
    this.#remember(bin);
    const { free, count, kind, isUntouched } = bin;
    const used = full + (rest > 0 ? 1 : 0);
    const others = count - used;
    const perSlice = this.#hostsPerSlice;
    // The other hosts of a slice that is used in part are no longer a whole slice.
    const beside = isUntouched ? Math.min(others, (perSlice - (used % perSlice)) % perSlice) : 0;
    bin.isUntouched = false;
    bin.count = Math.max(full, 1);
    bin.free = minus(free, need, full > 0 ? perHost : rest);
    let last = bin;
    if (full > 0 && rest > 0) {
      const after = minus(free, need, rest);
      last = this.#insertAfter(last, { kind, free: after, count: 1, isUntouched: false });
    }
    this.#leave(last, { kind, free, count: others, isUntouched }, beside);
  }

  /** Inserts hosts left alone, some of them in slices that are no longer whole. */
  #leave(bin: Bin, others: RoomView, beside: number): void {
    const { kind, free, count, isUntouched } = others;
    let last = bin;
    if (beside > 0) {
      last = this.#insertAfter(last, { kind, free, count: beside, isUntouched: false });
    }
    if (count > beside) this.#insertAfter(last, { kind, free, count: count - beside, isUntouched });
  }

  #insertAfter(bin: Bin, room: RoomView): Bin {
    const added = newBin(room);
    added.next = bin.next;
    bin.next = added;
    if (this.#tail === bin) this.#tail = added;
    return added;
  }

  #remember(bin: Bin): void {
    if (!this.#trials.isOn) return;
    const { free, count, isUntouched, next } = bin;
    const tail = this.#tail;
    this.#trials.remember(() => {
      Object.assign(bin, { free, count, isUntouched, next });
      this.#tail = tail;
    });
  }

  #moveCursor(part: number, bin: Bin): void {
    const before = this.#cursors[part];
    this.#cursors[part] = bin;
    if (!this.#trials.isOn) return;
    this.#trials.remember(() => {
      this.#cursors[part] = before;
    });
  }
}

const none: readonly Taken[] = [];

const newBin = ({ kind, free, count, isUntouched }: RoomView): Bin => {
  return { free, count, kind, isUntouched, next: null };
};

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

function minus(free: Float64Array, need: Float64Array, copies: number): Float64Array {
  const left = free.slice();
  for (let k = 0; k < left.length; k++) {
    if (need[k]! > 0) left[k] = left[k]! - need[k]! * copies; // not 0 times Infinity
  }
  return left;
}

/** Room left on a host under a load. */
function unload(
  free: Float64Array,
  { parts, copies }: HostLoad,
  needs: readonly Float64Array[],
): Float64Array {
  const after = free.slice();
  for (let i = 0; i < parts.length; i++) {
    const need = needs[parts[i]!]!;
    for (let k = 0; k < after.length; k++) {
      const left = after[k]! - need[k]! * copies[i]!;
      assert(left >= 0, 'no planner loads a host beyond its room');
      after[k] = left;
    }
  }
  return after;
}

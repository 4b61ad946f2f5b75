import type { EntryForm } from '../model/demand.ts';
import type { Group } from '../model/group.ts';
import type { EntryId, SliceId } from '../model/ids.ts';
import { firstShortage, type Resources } from '../model/resources.ts';
import {
  findMismatches,
  hasAccelerator,
  needsDevice,
  type Part,
  partsOf,
} from '../policy/demand/eligibility.ts';
import { unreachable } from '../support/assert.ts';
import { byNumber } from '../support/order.ts';

/** Room of one host, counted down as it is taken. */
export interface Room {
  readonly sliceId: SliceId;
  readonly hostIndex: number;
  readonly group: Group;
  /** The gang that alone may use it. */
  readonly reservedFor: EntryId | null;
  readonly free: Record<string, number>;
  /** What a gang takes that has the host to itself. */
  readonly whole: Resources;
  isEmpty: boolean;
}

/** Room that a piece of work was given. */
export interface Taken {
  readonly room: Room;
  readonly took: Resources;
}

interface GroupRooms {
  readonly group: Group;
  readonly rooms: Room[];
}

/**
 * Puts work on hosts as a plain scheduler would: first fit, in the order of groups and slices, hosts
 * without an accelerator first for work that needs none. Good for one pass over the waiting work.
 */
export class Rooms {
  readonly #groups = new Map<string, GroupRooms>();
  /** Per form and group: rooms before this one had no place, and nothing grows within a pass. */
  readonly #from = new Map<EntryForm, Map<string, number>>();
  readonly #misfits = new Set<EntryForm>();
  readonly #admitted = new Map<EntryForm, ReadonlyMap<Part, readonly GroupRooms[]>>();

  constructor(rooms: Iterable<Room>) {
    for (const room of rooms) {
      const known = this.#groups.get(room.group.name);
      if (known === undefined)
        this.#groups.set(room.group.name, { group: room.group, rooms: [room] });
      else known.rooms.push(room);
    }
  }

  /** Takes room for all of an entry, or none of it and null. */
  take(id: EntryId, form: EntryForm): readonly Taken[] | null {
    if (this.#misfits.has(form)) return null;
    const taken = this.#takeForm(id, form);
    // Equal work fares alike, but for a gang whose slices are held for it.
    if (taken === null && form.kind === 'single') this.#misfits.add(form);
    return taken;
  }

  #takeForm(id: EntryId, form: EntryForm): readonly Taken[] | null {
    switch (form.kind) {
      case 'single':
        return this.#takeSingle(id, form);
      case 'gang':
        return this.#takeGang(id, form, form.taskCount);
      case 'bundles':
        return this.#takeBundles(id, form);
      default:
        return unreachable(form);
    }
  }

  #takeSingle(id: EntryId, form: EntryForm): readonly Taken[] | null {
    const from = this.#from.get(form) ?? new Map<string, number>();
    this.#from.set(form, from);
    for (const [part, groups] of this.#admittedTo(form)) {
      for (const { group, rooms } of groups) {
        for (let index = from.get(group.name) ?? 0; index < rooms.length; index++) {
          const room = rooms[index];
          if (room === undefined || !mayUse(room, id) || !fits(part.need, room)) continue;
          from.set(group.name, index);
          return [occupy(room, part.need)];
        }
        from.set(group.name, rooms.length);
      }
    }
    return null;
  }

  /** All tasks in one group; on slices of several hosts whole slices, one task to a host. */
  #takeGang(id: EntryId, form: EntryForm, tasks: number): readonly Taken[] | null {
    for (const [part, groups] of this.#admittedTo(form)) {
      for (const { group, rooms } of groups) {
        const found =
          group.hostsPerSlice > 1
            ? findSlices(rooms, { id, need: part.need, tasks })
            : findHosts(rooms, { id, need: part.need, tasks });
        if (found === null) continue;
        const isWhole = group.hostsPerSlice > 1;
        return found.map((room) => occupy(room, isWhole ? { ...room.whole } : part.need));
      }
    }
    return null;
  }

  #takeBundles(
    id: EntryId,
    form: Extract<EntryForm, { kind: 'bundles' }>,
  ): readonly Taken[] | null {
    const taken: Taken[] = [];
    const used = new Set<Room>();
    for (const [part, groups] of this.#admittedTo(form)) {
      const open = groups
        .flatMap(({ rooms }) => rooms)
        .filter((room) => mayUse(room, id) && fits(part.need, room));
      const fresh = open.find((room) => !used.has(room));
      const isSpread = form.strategy === 'SPREAD' || form.strategy === 'STRICT_SPREAD';
      const room =
        form.strategy === 'STRICT_SPREAD' ? fresh : isSpread ? (fresh ?? open[0]) : open[0];
      if (room === undefined) {
        for (const one of taken) giveBack(one);
        return null;
      }
      used.add(room);
      taken.push(occupy(room, part.need));
    }
    return taken;
  }

  /** Parts with the groups that admit each, best first. */
  #admittedTo(form: EntryForm): ReadonlyMap<Part, readonly GroupRooms[]> {
    const known = this.#admitted.get(form);
    if (known !== undefined) return known;
    const admitted = new Map(
      partsOf(form).map((part) => {
        const wantsDevice = part.asks.some(needsDevice);
        const groups = [...this.#groups.values()]
          .filter(({ group }) => findMismatches(part, group).length === 0)
          .sort(byNumber(({ group }) => (!wantsDevice && hasAccelerator(group) ? 1 : 0)));
        return [part, groups];
      }),
    );
    this.#admitted.set(form, admitted);
    return admitted;
  }
}

const mayUse = ({ reservedFor }: Room, id: EntryId): boolean =>
  reservedFor === null || reservedFor === id;

const fits = (need: Resources, { free }: Room): boolean => firstShortage(need, free) === null;

function occupy(room: Room, took: Resources): Taken {
  for (const name in took) room.free[name] = (room.free[name] ?? 0) - (took[name] ?? 0);
  room.isEmpty = false;
  return { room, took };
}

/** Undoes a taking of the same pass; whether the host was empty is not asked again in it. */
function giveBack({ room, took }: Taken): void {
  for (const name in took) room.free[name] = (room.free[name] ?? 0) + (took[name] ?? 0);
}

interface GangAsk {
  readonly id: EntryId;
  readonly need: Resources;
  readonly tasks: number;
}

function findSlices(rooms: readonly Room[], { id, need, tasks }: GangAsk): readonly Room[] | null {
  const slices = new Map<SliceId, Room[]>();
  for (const room of rooms) {
    if (!room.isEmpty || !mayUse(room, id) || !fits(need, room)) continue;
    const list = slices.get(room.sliceId);
    if (list === undefined) slices.set(room.sliceId, [room]);
    else list.push(room);
  }
  const found = [...slices.values()]
    .filter((hosts) => hosts.length === hosts[0]?.group.hostsPerSlice)
    // Those held for it first: they can serve nobody else.
    .sort(byNumber((hosts) => (hosts[0]?.reservedFor === id ? 0 : 1)))
    .flat();
  return found.length < tasks ? null : found.slice(0, tasks);
}

function findHosts(rooms: readonly Room[], { id, need, tasks }: GangAsk): readonly Room[] | null {
  const found: Room[] = [];
  for (const room of rooms.toSorted(byNumber((one) => (one.reservedFor === id ? 0 : 1)))) {
    if (!mayUse(room, id)) continue;
    for (let n = Math.min(copies(need, room), tasks - found.length); n > 0; n--) found.push(room);
    if (found.length === tasks) return found;
  }
  return null;
}

function copies(need: Resources, { free }: Room): number {
  let most = Infinity;
  for (const name in need) {
    const each = need[name] ?? 0;
    if (each > 0) most = Math.min(most, Math.floor((free[name] ?? 0) / each));
  }
  return most;
}

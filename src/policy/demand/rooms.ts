import type { RoomKind } from '../../model/reason.ts';
import { must } from '../../support/assert.ts';
import { type HostLoad, HostList, type RoomView, type Taken, type TakenHost } from './host-list.ts';
import { TrialLog } from './trial-log.ts';

/**
 * Free room by group, consumed in a fixed order: reported room, then slices on their way, then
 * slices opened in this decision. Parts are named by their index in the problem.
 */
export interface Rooms {
  /** Adds hosts behind those there; `isUntouched` for whole slices without work. */
  readonly add: (group: number, room: RoomView) => void;
  /** First fit: places up to `copies` of a part, one or more to a host, and says where. */
  readonly take: (group: number, part: number, copies: number) => readonly Taken[];
  /** Places one copy, never on a host in `avoid`. */
  readonly takeOne: (group: number, part: number, avoid: ReadonlySet<object>) => TakenHost | null;
  /** Untouched slices of the group. */
  readonly wholeSlices: (group: number) => number;
  /** The same by where they come from; `new` ones are left out. */
  readonly unused: (group: number) => { readonly ready: number; readonly onItsWay: number };
  /** Takes untouched slices out, for a gang alone; fewer may be there than asked. */
  readonly takeWholeSlices: (
    group: number,
    slices: number,
  ) => readonly { kind: RoomKind; slices: number }[];
  /** Hosts with room, in order, as they are now: what is placed later shows in them. */
  readonly view: (group: number) => readonly RoomView[];
  /** Books loads on hosts, by place in the order of `view`; not within a trial. */
  readonly load: (group: number, loads: readonly (readonly HostLoad[] | undefined)[]) => void;
  /** Trials: what was done since a mark is kept or undone. */
  readonly trials: TrialLog;
}

interface RoomsInput {
  readonly hostsPerSlice: readonly number[];
  /** Per part, what one copy needs, by resource index. */
  readonly needs: readonly Float64Array[];
}

export function createRooms({ hostsPerSlice, needs }: RoomsInput): Rooms {
  const trials = new TrialLog();
  const lists = hostsPerSlice.map((hosts) => new HostList(hosts, trials));
  const listOf = (group: number): HostList => must(lists[group], 'a group index');
  const needOf = (part: number): Float64Array => must(needs[part], 'a part index');
  return {
    add: (group, room) => listOf(group).add(room),
    take: (group, part, copies) => listOf(group).take(part, needOf(part), copies),
    takeOne: (group, part, avoid) => listOf(group).takeOne(needOf(part), avoid),
    wholeSlices: (group) => listOf(group).wholeSlices,
    unused: (group) => listOf(group).unused,
    takeWholeSlices: (group, slices) => listOf(group).takeWholeSlices(slices),
    view: (group) => listOf(group).view(),
    load: (group, loads) => listOf(group).load(loads, needs),
    trials,
  };
}

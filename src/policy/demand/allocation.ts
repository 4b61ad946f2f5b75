import type { LaunchCauses } from '../../model/decision.ts';
import type { Exclusion, RoomKind } from '../../model/reason.ts';
import { must } from '../../support/assert.ts';
import type { Turns } from '../../support/turns.ts';
import type { DemandProblem, JudgedPart, Ledger, Want } from './problem.ts';
import type { Taken } from './host-list.ts';

/** So many tasks of an entry on one kind of room of a group, by index. */
export interface Berth {
  readonly group: number;
  readonly room: RoomKind;
  readonly tasks: number;
}

/** `count` entries of a class, placed alike. */
export interface Berthing {
  readonly berths: readonly Berth[];
  count: number;
}

/** A strategy's work in progress, and then its result: where every entry went, what was opened. */
export interface Allocation {
  readonly ledger: Ledger;
  /** By class index of the snapshot, in service order of its entries. */
  readonly berthings: readonly Berthing[][];
  /** Slices opened so far, by group and by what asked for them. */
  readonly opened: Readonly<Record<LaunchCause, Int32Array>>;
  /** By class index: of bundles that found no place, the part that stuck and what kept it out. */
  readonly stuck: Map<number, Stuck>;
  /** The group of every opening so far: elsewhere, room has only shrunk. */
  readonly openings: readonly number[];
  /** Classes for which nothing was found, with the number of openings at that time. */
  readonly exhausted: Map<number, number>;
  /** By class of single tasks placed by rank: where to go on looking. */
  readonly bookmarks: Map<number, Bookmark>;
  /** Records `count` more entries of a class. */
  readonly place: (want: Want, count: number, berths: readonly Berth[]) => void;
  /** Opens slices and makes their hosts room for this decision. */
  readonly open: (group: number, slices: number, cause?: LaunchCause) => void;
  /** Runs a trial that either succeeds whole or leaves no trace in the books; trials may nest. */
  readonly attempt: (trial: () => boolean) => boolean;
}

/** A part of an entry with no place beside the entry's other parts; by group, the rules against it. */
export interface Stuck {
  readonly part: JudgedPart;
  readonly rules: readonly (readonly Exclusion[])[];
}

/** Groups by rank before these places have no room, as of so many openings, and cannot open. */
export interface Bookmark {
  readonly roomsFrom: number;
  readonly openings: number;
  readonly opensFrom: number;
}

export type LaunchCause = keyof LaunchCauses;

/** A strategy decides where pending work goes and which slices to open for it. */
export type AllocateDemand = (problem: DemandProblem) => Turns<Allocation>;

export function createAllocation(problem: DemandProblem, ledger: Ledger): Allocation {
  const { groups, capacity, snapshot } = problem;
  const none = (): Int32Array => new Int32Array(groups.length);
  const opened = { demand: none(), min: none(), spare: none(), floor: none() };
  const berthings: Berthing[][] = snapshot.demand.map(() => []);
  let openings: { readonly group: number; readonly slices: number; readonly list: Int32Array }[] =
    [];
  const openedGroups: number[] = [];
  return {
    ledger,
    berthings,
    opened,
    place(want, count, berths) {
      if (count === 0) return;
      const list = must(berthings[want.index], 'one list per class');
      const last = list.at(-1);
      if (last !== undefined && isSame(last.berths, berths)) last.count += count;
      else list.push({ count, berths });
    },
    stuck: new Map(),
    exhausted: new Map(),
    bookmarks: new Map(),
    openings: openedGroups,
    open(group, slices, cause = 'demand') {
      ledger.budgets.open(group, slices);
      const hosts = slices * must(groups[group], 'a group index').hostsPerSlice;
      const free = must(capacity[group], 'a group index');
      ledger.rooms.add(group, { kind: 'new', free, count: hosts, isUntouched: true });
      const list = opened[cause];
      list[group] = (list[group] ?? 0) + slices;
      openings.push({ group, slices, list });
      openedGroups.push(group);
    },
    attempt(trial) {
      const mark = ledger.rooms.trials.mark();
      const before = openings;
      openings = [];
      const isDone = trial();
      const mine = openings;
      openings = before;
      if (isDone) {
        ledger.rooms.trials.keep(mark);
        openings.push(...mine);
        return true;
      }
      ledger.rooms.trials.undo(mark);
      for (const { group, slices, list } of mine.reverse()) {
        ledger.budgets.close(group, slices);
        list[group] = (list[group] ?? 0) - slices;
      }
      return false;
    },
  };
}

const isSame = (a: readonly Berth[], b: readonly Berth[]): boolean =>
  a.length === b.length &&
  a.every((berth, index) => {
    const other = b[index];
    return berth.group === other?.group && berth.room === other.room && berth.tasks === other.tasks;
  });

/** Places single tasks where a group has room now; returns how many found some. */
export function placeInRooms(
  allocation: Allocation,
  want: Want,
  group: number,
  copies: number,
): number {
  const part = must(want.parts[0], 'a single task has one part');
  let placed = 0;
  for (const { kind, count } of allocation.ledger.rooms.take(group, part.index, copies)) {
    allocation.place(want, count, [{ group, room: kind, tasks: 1 }]);
    placed += count;
  }
  return placed;
}

/** What a gang took, as berths of one group. */
export const toBerths = (group: number, taken: readonly Taken[]): readonly Berth[] =>
  taken.map(({ kind, count }) => ({ group, room: kind, tasks: count }));

import type { EpochMs, GroupName, MachineId, SliceId } from '../../model/ids.ts';
import { machineId } from '../../model/ids.ts';
import type { Machine, MachineState } from '../../model/machine.ts';
import { must } from '../../support/assert.ts';
import type { Alarm } from './agenda.ts';

/** How a machine looked from a point in time on. */
interface Moment {
  readonly sinceMs: EpochMs;
  readonly state: MachineState;
  readonly interruptionAtMs: EpochMs | null;
  /** What lists say of it: made once, for lists are many. */
  readonly row: Machine;
}

/** One machine, from its allocation to its end and after. */
export interface SimulatedMachine {
  readonly machineId: MachineId;
  /** Whose tag it carries; null for none. */
  readonly fleet: string | null;
  readonly sliceId: SliceId;
  readonly group: GroupName;
  readonly hostIndex: number;
  readonly hostCount: number;
  readonly fromMs: EpochMs;
  toMs: EpochMs | null;
  /** Never said to be gone: it is just not listed any more. */
  hasVanished: boolean;
  /** All it has been, oldest first; lists that lag look here. */
  readonly moments: Moment[];
  /** What is yet to happen to it. */
  readonly alarms: Alarm[];
  /** When a list last showed it, and until when lists leave it out. */
  shownAtMs: number | null;
  hiddenUntilMs: number;
}

export type NewMachine = Pick<
  SimulatedMachine,
  'fleet' | 'sliceId' | 'group' | 'hostIndex' | 'hostCount'
>;

function toMoment(
  machine: Pick<SimulatedMachine, 'machineId' | 'sliceId' | 'group' | 'hostIndex'>,
  look: Omit<Moment, 'row'>,
): Moment {
  const { machineId: id, sliceId, group, hostIndex } = machine;
  const { state, interruptionAtMs } = look;
  const row = { machineId: id, sliceId, group, hostIndex, state, interruptionAtMs };
  return { ...look, row };
}

const lastMoment = ({ moments }: SimulatedMachine): Moment =>
  must(moments.at(-1), 'a machine has been something since it was made');

export const stateOf = (machine: SimulatedMachine): MachineState => lastMoment(machine).state;

/** Every machine there is and was. */
export class Inventory {
  /** How long a machine is still listed as gone. */
  readonly #goneListedMs: number;
  readonly #all: SimulatedMachine[] = [];
  readonly #alive = new Set<SimulatedMachine>();
  /** Those a list may have to show: the alive and the lately gone. */
  readonly #listable = new Set<SimulatedMachine>();

  /** By fleet, what a list without faults last said, and how long it says so. */
  readonly #rows = new Map<
    string,
    { readonly version: number; readonly untilMs: number; readonly rows: readonly Machine[] }
  >();

  constructor(goneListedMs: number) {
    this.#goneListedMs = goneListedMs;
  }

  /** Rises whenever a machine comes, changes or goes. */
  version = 0;

  get all(): readonly SimulatedMachine[] {
    return this.#all;
  }

  get alive(): ReadonlySet<SimulatedMachine> {
    return this.#alive;
  }

  add(machine: NewMachine, nowMs: EpochMs): SimulatedMachine {
    const id = machineId(`sim-${this.#all.length}`);
    const first = { sinceMs: nowMs, state: 'starting', interruptionAtMs: null } as const;
    const added: SimulatedMachine = {
      ...machine,
      machineId: id,
      fromMs: nowMs,
      toMs: null,
      hasVanished: false,
      moments: [toMoment({ ...machine, machineId: id }, first)],
      alarms: [],
      shownAtMs: null,
      hiddenUntilMs: 0,
    };
    this.version++;
    this.#all.push(added);
    this.#alive.add(added);
    this.#listable.add(added);
    return added;
  }

  move(machine: SimulatedMachine, state: MachineState, nowMs: EpochMs): void {
    const { interruptionAtMs } = lastMoment(machine);
    this.version++;
    machine.moments.push(toMoment(machine, { sinceMs: nowMs, state, interruptionAtMs }));
  }

  announce(machine: SimulatedMachine, interruptionAtMs: EpochMs, nowMs: EpochMs): void {
    this.version++;
    const state = stateOf(machine);
    machine.moments.push(toMoment(machine, { sinceMs: nowMs, state, interruptionAtMs }));
  }

  end(machine: SimulatedMachine, how: 'gone' | 'vanished', nowMs: EpochMs): void {
    if (!this.#alive.delete(machine)) return;
    for (const alarm of machine.alarms.splice(0)) alarm.cancel();
    machine.toMs = nowMs;
    machine.hasVanished = how === 'vanished';
    this.move(machine, 'gone', nowMs);
  }

  /** Candidates for a list; forgets those gone for so long that no list can show them. */
  listable(fleet: string, nowMs: EpochMs, lagMs: number): readonly SimulatedMachine[] {
    const found: SimulatedMachine[] = [];
    for (const machine of this.#listable) {
      if (machine.toMs !== null && nowMs > machine.toMs + this.#goneListedMs + lagMs) {
        this.#listable.delete(machine);
      } else if (machine.fleet === fleet) found.push(machine);
    }
    return found;
  }

  /** What a list without faults says: the same array until something changes, for lists are many. */
  rows(fleet: string, nowMs: EpochMs, lagMs: number): readonly Machine[] {
    const { version } = this;
    const before = this.#rows.get(fleet);
    if (before?.version === version && nowMs <= before.untilMs) return before.rows;
    const rows: Machine[] = [];
    let untilMs = Infinity;
    for (const machine of this.listable(fleet, nowMs, lagMs)) {
      const row = this.rowAt(machine, nowMs);
      if (row === null) continue;
      rows.push(row);
      if (machine.toMs !== null) untilMs = Math.min(untilMs, machine.toMs + this.#goneListedMs);
    }
    this.#rows.set(fleet, { version, untilMs, rows });
    return rows;
  }

  /** The row as it was at that time; null when there was none. */
  rowAt(machine: SimulatedMachine, atMs: number): Machine | null {
    const last = lastMoment(machine);
    const moment =
      last.sinceMs <= atMs ? last : machine.moments.findLast(({ sinceMs }) => sinceMs <= atMs);
    if (moment === undefined) return null;
    if (moment.state === 'gone') {
      const isShown = !machine.hasVanished && atMs <= moment.sinceMs + this.#goneListedMs;
      if (!isShown) return null;
    }
    return moment.row;
  }
}

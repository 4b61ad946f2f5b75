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
    const added: SimulatedMachine = {
      ...machine,
      machineId: machineId(`sim-${this.#all.length}`),
      fromMs: nowMs,
      toMs: null,
      hasVanished: false,
      moments: [{ sinceMs: nowMs, state: 'starting', interruptionAtMs: null }],
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
    machine.moments.push({ sinceMs: nowMs, state, interruptionAtMs });
  }

  announce(machine: SimulatedMachine, interruptionAtMs: EpochMs, nowMs: EpochMs): void {
    this.version++;
    machine.moments.push({ sinceMs: nowMs, state: stateOf(machine), interruptionAtMs });
  }

  end(machine: SimulatedMachine, how: 'gone' | 'vanished', nowMs: EpochMs): void {
    if (!this.#alive.delete(machine)) return;
    for (const alarm of machine.alarms.splice(0)) alarm.cancel();
    machine.toMs = nowMs;
    machine.hasVanished = how === 'vanished';
    this.move(machine, 'gone', nowMs);
  }

  /** Candidates for a list; forgets those gone for so long that no list can show them. */
  *listable(fleet: string, nowMs: EpochMs, lagMs: number): Generator<SimulatedMachine> {
    for (const machine of this.#listable) {
      if (machine.toMs !== null && nowMs > machine.toMs + this.#goneListedMs + lagMs) {
        this.#listable.delete(machine);
      } else if (machine.fleet === fleet) yield machine;
    }
  }

  /** The row as it was at that time; null when there was none. */
  rowAt(machine: SimulatedMachine, atMs: number): Machine | null {
    const moment = machine.moments.findLast(({ sinceMs }) => sinceMs <= atMs);
    if (moment === undefined) return null;
    if (moment.state === 'gone') {
      const isShown = !machine.hasVanished && atMs <= moment.sinceMs + this.#goneListedMs;
      if (!isShown) return null;
    }
    const { machineId, sliceId, group, hostIndex } = machine;
    const { state, interruptionAtMs } = moment;
    return { machineId, sliceId, group, hostIndex, state, interruptionAtMs };
  }
}

import { type HostSight, type LaunchAnswer, type SliceSight, unseen } from '../lifecycle/sight.ts';
import type { HostReport } from '../model/host-report.ts';
import type { EpochMs, SliceId } from '../model/ids.ts';
import type { Machine } from '../model/machine.ts';
import type { Resources } from '../model/resources.ts';
import type { SliceRecord } from '../model/slice-record.ts';

type Known = Pick<SliceRecord, 'id' | 'hostCount' | 'provider' | 'machines'>;
type Listed = ReadonlyMap<SliceId, readonly Machine[]>;

/** When something was last seen. */
interface Seen {
  atMs: EpochMs;
}

/** What is known of one provider's lists. */
interface ListState {
  listedMs: EpochMs | null;
  /** The last list that was believed, as it came and by slice. */
  list: readonly Machine[] | null;
  machines: Map<SliceId, readonly Machine[]>;
  /** Shared by all hosts that the last list showed: most show the same in list after list. */
  seen: Seen;
  /** Lists in a row that lacked most of what there was: not believed at once. */
  suspectCount: number;
  /** Since when lists fail; null while they come. */
  silentSinceMs: EpochMs | null;
}

/** So many lists in a row must agree that most machines are gone before it is believed. */
const SUSPECT_LISTS_MAX = 3;
const SUSPECT_LEAST = 4;

/**
 * What was seen and not remembered: lists, reports, answers to calls. Level, not edge: it stays until
 * it is replaced, so that a pass that fails loses nothing.
 */
export class Sights {
  readonly #slices = new Map<SliceId, SliceSight>();
  readonly #providers = new Map<string, ListState>();
  readonly watchingSinceMs: EpochMs;

  constructor(watchingSinceMs: EpochMs) {
    this.watchingSinceMs = watchingSinceMs;
  }

  of(record: Known): SliceSight {
    const known = this.#slices.get(record.id);
    if (known !== undefined) return known;
    const list = this.#stateOf(record.provider);
    const hosts = record.machines.map((machineId): HostSight | null => {
      // Remembered, not seen: what it is now the next list says.
      const remembered = { machineId, state: 'starting', interruptionAtMs: null } as const;
      const seen = { atMs: this.watchingSinceMs };
      return machineId === null ? null : new SeenHost({ ...remembered, machineId }, seen);
    });
    const machines = list.machines.get(record.id) ?? [];
    const sight = withMachines({ ...unseen(record.hostCount), hosts }, list.seen, machines);
    this.#slices.set(record.id, sight);
    if (hosts.some((host) => host !== null)) this.#expect(record);
    return sight;
  }

  /** A first list that lacks most of what is remembered is no more believable than a later one. */
  #expect({ id, provider }: Known): void {
    const state = this.#stateOf(provider);
    if (state.listedMs === null) state.machines.set(id, []);
  }

  forget(sliceId: SliceId): void {
    this.#slices.delete(sliceId);
  }

  /** Start of the provider's last list that was believed. */
  listedMs(provider: string): EpochMs | null {
    return this.#providers.get(provider)?.listedMs ?? null;
  }

  /** Whether each of them has been seen once. */
  hasListed(providers: Iterable<string>): boolean {
    return [...providers].every((name) => this.listedMs(name) !== null);
  }

  /** Since when its lists fail. */
  silentSinceMs(provider: string): EpochMs | null {
    return this.#providers.get(provider)?.silentSinceMs ?? null;
  }

  /** Slices that a provider's last list showed. */
  listed(provider: string): Listed {
    return this.#providers.get(provider)?.machines ?? new Map();
  }

  /**
   * Takes a list in; false when it is held back as too strange to be true. `isLeaving` says which
   * slices are expected to vanish.
   */
  list(
    provider: string,
    { startedMs, machines }: { readonly startedMs: EpochMs; readonly machines: readonly Machine[] },
    isLeaving: (sliceId: SliceId) => boolean,
  ): boolean {
    const state = this.#stateOf(provider);
    if (machines !== state.list && !this.#takeIn(state, machines, isLeaving)) return false;
    state.suspectCount = 0;
    state.silentSinceMs = null;
    state.listedMs = startedMs;
    state.seen.atMs = startedMs;
    return true;
  }

  /** False when it is too strange to be true. */
  #takeIn(
    state: ListState,
    machines: readonly Machine[],
    isLeaving: (sliceId: SliceId) => boolean,
  ): boolean {
    const listed = bySlice(machines);
    let isShort = false;
    for (const id of state.machines.keys()) isShort ||= !listed.has(id);
    const staying = isShort ? [...state.machines.keys()].filter((id) => !isLeaving(id)) : [];
    if (isSuspect(staying, listed) && ++state.suspectCount < SUSPECT_LISTS_MAX) return false;
    for (const id of isShort ? state.machines.keys() : []) {
      if (!listed.has(id)) this.#see(id, state.seen, []);
    }
    for (const [id, ones] of listed) {
      const before = state.machines.get(id);
      if (before !== undefined && isSameList(before, ones)) listed.set(id, before);
      else this.#see(id, state.seen, ones);
    }
    state.list = machines;
    state.machines = listed;
    return true;
  }

  listFailed(provider: string, nowMs: EpochMs): void {
    this.#stateOf(provider).silentSinceMs ??= nowMs;
  }

  /** True when the report says something new. */
  report(record: Known, report: HostReport): boolean {
    const sight = this.of(record);
    const before = sight.reports[report.hostIndex] ?? null;
    const reports = sight.reports.with(report.hostIndex, report);
    const { hosts, machineCount, launch, releaseAcceptedMs } = sight;
    this.#slices.set(record.id, { hosts, machineCount, reports, launch, releaseAcceptedMs });
    return (
      before === null ||
      before.isBusy !== report.isBusy ||
      before.drain !== report.drain ||
      !isSameRoom(before.free, report.free)
    );
  }

  answer(record: Known, launch: LaunchAnswer): void {
    this.#slices.set(record.id, { ...this.of(record), launch });
  }

  releaseAccepted(record: Known, releaseAcceptedMs: EpochMs): void {
    this.#slices.set(record.id, { ...this.of(record), releaseAcceptedMs });
  }

  #stateOf(provider: string): ListState {
    let state = this.#providers.get(provider);
    if (state === undefined) {
      state = {
        listedMs: null,
        list: null,
        machines: new Map(),
        seen: { atMs: this.watchingSinceMs },
        suspectCount: 0,
        silentSinceMs: null,
      };
      this.#providers.set(provider, state);
    }
    return state;
  }

  #see(id: SliceId, seen: Seen, machines: readonly Machine[]): void {
    const sight = this.#slices.get(id);
    if (sight !== undefined) this.#slices.set(id, withMachines(sight, seen, machines));
  }
}

/** A host that a list showed. That another list shows it as it was costs nothing. */
class SeenHost implements HostSight {
  readonly machineId: HostSight['machineId'];
  readonly state: HostSight['state'];
  readonly interruptionAtMs: HostSight['interruptionAtMs'];
  readonly failure?: string;
  readonly #seen: Seen;

  constructor(shown: Omit<HostSight, 'lastSeenMs'>, seen: Seen) {
    this.machineId = shown.machineId;
    this.state = shown.state;
    this.interruptionAtMs = shown.interruptionAtMs;
    if (shown.failure !== undefined) this.failure = shown.failure;
    this.#seen = seen;
  }

  get lastSeenMs(): EpochMs {
    return this.#seen.atMs;
  }

  /** As it is from now on, unless a list shows it again. */
  missing(): SeenHost {
    return new SeenHost(this, { atMs: this.#seen.atMs });
  }
}

function bySlice(machines: readonly Machine[]): Map<SliceId, readonly Machine[]> {
  const listed = new Map<SliceId, Machine[]>();
  for (const machine of machines) {
    const known = listed.get(machine.sliceId);
    if (known === undefined) listed.set(machine.sliceId, [machine]);
    else known.push(machine);
  }
  return listed;
}

/** Whether two lists say the same of a slice. */
function isSameList(before: readonly Machine[], now: readonly Machine[]): boolean {
  if (before.length !== now.length) return false;
  for (let n = 0; n < now.length; n++) {
    const [a, b] = [before[n], now[n]];
    if (
      a?.machineId !== b?.machineId ||
      a?.hostIndex !== b?.hostIndex ||
      a?.state !== b?.state ||
      a?.interruptionAtMs !== b?.interruptionAtMs ||
      a?.failure !== b?.failure ||
      a?.group !== b?.group
    ) {
      return false;
    }
  }
  return true;
}

/** Whether two reports of room say the same. */
export function isSameRoom(before: Resources, now: Resources): boolean {
  if (before === now) return true;
  let count = 0;
  for (const name in now) {
    if (before[name] !== now[name]) return false;
    count++;
  }
  return count === Object.keys(before).length;
}

/** Most of what there was has vanished at once: rather a lying list than a lost fleet. */
function isSuspect(before: readonly SliceId[], listed: Listed): boolean {
  const missing = before.filter((id) => !listed.has(id)).length;
  return missing >= SUSPECT_LEAST && missing * 2 > before.length;
}

/** What a list shows of a slice; `seen` is the time that all it shows will have been seen at. */
function withMachines(sight: SliceSight, seen: Seen, machines: readonly Machine[]): SliceSight {
  const hosts = sight.hosts.map((host, index): HostSight | null => {
    const machine = findHost(machines, index, host);
    if (machine !== null) return new SeenHost(machine, seen);
    return host instanceof SeenHost ? host.missing() : host;
  });
  const { reports, launch, releaseAcceptedMs } = sight;
  return { hosts, machineCount: countLive(machines), reports, launch, releaseAcceptedMs };
}

/** A host is one machine for life: another one in its place does not stand for it. */
function findHost(
  machines: readonly Machine[],
  index: number,
  host: HostSight | null,
): Machine | null {
  for (const machine of machines) {
    if (machine.hostIndex !== index) continue;
    if (host === null || machine.machineId === host.machineId) return machine;
  }
  return null;
}

/** A list may well show the same machine twice. */
function countLive(machines: readonly Machine[]): number {
  if (machines.length === 1) return machines[0]?.state === 'gone' ? 0 : 1;
  const live = machines.filter(({ state }) => state !== 'gone');
  return live.length < 2 ? live.length : new Set(live.map(({ machineId }) => machineId)).size;
}

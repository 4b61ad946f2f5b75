import type { Entry } from '../model/demand.ts';
import type { Group } from '../model/group.ts';
import type { HostOrder, HostReport } from '../model/host-report.ts';
import type { EntryId, EpochMs, MachineId, SliceId } from '../model/ids.ts';
import type { Resources } from '../model/resources.ts';
import { findMismatches, partsOf } from '../policy/demand/eligibility.ts';
import { byFirst, byNumber, byText, type Compare } from '../support/order.ts';
import { assert, must } from '../support/assert.ts';

/** A piece of work of the simulated users: an entry, and how long each of its tasks runs. */
export interface Work {
  readonly entry: Entry;
  readonly runMs: number;
}

/** A machine on which the scheduler's agent runs. */
export interface AgentHost {
  readonly machineId: MachineId;
  readonly sliceId: SliceId;
  readonly group: Group;
  readonly hostIndex: number;
}

interface HostState extends AgentHost {
  free: Record<string, number>;
  readonly running: Set<string>;
}

interface Job {
  readonly work: Work;
  readonly arrivedMs: EpochMs;
  /** Machines of its tasks while it runs. */
  hosts: readonly MachineId[];
  endsMs: number;
  startedMs: EpochMs | null;
  restarts: number;
}

/** What became of a piece of work. */
export interface Finished {
  readonly id: EntryId;
  readonly waitMs: number;
  readonly restarts: number;
}

const byTurn: Compare<Job> = byFirst(
  byNumber(({ work }) => -work.entry.priority),
  byNumber(({ arrivedMs }) => arrivedMs),
  (a, b) => byText(a.work.entry.id, b.work.entry.id),
);

/**
 * A scheduler such as an operator might have: it keeps the pending work, puts it on hosts that have
 * joined, first fit, reports its hosts and obeys drains. It knows nothing of Bellows but the wire.
 */
export class OutsideScheduler {
  readonly #hosts = new Map<MachineId, HostState>();
  readonly #pending = new Map<EntryId, Job>();
  readonly #running = new Map<EntryId, Job>();
  readonly #cordoned = new Set<SliceId>();
  readonly #fits = new Map<string, boolean>();
  readonly finished: Finished[] = [];
  /** Rises whenever the pending work changes. */
  generation = 0;

  submit(work: Work, nowMs: EpochMs): void {
    const job = { work, arrivedMs: nowMs, hosts: [], endsMs: 0, startedMs: null, restarts: 0 };
    this.#pending.set(work.entry.id, job);
    this.generation++;
  }

  /** Takes back what waits or runs. */
  cancel(id: EntryId): void {
    const job = this.#running.get(id);
    if (job !== undefined) this.#free(job);
    this.#running.delete(id);
    if (this.#pending.delete(id)) this.generation++;
  }

  get pending(): readonly Entry[] {
    return [...this.#pending.values()].map(({ work }) => work.entry);
  }

  get runningCount(): number {
    return this.#running.size;
  }

  /** Work on hosts of a slice. */
  workOn(sliceId: SliceId): readonly EntryId[] {
    const found = new Set<EntryId>();
    for (const [id, { hosts }] of this.#running) {
      if (hosts.some((machine) => this.#hosts.get(machine)?.sliceId === sliceId)) found.add(id);
    }
    return [...found];
  }

  /** Hosts that are there now: new ones join, those gone take their work with them. */
  join(hosts: readonly AgentHost[]): void {
    const there = new Set(hosts.map(({ machineId }) => machineId));
    for (const host of hosts) {
      if (this.#hosts.has(host.machineId)) continue;
      this.#hosts.set(host.machineId, {
        ...host,
        free: { ...host.group.host },
        running: new Set(),
      });
    }
    for (const [machineId, host] of this.#hosts) {
      if (there.has(machineId)) continue;
      for (const id of host.running) this.#lose(id as EntryId); // running holds entry ids
      this.#hosts.delete(machineId);
    }
  }

  /** Ends what is done and starts what can be. `reserved` names the gang that alone may use a slice. */
  schedule(nowMs: EpochMs, reserved: (sliceId: SliceId) => EntryId | null): void {
    for (const [id, job] of this.#running) {
      if (nowMs < job.endsMs) continue;
      this.#free(job);
      this.#running.delete(id);
      const waitMs = must(job.startedMs, 'it ran') - job.arrivedMs;
      this.finished.push({ id, waitMs, restarts: job.restarts });
    }
    for (const job of [...this.#pending.values()].sort(byTurn)) {
      const hosts = this.#find(job.work.entry, reserved);
      if (hosts === null) continue;
      job.hosts = hosts.map(({ machineId }) => machineId);
      job.startedMs ??= nowMs;
      job.endsMs = nowMs + job.work.runMs;
      this.#occupy(job, hosts);
      this.#pending.delete(job.work.entry.id);
      this.#running.set(job.work.entry.id, job);
      this.generation++;
    }
  }

  /** One report per host that has joined. */
  reports(nowMs: EpochMs): readonly HostReport[] {
    return [...this.#hosts.values()].map(({ sliceId, hostIndex, free, running }) => {
      const isCordoned = this.#cordoned.has(sliceId);
      return {
        sliceId,
        hostIndex,
        free: { ...free },
        isBusy: running.size > 0,
        drain: isCordoned && running.size === 0 ? 'drained' : 'none',
        atMs: nowMs,
      };
    });
  }

  obey(orders: readonly HostOrder[]): void {
    for (const { sliceId, order } of orders) {
      if (order === 'drain') this.#cordoned.add(sliceId);
      else this.#cordoned.delete(sliceId);
    }
  }

  #lose(id: EntryId): void {
    const job = this.#running.get(id);
    if (job === undefined) return;
    this.#free(job);
    this.#running.delete(id);
    job.restarts++;
    this.#pending.set(id, job);
    this.generation++;
  }

  /** Hosts for all tasks of an entry, or null; one host more than once where several tasks fit. */
  #find(
    { id, form }: Entry,
    reserved: (sliceId: SliceId) => EntryId | null,
  ): readonly HostState[] | null {
    assert(form.kind !== 'bundles', 'the simulated scheduler runs tasks and gangs');
    const tasks = form.kind === 'gang' ? form.taskCount : 1;
    const byGroup = new Map<string, HostState[]>();
    for (const host of this.#hosts.values()) {
      if (this.#cordoned.has(host.sliceId) || !this.#isFit(form, host.group)) continue;
      const holder = reserved(host.sliceId);
      if (holder !== null && holder !== id) continue;
      const list = byGroup.get(host.group.name);
      if (list === undefined) byGroup.set(host.group.name, [host]);
      else list.push(host);
    }
    for (const hosts of byGroup.values()) {
      const found =
        form.kind === 'gang' && must(hosts[0], 'a group has a host').group.hostsPerSlice > 1
          ? takeSlices(hosts, tasks)
          : takeHosts(hosts, form.ask.resources, tasks);
      if (found !== null) return found;
    }
    return null;
  }

  #isFit(form: Entry['form'], group: Group): boolean {
    const key = `${group.name} ${JSON.stringify(form)}`;
    const known = this.#fits.get(key);
    if (known !== undefined) return known;
    const isFit = partsOf(form).every((part) => findMismatches(part, group).length === 0);
    this.#fits.set(key, isFit);
    return isFit;
  }

  #occupy({ work }: Job, hosts: readonly HostState[]): void {
    const { form, id } = work.entry;
    assert(form.kind !== 'bundles', 'refused before');
    for (const host of hosts) {
      // A gang on a slice of several hosts has each host to itself.
      const isWhole = form.kind === 'gang' && host.group.hostsPerSlice > 1;
      const need = isWhole ? host.group.host : form.ask.resources;
      for (const name in need) host.free[name] = (host.free[name] ?? 0) - (need[name] ?? 0);
      host.running.add(id);
    }
  }

  #free({ work, hosts }: Job): void {
    const { form, id } = work.entry;
    assert(form.kind !== 'bundles', 'refused before');
    for (const machineId of hosts) {
      const host = this.#hosts.get(machineId);
      if (host === undefined) continue;
      const isWhole = form.kind === 'gang' && host.group.hostsPerSlice > 1;
      const need = isWhole ? host.group.host : form.ask.resources;
      for (const name in need) host.free[name] = (host.free[name] ?? 0) + (need[name] ?? 0);
      host.running.delete(id);
    }
  }
}

/** Whole idle slices for a gang, one task to a host. */
function takeSlices(hosts: readonly HostState[], tasks: number): readonly HostState[] | null {
  const slices = new Map<SliceId, HostState[]>();
  for (const host of hosts) {
    if (host.running.size > 0) continue;
    const list = slices.get(host.sliceId);
    if (list === undefined) slices.set(host.sliceId, [host]);
    else list.push(host);
  }
  const taken: HostState[] = [];
  for (const slice of slices.values()) {
    if (slice.length < must(slice[0], 'a slice has hosts').group.hostsPerSlice) continue;
    taken.push(...slice);
    if (taken.length >= tasks) return taken.slice(0, tasks);
  }
  return null;
}

function takeHosts(
  hosts: readonly HostState[],
  need: Resources,
  tasks: number,
): readonly HostState[] | null {
  const taken: HostState[] = [];
  for (const host of hosts) {
    let fit = Infinity;
    for (const name in need) {
      if ((need[name] ?? 0) > 0) {
        fit = Math.min(fit, Math.floor((host.free[name] ?? 0) / (need[name] ?? 1)));
      }
    }
    for (let n = 0; n < fit && taken.length < tasks; n++) taken.push(host);
    if (taken.length === tasks) return taken;
  }
  return null;
}

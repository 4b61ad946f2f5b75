import type { Entry } from '../model/demand.ts';
import type { Group } from '../model/group.ts';
import type { HostOrder, HostReport } from '../model/host-report.ts';
import { type EntryId, type EpochMs, epochMs, type MachineId, type SliceId } from '../model/ids.ts';
import { findMismatches, partsOf } from '../policy/demand/eligibility.ts';
import { assert, must } from '../support/assert.ts';
import { byFirst, byNumber, byText, type Compare } from '../support/order.ts';
import { type AgentHost, type HostState, takeHosts, takeSlices } from './first-fit.ts';

/** A piece of work of the simulated users: an entry, and how long each of its tasks runs. */
export interface Work {
  readonly entry: Entry;
  readonly runMs: number;
}

interface Job {
  readonly work: Work;
  readonly arrivedMs: EpochMs;
  /** Machines of its tasks while it runs. */
  hosts: readonly MachineId[];
  endsMs: number;
  /** Of its first run, and of the one at hand. */
  startedMs: EpochMs | null;
  runningSinceMs: EpochMs;
  restarts: number;
}

/** What became of a piece of work. */
export interface Finished {
  readonly id: EntryId;
  readonly waitMs: number;
  readonly restarts: number;
}

/** Work that has run for a while: to its end, until it lost a host, or up to now. */
export interface Ran {
  readonly work: Work;
  readonly forMs: number;
  readonly end: 'finished' | 'lost' | 'cancelled' | 'running';
}

const byTurn: Compare<Job> = byFirst(
  byNumber(({ work }) => -work.entry.priority),
  byNumber(({ arrivedMs }) => arrivedMs),
  (a, b) => byText(a.work.entry.id, b.work.entry.id),
);

/** The gang that alone may use a slice. */
export type Reservations = ReadonlyMap<SliceId, EntryId>;

/**
 * A scheduler such as an operator might have: it keeps the pending work, puts it on hosts that have
 * joined, first fit, reports its hosts and obeys drains. It knows nothing of Bellows but the wire.
 */
export class OutsideScheduler {
  readonly #hosts = new Map<MachineId, HostState>();
  readonly #pending = new Map<EntryId, Job>();
  readonly #running = new Map<EntryId, Job>();
  readonly #cordoned = new Set<SliceId>();
  /** By form, then by group: forms are shared by all work alike. */
  readonly #fits = new WeakMap<Entry['form'], Map<Group, boolean>>();
  readonly finished: Finished[] = [];
  /** From arrival to first start, of all that has started. */
  readonly startWaitsMs: number[] = [];
  /** Told of every run when it ends. */
  onRan: ((ran: Ran) => void) | null = null;
  /** Rises whenever the pending work changes. */
  generation = 0;
  /** A gang has come: only gangs have slices kept for them. */
  hasGangs = false;
  #nowMs = epochMs(0);
  #nextEndMs = Infinity;
  #joined: readonly AgentHost[] | null = null;
  /** Hosts without work, and those of which there is news. */
  readonly #unsaid = new Set<HostState>();
  readonly #resting: { readonly host: HostState; readonly sinceMs: number }[] = [];
  /** Nothing that waits can start until work, room or reservations change: it was tried. */
  #stuckWith: string | null = null;

  submit(work: Work, nowMs: EpochMs): void {
    this.#nowMs = nowMs;
    this.hasGangs ||= work.entry.form.kind === 'gang';
    this.#pending.set(work.entry.id, {
      work,
      arrivedMs: nowMs,
      hosts: [],
      endsMs: 0,
      startedMs: null,
      runningSinceMs: nowMs,
      restarts: 0,
    });
    this.#changePending();
  }

  /** All that waits or runs. */
  get ids(): readonly EntryId[] {
    return [...this.#pending.keys(), ...this.#running.keys()];
  }

  /** Takes back what waits or runs. */
  cancel(id: EntryId): void {
    const job = this.#running.get(id);
    if (job !== undefined) this.#end(job, 'cancelled');
    if (this.#pending.delete(id)) this.#changePending();
  }

  get pending(): readonly Entry[] {
    return [...this.#pending.values()].map(({ work }) => work.entry);
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  get runningCount(): number {
    return this.#running.size;
  }

  /** How long each piece of work that has not started yet has waited. */
  waits(nowMs: EpochMs): readonly number[] {
    return [...this.#pending.values()].flatMap(({ startedMs, arrivedMs }) =>
      startedMs === null ? [nowMs - arrivedMs] : [],
    );
  }

  /** What runs now, as far as it has come. */
  runs(nowMs: EpochMs): readonly Ran[] {
    return [...this.#running.values()].map(({ work, runningSinceMs }) => {
      return { work, forMs: nowMs - runningSinceMs, end: 'running' };
    });
  }

  /** Hosts that have joined, with the room left on them. */
  hosts(): Iterable<Readonly<HostState>> {
    return this.#hosts.values();
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
    // Whoever lists them gives the same list while none has come or gone.
    if (hosts === this.#joined) return;
    this.#joined = hosts;
    let known = 0;
    for (const host of hosts) {
      if (this.#hosts.has(host.machineId)) {
        known++;
        continue;
      }
      const room = { free: { ...host.group.host }, running: new Set<string>() };
      const state = { ...host, ...room, reportedMs: null };
      this.#hosts.set(host.machineId, state);
      this.#unsaid.add(state);
      this.#stuckWith = null;
      known++;
    }
    if (known === this.#hosts.size) return;
    const there = new Set(hosts.map(({ machineId }) => machineId));
    for (const [machineId, host] of this.#hosts) {
      if (there.has(machineId)) continue;
      for (const id of host.running) this.#lose(id as EntryId); // running holds entry ids
      this.#hosts.delete(machineId);
      this.#unsaid.delete(host);
    }
  }

  /** Ends what is done and starts what can be. */
  schedule(nowMs: EpochMs, reserved: Reservations): void {
    this.#nowMs = nowMs;
    this.#endDue(nowMs);
    if (this.#pending.size === 0) return;
    const reservations = [...reserved].join();
    if (this.#stuckWith === reservations) return;
    const holders = new Set(reserved.values());
    // What found no room leaves none to others alike, but for slices kept for them.
    const inVain = new Set<Entry['form']>();
    for (const job of [...this.#pending.values()].sort(byTurn)) {
      const { id, form } = job.work.entry;
      if (inVain.has(form) && !holders.has(id)) continue;
      const hosts = this.#find(job.work.entry, reserved);
      if (hosts === null) inVain.add(form);
      else this.#start(job, hosts, nowMs);
    }
    this.#stuckWith = reservations;
  }

  /**
   * One report per host that has joined. A busy host of which there is nothing new is reported again
   * only after `againMs`.
   */
  reports(nowMs: EpochMs, againMs = 0): readonly HostReport[] {
    const reports: HostReport[] = [];
    for (const host of againMs === 0 ? this.#hosts.values() : this.#findUnsaid(againMs)) {
      const { sliceId, hostIndex, free, running } = host;
      const isBusy = running.size > 0;
      const drain = this.#cordoned.has(sliceId) && !isBusy ? 'drained' : 'none';
      reports.push({ sliceId, hostIndex, free, isBusy, drain, atMs: nowMs });
    }
    return reports;
  }

  /** Hosts to be reported now. Those with work rest from then on, the first to do so in front. */
  #findUnsaid(againMs: number): readonly HostState[] {
    const nowMs = this.#nowMs;
    let due = 0;
    for (; due < this.#resting.length; due++) {
      const { host, sinceMs } = must(this.#resting[due], 'below the length');
      if (nowMs - sinceMs < againMs) break;
      const isThere = this.#hosts.get(host.machineId) === host;
      if (isThere && host.reportedMs === sinceMs) this.#unsaid.add(host);
    }
    if (due > 0) this.#resting.splice(0, due);
    const unsaid = [...this.#unsaid];
    for (const host of unsaid) {
      host.reportedMs = nowMs;
      if (host.running.size === 0) continue;
      this.#unsaid.delete(host);
      this.#resting.push({ host, sinceMs: nowMs });
    }
    return unsaid;
  }

  obey(orders: readonly HostOrder[]): void {
    for (const { sliceId, order } of orders) {
      if (order === 'drain') this.#cordoned.add(sliceId);
      else if (this.#cordoned.delete(sliceId)) this.#stuckWith = null;
    }
  }

  #changePending(): void {
    this.generation++;
    this.#stuckWith = null;
  }

  #endDue(nowMs: EpochMs): void {
    if (nowMs < this.#nextEndMs) return;
    this.#nextEndMs = Infinity;
    for (const [id, job] of this.#running) {
      if (nowMs < job.endsMs) {
        this.#nextEndMs = Math.min(this.#nextEndMs, job.endsMs);
        continue;
      }
      this.#end(job, 'finished');
      const waitMs = must(job.startedMs, 'it ran') - job.arrivedMs;
      this.finished.push({ id, waitMs, restarts: job.restarts });
    }
  }

  #start(job: Job, hosts: readonly HostState[], nowMs: EpochMs): void {
    job.hosts = hosts.map(({ machineId }) => machineId);
    if (job.startedMs === null) this.startWaitsMs.push(nowMs - job.arrivedMs);
    job.startedMs ??= nowMs;
    job.runningSinceMs = nowMs;
    job.endsMs = nowMs + job.work.runMs;
    this.#nextEndMs = Math.min(this.#nextEndMs, job.endsMs);
    this.#book(job, hosts, -1);
    this.#pending.delete(job.work.entry.id);
    this.#running.set(job.work.entry.id, job);
    this.#changePending();
  }

  #lose(id: EntryId): void {
    const job = this.#running.get(id);
    if (job === undefined) return;
    this.#end(job, 'lost');
    job.restarts++;
    this.#pending.set(id, job);
    this.#changePending();
  }

  #end(job: Job, end: Ran['end']): void {
    const hosts = job.hosts.flatMap((machineId) => this.#hosts.get(machineId) ?? []);
    this.#book(job, hosts, 1);
    this.#running.delete(job.work.entry.id);
    this.#stuckWith = null;
    // Work that ends between two rounds has run no longer than it was to.
    const untilMs = end === 'finished' ? job.endsMs : this.#nowMs;
    this.onRan?.({ work: job.work, forMs: untilMs - job.runningSinceMs, end });
  }

  /** Hosts for all tasks of an entry, or null; one host more than once where several tasks fit. */
  #find({ id, form }: Entry, reserved: Reservations): readonly HostState[] | null {
    assert(form.kind !== 'bundles', 'the simulated scheduler runs tasks and gangs');
    const tasks = form.kind === 'gang' ? form.taskCount : 1;
    const byGroup = new Map<string, HostState[]>();
    for (const host of this.#hosts.values()) {
      if (!this.#isFit(form, host.group) || this.#cordoned.has(host.sliceId)) continue;
      const holder = reserved.get(host.sliceId);
      if (holder !== undefined && holder !== id) continue;
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
    let byGroup = this.#fits.get(form);
    if (byGroup === undefined) {
      byGroup = new Map();
      this.#fits.set(form, byGroup);
    }
    const known = byGroup.get(group);
    if (known !== undefined) return known;
    const isFit = partsOf(form).every((part) => findMismatches(part, group).length === 0);
    byGroup.set(group, isFit);
    return isFit;
  }

  /** Takes room of hosts (sign -1) or gives it back (1). */
  #book({ work }: Job, hosts: readonly HostState[], sign: 1 | -1): void {
    const { form, id } = work.entry;
    assert(form.kind !== 'bundles', 'refused before');
    for (const host of hosts) {
      // A gang on a slice of several hosts has each host to itself.
      const isWhole = form.kind === 'gang' && host.group.hostsPerSlice > 1;
      const need = isWhole ? host.group.host : form.ask.resources;
      // A new value: reports carry the one that was true then.
      const free = { ...host.free };
      for (const name in need) free[name] = (free[name] ?? 0) + sign * (need[name] ?? 0);
      host.free = free;
      if (sign < 0) host.running.add(id);
      else host.running.delete(id);
      host.reportedMs = null;
      this.#unsaid.add(host);
    }
  }
}

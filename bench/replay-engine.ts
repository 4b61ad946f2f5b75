import { type EpochMs, epochMs } from '../src/model/ids.ts';
import { type Catalogue, createCatalogue, fits } from '../src/policy/placement/catalogue.ts';
import type { RunningWork } from '../src/policy/placement/extension.ts';
import type { Arrival, Room, RoomState } from '../src/policy/placement/headroom.ts';
import type { PlacementHost } from '../src/policy/placement/placement.ts';
import type { RunTime, RunTimes } from '../src/policy/placement/survival.ts';
import type { ReplayPolicy, ReplayPolicyMaker } from './replay-policy.ts';
import type { Demand, ReplayProblem } from './replay-problems.ts';

// Shapes and types are indices below the problem's counts, hence the `!`.

/** What a replay came to. */
export interface ReplayOutcome {
  readonly costMicroUsd: number;
  readonly waitsMs: Float64Array;
  readonly launchCount: number;
  /** Device time used over device time paid for. */
  readonly deviceUseRatio: number;
  /** Work that no type admits. */
  readonly refusedCount: number;
}

interface SimHost extends PlacementHost {
  readonly launchedAtMs: number;
  readonly readyAtMs: number;
  state: 'ready' | 'booting';
  work: readonly SimWork[];
  idleSinceMs: number;
  nextEndMs: number;
}

interface SimWork extends RunningWork {
  readonly endAtMs: number;
}

/** A booting host as it will be once what waits for it has moved in. */
interface MeantHost extends PlacementHost {
  work: readonly RunningWork[];
}

const HOUR_MS = 3_600_000;
/** The last arrivals that a policy is shown. */
const ARRIVALS_SHOWN = 500;

/** Runs a problem under a policy. The same problem and policy give the same outcome. */
export function replay(problem: ReplayProblem, makePolicy: ReplayPolicyMaker): ReplayOutcome {
  const catalogue = createCatalogue(problem.input);
  const policy = makePolicy(catalogue, problem);
  const run = new Replay(problem, catalogue, policy);
  for (let nowMs = 0; nowMs < Infinity; nowMs = run.nextTickMs(nowMs)) run.tick(epochMs(nowMs));
  return run.outcome();
}

const toMeant = (id: string, type: number, free: Float64Array): MeantHost => {
  return { id, type, state: 'booting', free: free.slice(), work: [] };
};

const toRoom = ({ id, type, free }: PlacementHost, state: RoomState): Room => {
  return { hostId: id, type, free, state };
};

/** The state of one run. */
class Replay {
  private hosts: SimHost[] = [];
  private waiting: Demand[] = [];
  private arrivedCount = 0;
  private readonly arrivals: Arrival[] = [];
  private readonly finished: RunTime[] = [];
  private readonly runningCount: Int32Array;
  private readonly hostCount: Int32Array;
  private readonly waitsMs: number[] = [];
  private held: ReadonlySet<string> = new Set();
  private costMicroUsd = 0;
  private launchCount = 0;
  private refusedCount = 0;
  private deviceUsed = 0;
  private devicePaid = 0;
  private readonly problem: ReplayProblem;
  private readonly catalogue: Catalogue;
  private readonly policy: ReplayPolicy;

  constructor(problem: ReplayProblem, catalogue: Catalogue, policy: ReplayPolicy) {
    this.problem = problem;
    this.catalogue = catalogue;
    this.policy = policy;
    this.runningCount = new Int32Array(catalogue.shapes.length);
    this.hostCount = new Int32Array(catalogue.types.length);
  }

  tick(nowMs: EpochMs): void {
    for (const host of this.hosts) {
      if (host.readyAtMs <= nowMs) host.state = 'ready';
      if (host.nextEndMs <= nowMs) this.release(host, nowMs);
    }
    this.policy.startTick(nowMs, () => this.runTimes(nowMs));
    this.admit(nowMs);
    this.startWaiting(nowMs);
    this.openHosts(nowMs);
    this.terminateIdle(nowMs);
  }

  /** The next tick at which anything can have changed; between, nothing would be decided. */
  nextTickMs(nowMs: number): number {
    const { demands, tickMs } = this.problem;
    let next = demands[this.arrivedCount]?.arrivalMs ?? Infinity;
    for (const host of this.hosts) {
      if (host.state === 'booting') next = Math.min(next, host.readyAtMs);
      else if (host.work.length > 0) next = Math.min(next, host.nextEndMs);
      else next = Math.min(next, host.idleSinceMs + this.policy.idleMs[host.type]!);
    }
    return Math.max(nowMs + tickMs, Math.ceil(next / tickMs) * tickMs);
  }

  outcome(): ReplayOutcome {
    return {
      costMicroUsd: this.costMicroUsd,
      waitsMs: Float64Array.from(this.waitsMs).sort(),
      launchCount: this.launchCount,
      deviceUseRatio: this.deviceUsed / this.devicePaid,
      refusedCount: this.refusedCount,
    };
  }

  private runTimes(nowMs: number): RunTimes {
    const running = this.hosts.flatMap(({ work }) => {
      return work.map(({ shape, startedAtMs }) => ({ shape, ranMs: nowMs - startedAtMs }));
    });
    return { finished: this.finished, running };
  }

  private release(host: SimHost, nowMs: number): void {
    const stays: SimWork[] = [];
    host.nextEndMs = Infinity;
    for (const work of host.work) {
      if (work.endAtMs > nowMs) {
        stays.push(work);
        host.nextEndMs = Math.min(host.nextEndMs, work.endAtMs);
        continue;
      }
      const { need } = this.catalogue.shapes[work.shape]!;
      for (let k = 0; k < need.length; k++) host.free[k]! += need[k]!;
      this.runningCount[work.shape]!--;
      this.finished.push({ shape: work.shape, ranMs: work.endAtMs - work.startedAtMs });
      host.idleSinceMs = Math.max(host.idleSinceMs, work.endAtMs);
    }
    host.work = stays;
  }

  private admit(nowMs: EpochMs): void {
    const { demands } = this.problem;
    for (; this.arrivedCount < demands.length; this.arrivedCount++) {
      const demand = demands[this.arrivedCount]!;
      if (demand.arrivalMs > nowMs) break;
      if (this.catalogue.bestType[demand.shape] === -1) {
        this.refusedCount++;
        continue;
      }
      this.waiting.push(demand);
      this.arrivals.push({ shape: demand.shape, arrivedAtMs: epochMs(demand.arrivalMs) });
      if (this.arrivals.length > ARRIVALS_SHOWN) this.arrivals.shift();
    }
  }

  private startWaiting(nowMs: EpochMs): void {
    if (this.waiting.length === 0) return;
    const ready = this.hosts.filter((host) => host.state === 'ready');
    const byId = new Map(ready.map((host) => [host.id, host]));
    this.waiting = this.waiting.filter((demand) => {
      const id = this.policy.place(demand.shape, ready);
      if (id === null) return true;
      this.start(byId.get(id)!, demand, nowMs);
      return false;
    });
  }

  private start(host: SimHost, { shape, arrivalMs, runMs }: Demand, nowMs: EpochMs): void {
    const { need } = this.catalogue.shapes[shape]!;
    for (let k = 0; k < need.length; k++) host.free[k]! -= need[k]!;
    const endAtMs = nowMs + runMs;
    host.work = [...host.work, { shape, startedAtMs: nowMs, endAtMs }];
    host.nextEndMs = Math.min(host.nextEndMs, endAtMs);
    this.runningCount[shape]!++;
    this.waitsMs.push(nowMs - arrivalMs);
    const { deviceResource } = this.catalogue;
    if (deviceResource !== null) this.deviceUsed += need[deviceResource]! * runMs;
  }

  /** Nothing is tied to a booting host: who waits is dealt out anew at every tick. */
  private openHosts(nowMs: EpochMs): void {
    const meant = this.hosts
      .filter((host) => host.state === 'booting')
      .map(({ id, type, free }): MeantHost => toMeant(id, type, free));
    const state = { runningCount: this.runningCount, hostCount: this.hostCount };
    for (const [index, { shape }] of this.waiting.entries()) {
      if (this.bookOn(meant, shape, nowMs)) continue;
      const later = this.waiting.slice(index + 1).map((demand) => demand.shape);
      const backlog = [shape, ...later.filter((other) => !this.hasRoom(meant, other))];
      meant.push(this.launch(this.policy.open(backlog, state), nowMs));
      this.bookOn(meant, shape, nowMs);
    }
    const ready = this.hosts.filter((host) => host.state === 'ready');
    const rooms = [
      ...ready.map((host) => toRoom(host, host.work.length > 0 ? 'busy' : 'idle')),
      ...meant.map((host) => toRoom(host, 'booting')),
    ];
    const ahead = this.policy.headroom(this.arrivals, rooms);
    this.held = new Set(ahead.held);
    if (ahead.kind === 'short') this.launch(this.policy.open(ahead.backlog, state), nowMs);
  }

  private bookOn(meant: readonly MeantHost[], shape: number, nowMs: EpochMs): boolean {
    const id = this.policy.place(shape, meant);
    const host = meant.find((candidate) => candidate.id === id);
    if (host === undefined) return false;
    const { need } = this.catalogue.shapes[shape]!;
    for (let k = 0; k < need.length; k++) host.free[k]! -= need[k]!;
    host.work = [...host.work, { shape, startedAtMs: nowMs }];
    return true;
  }

  private hasRoom(hosts: readonly MeantHost[], shape: number): boolean {
    const { shapes, opens, types } = this.catalogue;
    return hosts.some(({ type, free }) => {
      return opens[shape * types.length + type] === 1 && fits(shapes[shape]!.need, free);
    });
  }

  private launch(type: number, nowMs: EpochMs): MeantHost {
    const id = String(this.launchCount++).padStart(6, '0');
    const readyAtMs = nowMs + this.problem.bootMs[type]!;
    const free = this.catalogue.types[type]!.capacity.slice();
    const host = { id, type, state: 'booting', free, work: [], launchedAtMs: nowMs } as const;
    this.hosts.push({ ...host, readyAtMs, idleSinceMs: readyAtMs, nextEndMs: Infinity });
    this.hostCount[type]!++;
    return toMeant(id, type, free);
  }

  private terminateIdle(nowMs: EpochMs): void {
    const { types, deviceResource } = this.catalogue;
    this.hosts = this.hosts.filter((host) => {
      if (host.state === 'booting' || host.work.length > 0) return true;
      if (this.held.has(host.id)) return true;
      if (nowMs - host.idleSinceMs < this.policy.idleMs[host.type]!) return true;
      const { priceMicroUsdPerHour, capacity } = types[host.type]!;
      const lifeMs = nowMs - host.launchedAtMs;
      this.costMicroUsd += (priceMicroUsdPerHour * lifeMs) / HOUR_MS;
      if (deviceResource !== null) this.devicePaid += capacity[deviceResource]! * lifeMs;
      this.hostCount[host.type]!--;
      return false;
    });
  }
}

import type { Command, CommandAnswer } from '../controller/commands.ts';
import { Controller } from '../controller/controller.ts';
import type { Control } from '../model/control.ts';
import type { Group } from '../model/group.ts';
import { type EntryId, type EpochMs, epochMs, machineId, type SliceId } from '../model/ids.ts';
import { isLive, type SliceRecord } from '../model/slice-record.ts';
import type { TickInput, TickOutput } from '../model/tick.ts';
import type { Log } from '../ports/log.ts';
import type { Provider } from '../ports/provider.ts';
import type { Store } from '../ports/store.ts';
import {
  createSimulatedCloud,
  type SimulatedCloud,
  type SimulatedCloudOptions,
} from '../providers/simulated/cloud.ts';
import type { MachineTruth } from '../providers/simulated/truth.ts';
import { createMemoryStore, type MemoryStore } from '../store/memory/store.ts';
import { must } from '../support/assert.ts';
import { forkRandom } from '../support/random.ts';
import { Lifeline, noProcessFaults, type ProcessFaults } from './lifeline.ts';
import type { AgentHost } from './first-fit.ts';
import { OutsideScheduler, type Work } from './scheduler.ts';
import { VirtualClock } from './virtual-clock.ts';

export interface FleetOptions {
  readonly seed: number;
  readonly control: Control;
  /** What each group's machines are like; a group not named gets the defaults. */
  readonly offers?: SimulatedCloudOptions['offers'];
  readonly faults?: SimulatedCloudOptions['faults'];
  readonly quotas?: SimulatedCloudOptions['quotas'];
  readonly listLagMs?: number;
  readonly latency?: SimulatedCloudOptions['latency'];
  readonly processFaults?: ProcessFaults;
  /** Controllers that compete for the lease; each is started again some time after it died. */
  readonly controllers?: number;
  readonly leaseTtlMs?: number;
  readonly store?: MemoryStore;
  readonly log?: Log;
  readonly watcher?: FleetWatcher;
  /** How often the scheduler places, reports and pushes. */
  readonly schedulerIntervalMs?: number;
  /** A busy host of which there is nothing new is reported again after this. Default: every time. */
  readonly reportAgainMs?: number;
  /** What the wall clock says at the start. */
  readonly wallStartMs?: number;
  /** Configurations that will come: clouds offer their groups from the start. */
  readonly laterControls?: readonly Control[];
  /** Stands between the controllers and a cloud: trouble of a scenario's own. */
  readonly between?: (provider: Provider, name: string) => Provider;
}

/** Whoever checks or counts what happens. */
export interface FleetWatcher {
  onTick?(input: TickInput, output: TickOutput, controller: Controller): void;
  /** Before a call reaches the cloud. */
  onCall?(call: 'launch' | 'terminate', sliceIds: readonly SliceId[], controller: Controller): void;
  onCrash?(error: unknown): void;
}

interface Pushed {
  generation: number;
  epoch: number | null;
  atMs: number;
  isAsking: boolean;
}

const notPushed: Pushed = { generation: -1, epoch: null, atMs: -Infinity, isAsking: false };

interface Member {
  readonly lifeline: Lifeline;
  readonly controller: Controller;
}

const silent: Log = { write: () => {} };
const DEMAND_EXPIRES_MS = 300_000;
const PUSH_AGAIN_MS = 60_000;
const RESTART_MS = { from: 1_000, to: 60_000 };

/**
 * A whole fleet on virtual time: the production controller, or several, over simulated clouds, with a
 * scheduler of its users' own that has work to do.
 */
export class SimulatedFleet {
  readonly clock: VirtualClock;
  readonly scheduler = new OutsideScheduler();
  readonly clouds: ReadonlyMap<string, SimulatedCloud>;
  readonly store: MemoryStore;
  readonly faultCounts = new Map<string, number>();
  readonly #options: FleetOptions;
  readonly #members: (Member | null)[] = [];
  readonly #groups = new Map<string, Group>();
  readonly #random: () => number;
  #control: Control;
  #processFaults: ProcessFaults;
  #pushed = { ...notPushed };
  #lives = 0;
  #seen = new Map<string, readonly MachineTruth[]>();
  #agentHosts: readonly AgentHost[] = [];
  /** Documents as the store has them, by kind and id. */
  readonly durable = new Map<string, string>();
  /** The last push that was acknowledged: no crash may lose it. */
  acknowledged = -1;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#control = options.control;
    this.clock = new VirtualClock(options.wallStartMs);
    this.#learnGroups(options.control);
    this.#processFaults = options.processFaults ?? noProcessFaults;
    this.#random = forkRandom(options.seed, 'processes');
    this.store = options.store ?? createMemoryStore();
    this.clouds = this.#openClouds();
    for (let index = 0; index < (options.controllers ?? 1); index++) {
      this.#members.push(null);
      this.#startMember(index);
    }
    this.#every(options.schedulerIntervalMs ?? 5_000, () => this.#schedule());
  }

  /** Lets time pass. */
  run(forMs: number): Promise<void> {
    return this.clock.advance(forMs);
  }

  get nowMs(): EpochMs {
    return this.clock.wallMs();
  }

  submit(work: Work): void {
    this.scheduler.submit(work, epochMs(this.clock.monotonicMs()));
  }

  /** Controllers alive, the one that leads first. */
  get controllers(): readonly Controller[] {
    const alive = this.#members.flatMap((member) => (member === null ? [] : [member.controller]));
    // One that was stopped for a while may still believe that it leads.
    return alive.sort((a, b) => (b.epoch ?? -1) - (a.epoch ?? -1));
  }

  get leader(): Controller | null {
    return this.controllers.find(({ epoch }) => epoch !== null) ?? null;
  }

  /** Records of the leader. */
  records(): readonly SliceRecord[] {
    return [...(this.leader?.slices() ?? [])];
  }

  kill(index = 0): void {
    this.#members[index]?.lifeline.kill();
  }

  freeze(index: number, forMs: number): void {
    this.#members[index]?.lifeline.freeze(forMs);
    this.count('frozen');
  }

  /** Ends all faults; what is broken stays broken. */
  quiet(): void {
    this.#processFaults = noProcessFaults;
    for (const cloud of this.clouds.values()) cloud.levers.quiet();
  }

  /** Asks the controllers in turn; null when none answers in time. */
  async command(command: Command): Promise<CommandAnswer | null> {
    const controller = this.leader;
    if (controller === null) return null;
    try {
      return await controller.command(command);
    } catch {
      return null; // a caller outside sees an error and asks again
    }
  }

  changeControl(control: Control): void {
    this.#control = control;
    this.#learnGroups(control);
    for (const member of this.#members) {
      // One that dies or is stopped before it hears of it starts with the new one anyway.
      void member?.controller.command({ kind: 'change-control', control }).catch(() => {});
    }
  }

  /** Whether nothing is on its way in either direction. */
  get isSettled(): boolean {
    const last = this.leader?.last;
    return last != null && last.input.slices.every(({ status }) => status === 'ready');
  }

  async stop(): Promise<void> {
    for (const member of this.#members) void member?.controller.stop();
    await this.clock.advance(0);
    for (const cloud of this.clouds.values()) cloud.stop();
  }

  count(kind: string): void {
    this.faultCounts.set(kind, (this.faultCounts.get(kind) ?? 0) + 1);
  }

  /** Machines of groups that a newer configuration has dropped are still machines. */
  #learnGroups({ fleet }: Control): void {
    for (const group of fleet.groups) this.#groups.set(group.name, group);
    this.#seen.clear();
  }

  #openClouds(): ReadonlyMap<string, SimulatedCloud> {
    const { control, offers = [], seed, faults, quotas, listLagMs, latency } = this.#options;
    const known = new Map<string, Group>();
    for (const { fleet } of [control, ...(this.#options.laterControls ?? [])]) {
      for (const group of fleet.groups) if (!known.has(group.name)) known.set(group.name, group);
    }
    const names = new Set([...known.values()].map(({ provider }) => provider));
    return new Map(
      [...names].map((name) => {
        const groups = [...known.values()].filter(({ provider }) => provider === name);
        const cloud = createSimulatedCloud({
          clock: this.clock,
          seed: seed + name.length * 7_919,
          fleet: control.fleet.name,
          offers: groups.map((group) => {
            return {
              ...offers.find((offer) => offer.group === group.name),
              group: group.name,
              priceMicroUsdPerHour: group.priceMicroUsdPerHour ?? 0,
              quotaPool: group.quotaPool,
            };
          }),
          ...(faults === undefined ? {} : { faults }),
          ...(quotas === undefined ? {} : { quotas }),
          ...(listLagMs === undefined ? {} : { listLagMs }),
          ...(latency === undefined ? {} : { latency }),
        });
        return [name, cloud];
      }),
    );
  }

  #startMember(index: number): void {
    const { watcher, log = silent, leaseTtlMs, between = (inner) => inner } = this.#options;
    const life = ++this.#lives;
    const lifeline = new Lifeline({
      clock: this.clock,
      random: forkRandom(this.#options.seed, `life ${life}`),
      faults: () => this.#processFaults,
      onFault: (kind) => this.count(kind),
      onDeath: () => this.#bury(index),
    });
    let controller: Controller | null = null;
    const providers = new Map(
      [...this.clouds].map(([name, cloud]) => {
        const reached = between(cloud.connect(), name);
        const called = this.#watched(reached, () => must(controller, 'made below'));
        return [name, lifeline.provider(called)];
      }),
    );
    controller = new Controller({
      store: lifeline.store(this.#recorded(this.store.connect())),
      providers,
      clock: lifeline.clock(),
      log,
      control: this.#control,
      holder: `life ${life}`,
      ...(leaseTtlMs === undefined ? {} : { leaseTtlMs }),
      onCrash: (error) => {
        watcher?.onCrash?.(error);
        lifeline.kill();
      },
      onTick: (input, output) => watcher?.onTick?.(input, output, must(controller, 'it ticks')),
    });
    this.#members[index] = { lifeline, controller };
    controller.start();
  }

  #bury(index: number): void {
    this.#members[index] = null;
    this.count('died');
    const waitMs = RESTART_MS.from + this.#random() * (RESTART_MS.to - RESTART_MS.from);
    this.clock.after(waitMs, () => this.#startMember(index));
  }

  #watched(inner: Provider, controller: () => Controller): Provider {
    const { watcher } = this.#options;
    return {
      ...inner,
      launch: (batch, signal) => {
        const ids = batch.map(({ sliceId }) => sliceId);
        watcher?.onCall?.('launch', ids, controller());
        return inner.launch(batch, signal);
      },
      terminate: (ids, signal) => {
        watcher?.onCall?.('terminate', ids, controller());
        return inner.terminate(ids, signal);
      },
    };
  }

  /** Notes what is durable as soon as it is, also when nobody lives to hear of it. */
  #recorded(inner: Store): Store {
    return {
      ...inner,
      commit: async (commit) => {
        await inner.commit(commit);
        for (const { kind, id, text } of commit.documents) {
          if (text === null) this.durable.delete(`${kind}/${id}`);
          else this.durable.set(`${kind}/${id}`, text);
        }
      },
    };
  }

  #every(stepMs: number, run: () => void): void {
    this.clock.after(stepMs, () => {
      run();
      this.#every(stepMs, run);
    });
  }

  /** Hosts on which the scheduler's agent runs: those that are ready, whoever knows of them. */
  #agents(): readonly AgentHost[] {
    const truths = [...this.clouds].map(([name, { truth }]) => [name, truth.alive()] as const);
    const isSame = truths.every(([name, alive]) => this.#seen.get(name) === alive);
    if (isSame) return this.#agentHosts;
    this.#seen = new Map(truths);
    this.#agentHosts = truths.flatMap(([name, alive]) =>
      alive.flatMap(({ machineId: id, sliceId, group: groupName, hostIndex, state, fleet }) => {
        const group = this.#groups.get(groupName);
        if (fleet === null || state !== 'ready' || group === undefined) return [];
        // Two clouds may well call two machines the same.
        return [{ machineId: machineId(`${name}/${id}`), sliceId, group, hostIndex }];
      }),
    );
    return this.#agentHosts;
  }

  /** One round of the users' scheduler: hosts, work, reports, demand. */
  #schedule(): void {
    const nowMs = epochMs(this.clock.monotonicMs());
    this.scheduler.join(this.#agents());
    const controller = this.leader;
    const reserved = new Map<SliceId, EntryId>();
    const isAsked = this.scheduler.hasGangs && this.scheduler.pendingCount > 0;
    for (const record of isAsked ? (controller?.slices() ?? []) : []) {
      if (record.reservedFor !== null && isLive(record))
        reserved.set(record.id, record.reservedFor);
    }
    this.scheduler.schedule(nowMs, reserved);
    if (controller === null) return;
    // Reports carry the controller's time: it stamps them when they arrive.
    const reports = this.scheduler.reports(controller.now, this.#options.reportAgainMs);
    this.scheduler.obey(controller.report(reports).orders);
    this.#push(controller);
  }

  #push(controller: Controller): void {
    const { generation } = this.scheduler;
    const nowMs = this.clock.monotonicMs();
    const isRecent = nowMs - this.#pushed.atMs < PUSH_AGAIN_MS;
    // Whoever talks to a new leader says all that waits at once, as after any broken connection.
    const isSameLeader = controller.epoch === this.#pushed.epoch;
    const isTold = this.#pushed.isAsking || generation === this.#pushed.generation;
    if (isSameLeader && isRecent && isTold) return;
    this.#pushed = { generation, epoch: controller.epoch, atMs: nowMs, isAsking: true };
    const push = {
      source: 'scheduler',
      generation,
      entries: this.scheduler.pending,
      expiresAtMs: epochMs(controller.now + DEMAND_EXPIRES_MS),
    };
    controller.command({ kind: 'push-demand', push }).then(
      (answer) => {
        if (answer.kind === 'done') this.acknowledged = Math.max(this.acknowledged, generation);
        this.#pushed.isAsking = false;
      },
      () => {
        this.#pushed = { ...notPushed };
      },
    );
  }
}

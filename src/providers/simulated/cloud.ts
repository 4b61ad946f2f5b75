import { type EpochMs, type GroupName, sliceId, type SliceId } from '../../model/ids.ts';
import type { Refusal } from '../../model/refusal.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Provider } from '../../ports/provider.ts';
import { assert } from '../../support/assert.ts';
import { Agenda } from './agenda.ts';
import { ControlPlane } from './control-plane.ts';
import { type FaultCounts, type Faults, noFaults } from './faults.ts';
import { failHost, preempt, type World } from './hosts.ts';
import { Inventory, type SimulatedMachine } from './inventory.ts';
import { Line } from './line.ts';
import { takeList } from './listing.ts';
import { type Offer, type OfferInput, type Spread, toOffer } from './offer.ts';
import { type Bill, billOf, countAlive, type MachineTruth, toTruth } from './truth.ts';
import { Weather } from './weather.ts';

export interface SimulatedCloudOptions {
  readonly clock: Clock;
  /** All chance comes from it. */
  readonly seed: number;
  /** The tag on our machines. Default `fleet`. */
  readonly fleet?: string;
  /** What is to be had; a launch in any other group is refused for good. */
  readonly offers: readonly OfferInput[];
  /** Default: none. */
  readonly faults?: Partial<Faults>;
  /** Most hosts by quota pool, over all fleets. A pool not named has no limit. */
  readonly quotas?: Readonly<Record<string, number>>;
  /** Machines without a tag that are there from the start, as slices `foreign-0`, ... Default 2. */
  readonly foreignCount?: number;
  /** Default 30 s. */
  readonly listLagMs?: number;
  /** Of a call, there and back. Default 20 to 500 ms. */
  readonly latency?: Spread;
  /** How long a machine is still listed as gone. Default 60 s. */
  readonly goneListedMs?: number;
}

/** A cloud that lies, stalls, runs out and preempts, on a seed: the same calls, the same troubles. */
export interface SimulatedCloud {
  readonly provider: Provider;
  /** One more connection, as another process or another fleet would have it. */
  connect(fleet?: string): Provider;
  /** The cloud's own clock, in which all its times are. It starts at the wall clock, and never jumps. */
  nowMs(): EpochMs;
  readonly truth: Truth;
  readonly levers: Levers;
  /** Ends the cloud itself: nothing more happens in it, and no timer is left. */
  stop(): void;
}

/** What really is, for checkers. Of our fleet unless said otherwise. */
export interface Truth {
  /** Every machine there ever was, of anybody, in order of allocation. */
  machines(): readonly MachineTruth[];
  /** Those alive now: from allocation until gone, also while stopping. */
  alive(): readonly MachineTruth[];
  aliveByGroup(): ReadonlyMap<GroupName, number>;
  /** Machines alive that carry no tag of ours. */
  foreignAlive(): readonly MachineTruth[];
  /** How often a termination named a slice that is not ours. Must stay 0. */
  foreignTerminations(): number;
  /** How many launches of a slice made machines: above 1, the cloud broke its word. */
  launchesExecuted(sliceId: SliceId): number;
  /** How many arrived, also doubled, repeated and refused. */
  launchesReceived(sliceId: SliceId): number;
  faultCounts(): FaultCounts;
  bill(): ReadonlyMap<GroupName, Bill>;
}

/** Trouble on purpose. Times are the cloud's; a lever of 0 ends what an earlier one began. */
export interface Levers {
  /** Ends all trouble that time would end, and injects nothing more by chance. Damage done stays. */
  quiet(): void;
  stockout(group: GroupName, untilMs: EpochMs): void;
  refuse(group: GroupName, refusal: Refusal, untilMs: EpochMs): void;
  /** Takes a slice back, all its hosts; says how many there were. No notice: at once. */
  preempt(sliceId: SliceId, options: { readonly noticeMs: number }): number;
  /** A host fails on its own; says whether it was there. */
  killHost(sliceId: SliceId, hostIndex: number): boolean;
  /** Calls begun until then are never answered. */
  hang(untilMs: EpochMs): void;
  throttle(untilMs: EpochMs): void;
  setQuota(pool: string, hostsMax: number): void;
  /** Hosts allocated until then do not come up. */
  failBoot(group: GroupName, untilMs: EpochMs): void;
}

/** What all connections to one cloud share. */
interface Cloud {
  readonly world: World;
  readonly plane: ControlPlane;
  readonly offers: readonly Offer[];
  readonly fleet: string;
  readonly listLagMs: number;
  readonly latency: Spread;
}

export function createSimulatedCloud(options: SimulatedCloudOptions): SimulatedCloud {
  const agenda = new Agenda(options.clock);
  const weather = new Weather(options.seed, { ...noFaults, ...options.faults });
  const world: World = {
    agenda,
    weather,
    inventory: new Inventory(options.goneListedMs ?? 60_000),
  };
  const offers = options.offers.map(toOffer);
  const cloud: Cloud = {
    world,
    plane: new ControlPlane(world, offers, options.quotas ?? {}),
    offers,
    fleet: options.fleet ?? 'fleet',
    listLagMs: options.listLagMs ?? 30_000,
    latency: options.latency ?? { fromMs: 20, toMs: 500 },
  };
  plantForeign(cloud, options.foreignCount ?? 2);
  return {
    provider: connect(cloud, cloud.fleet),
    connect: (fleet = cloud.fleet) => connect(cloud, fleet),
    nowMs: () => agenda.nowMs(),
    truth: createTruth(cloud),
    levers: createLevers(cloud),
    stop: () => agenda.stop(),
  };
}

function connect({ world, plane, listLagMs, latency }: Cloud, fleet: string): Provider {
  const line = new Line(world.agenda, world.weather, latency);
  return {
    listLagMs,
    launch: (batch, signal) =>
      line.call('launch', signal, (arrival) =>
        batch.map((request) => plane.launch(fleet, request, arrival)),
      ),
    terminate: (sliceIds, signal) =>
      line.call('terminate', signal, () => {
        for (const id of sliceIds) plane.terminate(fleet, id);
      }),
    list: async (signal) => {
      const { rows, markShown } = await line.call('list', signal, ({ sentAtMs }) =>
        takeList(world, { fleet, listLagMs, sentAtMs }),
      );
      markShown();
      return rows;
    },
    close: () => {
      line.close();
      return Promise.resolve();
    },
  };
}

function plantForeign({ world, plane, offers }: Cloud, count: number): void {
  const [offer] = offers;
  assert(offer !== undefined, 'a cloud that offers nothing simulates nothing');
  const nowMs = world.agenda.nowMs();
  for (let index = 0; index < count; index++) {
    const book = plane.open(null, sliceId(`foreign-${index}`));
    const machine = { fleet: null, sliceId: book.sliceId, group: offer.group };
    const planted = world.inventory.add({ ...machine, hostIndex: 0, hostCount: 1 }, nowMs);
    world.inventory.move(planted, 'ready', nowMs);
    book.machines.push(planted);
  }
}

function createTruth({ world, plane, offers, fleet }: Cloud): Truth {
  const { agenda, weather, inventory } = world;
  const aliveWhere = (isWanted: (machine: SimulatedMachine) => boolean): readonly MachineTruth[] =>
    [...inventory.alive].filter(isWanted).map(toTruth);
  let known: { readonly version: number; readonly alive: readonly MachineTruth[] } | null = null;
  return {
    machines: () => inventory.all.map(toTruth),
    // Asked every few simulated seconds; most of the time nothing has changed.
    alive: () => {
      const { version } = inventory;
      if (known?.version !== version) {
        known = { version, alive: aliveWhere((machine) => machine.fleet === fleet) };
      }
      return known.alive;
    },
    aliveByGroup: () => countAlive(inventory, fleet),
    foreignAlive: () => aliveWhere((machine) => machine.fleet !== fleet),
    foreignTerminations: () => plane.foreignTerminations,
    launchesExecuted: (id) => plane.find(fleet, id)?.executedCount ?? 0,
    launchesReceived: (id) => plane.find(fleet, id)?.receivedCount ?? 0,
    faultCounts: () => weather.counts(),
    bill: () => billOf(inventory.all, { fleet, offers, nowMs: agenda.nowMs() }),
  };
}

function createLevers({ world, plane, fleet }: Cloud): Levers {
  const { weather, inventory } = world;
  return {
    quiet: () => weather.quiet(),
    stockout: (group, untilMs) => {
      const refusal: Refusal = { kind: 'stockout', detail: `no capacity for ${group}` };
      weather.refuse(group, { refusal, untilMs });
    },
    refuse: (group, refusal, untilMs) => weather.refuse(group, { refusal, untilMs }),
    preempt: (id, { noticeMs }) => preempt(world, plane.find(fleet, id)?.machines ?? [], noticeMs),
    killHost: (id, hostIndex) => {
      const host = plane
        .find(fleet, id)
        ?.machines.find(
          (machine) => machine.hostIndex === hostIndex && inventory.alive.has(machine),
        );
      if (host !== undefined) failHost(world, host, `lever/${host.machineId}`);
      return host !== undefined;
    },
    hang: (untilMs) => {
      weather.hangUntilMs = untilMs;
    },
    throttle: (untilMs) => {
      weather.throttleUntilMs = untilMs;
    },
    setQuota: (pool, hostsMax) => plane.setQuota(pool, hostsMax),
    failBoot: (group, untilMs) => weather.failBoots(group, untilMs),
  };
}

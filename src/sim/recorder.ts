import type { EntryForm } from '../model/demand.ts';
import type { Group } from '../model/group.ts';
import type { EpochMs } from '../model/ids.ts';
import type { RefusalKind } from '../model/refusal.ts';
import type { CancelWhy, DrainWhy, SliceCause, SliceEvent } from '../model/slice-record.ts';
import type { Deferral, TickInput, TickOutput } from '../model/tick.ts';
import type { Log } from '../ports/log.ts';
import type { FleetWatcher, SimulatedFleet } from './fleet.ts';
import type { GroupSummary, Loss, Sample } from './report.ts';
import type { Ran } from './scheduler.ts';
import { WaitReasons } from './wait-reasons.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

type Counts<Key> = Map<Key, number>;
const add = <Key>(counts: Counts<Key>, key: Key, amount = 1): void => {
  counts.set(key, (counts.get(key) ?? 0) + amount);
};

/** What is counted of one group. */
interface Tally {
  launched: number;
  ready: number;
  refused: number;
  preempted: number;
  failed: number;
  drained: number;
  cancelled: number;
  peakSlices: number;
  /** Samples of slices: paid for, with work on them, and how much of their main resource it uses. */
  paid: number;
  busy: number;
  used: number;
}

/**
 * Writes down what happens: events through the log, decisions tick by tick, and how things stand
 * every minute.
 */
export class Recorder implements FleetWatcher, Log {
  readonly samples: Sample[] = [];
  readonly refusals: Counts<RefusalKind> = new Map();
  readonly drains: Counts<DrainWhy['kind']> = new Map();
  readonly cancels: Counts<CancelWhy['kind']> = new Map();
  readonly losses: Counts<Loss> = new Map();
  /** Slices that a provider takes back, known from its notice on. */
  readonly #preempted = new Set<string>();
  readonly deferredHours: Counts<Deferral['by']> = new Map();
  readonly crashes: string[] = [];
  readonly reasons = new WaitReasons();
  /** Milliseconds run to some purpose, by what was asked for. */
  readonly work = new Map<EntryForm, number>();
  readonly #tallies = new Map<string, Tally>();
  readonly #groups: readonly Group[];
  #deferrals: TickOutput['deferrals'] = [];
  #decidedMs = 0;
  ticks = 0;
  restarts = 0;
  lostMs = 0;

  constructor(groups: readonly Group[]) {
    this.#groups = groups;
  }

  /** Looks every minute from now on. */
  watch(fleet: SimulatedFleet): void {
    fleet.scheduler.onRan = (ran) => this.#noteRun(ran);
    const look = (): void => {
      this.#sample(fleet);
      fleet.clock.after(MINUTE_MS, look);
    };
    look();
  }

  onTick(input: TickInput, output: TickOutput): void {
    this.ticks++;
    this.reasons.note(input, output);
    for (const { by, count } of this.#deferrals) {
      add(this.deferredHours, by, (count * (input.atMs - this.#decidedMs)) / HOUR_MS);
    }
    this.#deferrals = output.deferrals;
    this.#decidedMs = input.atMs;
  }

  onCrash(error: unknown): void {
    this.crashes.push(error instanceof Error ? error.message : String(error));
  }

  /** The controller's own log is the one place where all events pass. */
  write(...[, event, fields]: Parameters<Log['write']>): void {
    if (event !== 'slice-moved') return;
    const { group, sliceId, event: what, cause } = fields;
    // As the controller wrote them a moment ago.
    const why = typeof cause === 'string' ? (JSON.parse(cause) as SliceCause) : null;
    this.#noteMove(this.#tally(String(group)), what as SliceEvent, why);
    this.#noteLoss(this.#tally(String(group)), String(sliceId), what as SliceEvent, why);
  }

  /** What runs on at the end has served its purpose so far. */
  finish(fleet: SimulatedFleet, atMs: EpochMs): void {
    for (const ran of fleet.scheduler.runs(atMs)) this.#noteRun(ran);
  }

  summarize(fleet: SimulatedFleet): readonly GroupSummary[] {
    const bills = new Map([...fleet.clouds.values()].flatMap(({ truth }) => [...truth.bill()]));
    return this.#groups.map((group) => {
      const { paid, busy, used, ...counts } = this.#tally(group.name);
      const bill = bills.get(group.name);
      return {
        group: group.name,
        ...counts,
        sliceHours: (bill?.sliceSeconds ?? 0) / 3_600,
        busyRatio: paid === 0 ? null : busy / paid,
        use: paid === 0 ? null : { resource: mainResource(group), ratio: used / paid },
        costMicroUsd: bill?.costMicroUsd ?? 0,
      };
    });
  }

  #tally(group: string): Tally {
    let tally = this.#tallies.get(group);
    if (tally === undefined) {
      const moves = { launched: 0, ready: 0, refused: 0, preempted: 0, failed: 0 };
      const sampled = { peakSlices: 0, paid: 0, busy: 0, used: 0 };
      tally = { ...moves, drained: 0, cancelled: 0, ...sampled };
      this.#tallies.set(group, tally);
    }
    return tally;
  }

  #noteMove(tally: Tally, event: SliceEvent, cause: SliceCause | null): void {
    if (event === 'launch-sent') tally.launched++;
    if (event === 'hosts-ready') tally.ready++;
    if (event === 'refused') {
      tally.refused++;
      if (cause?.kind === 'refused') add(this.refusals, cause.refusal.kind);
    }
    if (event === 'drain-started') {
      tally.drained++;
      if (cause?.kind === 'draining') add(this.drains, cause.why.kind);
    }
    if (event === 'cancelled') {
      tally.cancelled++;
      if (cause?.kind === 'cancelled') add(this.cancels, cause.why.kind);
    }
  }

  /** A slice is lost once, whatever follows. */
  #noteLoss(tally: Tally, id: string, event: SliceEvent, cause: SliceCause | null): void {
    const why = cause?.kind === 'draining' || cause?.kind === 'cancelled' ? cause.why.kind : null;
    const isPreempted = cause?.kind === 'preempted' || why === 'interrupted';
    if (this.#preempted.has(id)) return;
    if (isPreempted) {
      this.#preempted.add(id);
      tally.preempted++;
      add(this.losses, 'preempted');
      return;
    }
    // A termination that takes its time is asked for again: nothing is lost by it.
    const isTimeout = cause?.kind === 'timeout' && cause.status !== 'terminating';
    if (event !== 'host-lost' && !isTimeout) return;
    tally.failed++;
    add(this.losses, cause?.kind === 'timeout' ? `${cause.status} timed out` : 'host lost');
  }

  #noteRun({ work, forMs, end }: Ran): void {
    if (end === 'lost') {
      this.restarts++;
      this.lostMs += forMs;
    } else {
      add(this.work, work.entry.form, forMs);
    }
  }

  #sample(fleet: SimulatedFleet): void {
    const { scheduler } = fleet;
    const alive = new Map<string, number>();
    for (const { truth } of fleet.clouds.values()) {
      for (const [group, hosts] of truth.aliveByGroup()) add(alive, group, hosts);
    }
    let [slices, microUsdPerHour, ready] = [0, 0, 0];
    for (const { name, hostsPerSlice, priceMicroUsdPerHour } of this.#groups) {
      const own = (alive.get(name) ?? 0) / hostsPerSlice;
      const tally = this.#tally(name);
      tally.paid += own;
      tally.peakSlices = Math.max(tally.peakSlices, Math.ceil(own));
      slices += own;
      microUsdPerHour += own * (priceMicroUsdPerHour ?? 0);
    }
    for (const { group, free, running } of scheduler.hosts()) {
      const share = 1 / group.hostsPerSlice;
      ready += share;
      if (running.size === 0) continue;
      const tally = this.#tally(group.name);
      const resource = mainResource(group);
      const whole = group.host[resource] ?? 0;
      tally.busy += share;
      if (whole > 0) tally.used += (share * (whole - (free[resource] ?? 0))) / whole;
    }
    const { pendingCount: pending, runningCount: running } = scheduler;
    const standing = { ready: Math.round(ready), slices: Math.ceil(slices), microUsdPerHour };
    this.samples.push({ atMs: fleet.nowMs, pending, running, ...standing });
  }
}

/** What a group is bought for: its accelerators, or else its processors. */
function mainResource({ device, host }: Group): string {
  if ((host[device.type] ?? 0) > 0) return device.type;
  return Object.keys(host).includes('cpu') ? 'cpu' : (Object.keys(host)[0] ?? 'cpu');
}

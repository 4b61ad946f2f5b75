import type { Controller } from '../controller/controller.ts';
import { decideTick } from '../controller/decide-tick.ts';
import type { EpochMs, MachineId, SliceId } from '../model/ids.ts';
import { isLive, type SliceRecord } from '../model/slice-record.ts';
import type { TickInput, TickOutput } from '../model/tick.ts';
import type { FleetWatcher, SimulatedFleet } from './fleet.ts';

/** A promise that was broken. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise';
}

/** A machine with our tag may be unaccounted for so long: requests live for minutes. */
const STRAY_MAX_MS = 20 * 60_000;
/** One tick in so many is run again from its recorded form. */
const REPLAY_EVERY = 5;
const MINUTE_MS = 60_000;

/**
 * The promises of the design, asserted while a fleet runs. What is checked is what the cloud and the
 * store really hold, not what the controller believes.
 */
export class Checks implements FleetWatcher {
  readonly broken: string[] = [];
  tickCount = 0;
  stepCount = 0;
  lastStepAtMs = 0;
  #fleet: SimulatedFleet | null = null;
  #epochMax = 0;
  readonly #straySinceMs = new Map<SliceId, number>();

  attach(fleet: SimulatedFleet): void {
    this.#fleet = fleet;
  }

  #break(promise: string): void {
    const atMs = this.#fleet?.clock.monotonicMs() ?? 0;
    this.broken.push(`${(atMs / 1_000).toFixed(1)} s: ${promise}`);
  }

  onCrash(error: unknown): void {
    this.#break(`the controller stopped: ${error instanceof Error ? error.stack : String(error)}`);
  }

  onTick(input: TickInput, output: TickOutput): void {
    this.tickCount++;
    this.stepCount += output.steps.length;
    if (output.steps.length > 0) this.lastStepAtMs = this.#fleet?.clock.monotonicMs() ?? 0;
    this.#checkBounds(input, output);
    this.#checkVerdicts(input, output);
    this.#checkRates(input, output);
    this.#checkReleases(input, output);
    this.#checkWaits(input);
    if (this.tickCount % REPLAY_EVERY === 0) this.#checkReplay(input, output);
  }

  /** Promise 1: never above max, fleet max, quota pool or spend cap by our own doing. */
  #checkBounds({ control, slices }: TickInput, { steps }: TickOutput): void {
    const { groups, limits, quotaPools } = control.fleet;
    const neverSent = new Set(
      steps.flatMap((step) => (step.kind === 'cancel' ? [step.sliceId] : [])),
    );
    const counted = slices.filter(({ id, status }) => !(status === 'queued' && neverSent.has(id)));
    const launched = steps.filter((step) => step.kind === 'launch');
    if (launched.length === 0) return;
    const names = [...counted, ...launched].map(({ group }) => group);
    for (const { name, max } of groups) {
      const count = names.filter((other) => other === name).length;
      const isOurs = launched.some(({ group }) => group === name);
      if (isOurs && count > max) this.#break(`${name} goes to ${count}, above its max ${max}`);
    }
    if (limits.slicesMax !== null && names.length > limits.slicesMax) {
      this.#break(`the fleet goes to ${names.length}, above maxSlices ${limits.slicesMax}`);
    }
    const byName = new Map(groups.map((group) => [group.name, group]));
    const spend = names.reduce(
      (sum, name) => sum + (byName.get(name)?.priceMicroUsdPerHour ?? 0),
      0,
    );
    const cap = limits.spendMaxMicroUsdPerHour;
    if (cap !== null && spend > cap) this.#break(`spend goes to ${spend}, above ${cap}`);
    for (const { name, limits: units } of quotaPools) {
      for (const [resource, most] of Object.entries(units)) {
        const used = names.reduce((sum, group) => {
          const one = byName.get(group);
          const isIn = one?.quotaPool === name;
          return sum + (isIn ? (one.host[resource] ?? 0) * one.hostsPerSlice : 0);
        }, 0);
        const isOurs = launched.some(({ group }) => byName.get(group)?.quotaPool === name);
        if (isOurs && used > most)
          this.#break(`pool ${name} goes to ${used} ${resource}, above ${most}`);
      }
    }
  }

  /** Nothing is ever without a reason. */
  #checkVerdicts({ slices }: TickInput, { verdicts, decision }: TickOutput): void {
    const told = verdicts.flatMap(({ sliceIds }) => sliceIds);
    if (told.length !== slices.length || new Set(told).size !== slices.length) {
      this.#break(`${slices.length} slices, ${told.length} verdicts`);
    }
    for (const { placed, unmet } of decision.classes) {
      if (placed.length === 0 && unmet === null) this.#break('a class without a reason');
    }
  }

  #checkRates({ control, launchedAtMs, atMs, slices }: TickInput, { steps }: TickOutput): void {
    const { createsPerMinute } = control.fleet.limits;
    if (createsPerMinute === null) return;
    const gangs = new Set<string>();
    const gangOf = new Map<SliceId, string | null>(
      slices.map(({ id, reservedFor }) => [id, reservedFor]),
    );
    for (const step of steps) {
      if (step.kind === 'launch') gangOf.set(step.sliceId, step.reservedFor);
    }
    let sent = launchedAtMs.filter((sentMs) => sentMs > atMs - MINUTE_MS).length;
    for (const step of steps) {
      if (step.kind !== 'send') continue;
      const gang = gangOf.get(step.sliceId) ?? null;
      if (gang !== null && gangs.has(gang)) continue;
      if (gang !== null) gangs.add(gang);
      sent++;
      if (sent > createsPerMinute) {
        this.#break(`${sent} launches in a minute, above ${createsPerMinute}`);
      }
    }
  }

  /** Nothing is waited for beyond its time: where lists come, what is overdue has been given up. */
  #checkWaits({ control, slices, atMs, unlisted }: TickInput): void {
    const owns = new Map(control.groups.map(({ group, timeouts }) => [group, timeouts]));
    for (const { id, group, provider, status, statusSinceMs } of slices) {
      const timeouts = owns.get(group);
      if (timeouts === undefined || unlisted.includes(provider)) continue;
      const limits: Partial<Record<typeof status, number>> = {
        requesting: timeouts.requestingMs,
        booting: timeouts.bootingMs,
        initializing: timeouts.initializingMs,
      };
      const limitMs = limits[status];
      const waitedMs = atMs - statusSinceMs;
      if (limitMs === undefined || waitedMs < limitMs) continue;
      this.#break(`${id} is ${status} for ${waitedMs} ms, beyond its ${limitMs}`);
    }
  }

  /** Promise 9, as far as a tick knows: nothing in use is asked to go for want of use. */
  #checkReleases({ slices }: TickInput, { steps }: TickOutput): void {
    const byId = new Map(slices.map((slice) => [slice.id, slice]));
    for (const step of steps) {
      if (step.kind !== 'drain' || step.why.kind !== 'idle') continue;
      const slice = byId.get(step.sliceId);
      const isBusy = slice?.hosts.some((host) => host.isBusy !== false) ?? true;
      if (isBusy) this.#break(`${step.sliceId} drains as idle and is not known to be`);
      if (slice?.reservedFor != null) this.#break(`${step.sliceId} drains though reserved`);
    }
  }

  /** Promise 4: the same input, the same output, byte for byte, also from its recorded form. */
  #checkReplay(input: TickInput, output: TickOutput): void {
    const again = decideTick(JSON.parse(JSON.stringify(input)));
    if (JSON.stringify(again) !== JSON.stringify(output)) {
      this.#break(`tick ${input.seq} run again gives another output`);
    }
  }

  onCall(call: 'launch' | 'terminate', ids: readonly SliceId[], controller: Controller): void {
    // Promise 8: two controllers never both act.
    const epoch = controller.epoch ?? -1;
    if (epoch < this.#epochMax) this.#break(`${call} by epoch ${epoch} after ${this.#epochMax}`);
    this.#epochMax = Math.max(this.#epochMax, epoch);
    for (const id of ids) {
      const record = this.#durable(id);
      // Intent is recorded before anything is called.
      if (call === 'launch' && record?.status !== 'requesting') {
        this.#break(`${id} is launched while recorded as ${record?.status ?? 'nothing'}`);
      }
      if (call === 'terminate') this.#checkTermination(id, record);
    }
  }

  /** Promise 9: scale-down never ends work. */
  #checkTermination(id: SliceId, record: SliceRecord | null): void {
    if (record === null) return;
    if (record.status !== 'terminating' && isLive(record)) {
      this.#break(`${id} is terminated while recorded as ${record.status}`);
    }
    const end = record.history.find(({ status }) => status === 'terminating');
    if (end?.cause?.kind === 'host-lost') this.#checkLoss(id, end.cause.machineId);
    const work = this.#fleet?.scheduler.workOn(id) ?? [];
    if (work.length === 0) return;
    const isFate = end?.event === 'host-lost' || end?.event === 'cancelled';
    const why = record.drain?.why.kind;
    const isForced = why === 'operator' || why === 'interrupted' || this.#isTakenAway(id);
    const isBoot = end?.cause?.kind === 'timeout' && end.cause.status !== 'draining';
    if (!isFate && !isForced && !isBoot) {
      this.#break(`${id} is terminated (${end?.event}, ${why}) with ${work.length} at work`);
    }
  }

  /** A status that comes late is no failure: what is taken for lost must be. */
  #checkLoss(id: SliceId, machineId: MachineId | null): void {
    for (const { truth } of this.#fleet?.clouds.values() ?? []) {
      const host = truth.alive().find((one) => one.sliceId === id && one.machineId === machineId);
      if (host !== undefined && host.state !== 'stopping' && host.interruptionAtMs === null) {
        this.#break(`${id} is taken for lost and its ${machineId} is ${host.state}`);
      }
    }
  }

  /** Whether the provider has taken it, or had announced to. */
  #isTakenAway(id: SliceId): boolean {
    const hosts = [...(this.#fleet?.clouds.values() ?? [])].flatMap(({ truth }) =>
      truth.alive().filter(({ sliceId }) => sliceId === id),
    );
    return hosts.every(
      ({ state, interruptionAtMs }) => state === 'stopping' || interruptionAtMs !== null,
    );
  }

  #durable(id: SliceId): SliceRecord | null {
    const text = this.#fleet?.durable.get(`slice/${id}`);
    return text === undefined ? null : JSON.parse(text);
  }

  /** What must hold of the world at any time. */
  look(): void {
    const fleet = this.#fleet;
    if (fleet === null) return;
    const nowMs = fleet.clock.monotonicMs();
    const machines = new Map<SliceId, number>();
    for (const cloud of fleet.clouds.values()) {
      const { truth } = cloud;
      if (truth.foreignTerminations() > 0) this.#break('a machine that is not ours was terminated');
      for (const { sliceId, fleet: tag } of truth.alive()) {
        if (tag !== null) machines.set(sliceId, (machines.get(sliceId) ?? 0) + 1);
        if (tag !== null && truth.launchesExecuted(sliceId) > 1) {
          this.#break(`${sliceId} was made ${truth.launchesExecuted(sliceId)} times`);
        }
      }
    }
    this.#checkStrays(machines, nowMs);
    const push = fleet.durable.get('demand/scheduler');
    const generation = push === undefined ? -1 : Number(JSON.parse(push).generation);
    // Promise 7: an acknowledged push may expire, but never fall back.
    if (push !== undefined && generation < fleet.acknowledged) {
      this.#break(`push ${fleet.acknowledged} was acknowledged and ${generation} is kept`);
    }
  }

  /** Promise 3: every machine with our tag is owned, or released within its grace. */
  #checkStrays(machines: ReadonlyMap<SliceId, number>, nowMs: number): void {
    for (const [id, count] of machines) {
      const record = this.#durable(id);
      if (record !== null && isLive(record)) {
        this.#straySinceMs.delete(id);
        if (count > record.hostCount) this.#break(`${id} has ${count} machines`);
        continue;
      }
      const sinceMs = this.#straySinceMs.get(id) ?? nowMs;
      this.#straySinceMs.set(id, sinceMs);
      if (nowMs - sinceMs > STRAY_MAX_MS) {
        this.#break(`${id} has ${count} machines and no live record`);
        this.#straySinceMs.set(id, Infinity);
      }
    }
  }

  /** After faults have ended and time has passed: what could be done is done, nothing is left over. */
  checkConverged(): void {
    const fleet = this.#fleet;
    const last = fleet?.leader?.last ?? null;
    if (fleet === null || last === null) {
      this.#break('nobody leads after all faults have ended');
      return;
    }
    const { input, output } = last;
    for (const cloud of fleet.clouds.values()) {
      for (const { sliceId, fleet: tag } of cloud.truth.alive()) {
        const record = this.#durable(sliceId);
        if (tag !== null && (record === null || !isLive(record))) {
          this.#break(`${sliceId} is left over`);
        }
      }
    }
    const waiting = new Set(fleet.scheduler.pending.map(({ id }) => id as string));
    output.decision.classes.forEach(({ placed }, index) => {
      const count = placed.reduce((sum, one) => sum + one.count, 0);
      const ids = (input.demand[index]?.batches ?? []).slice(0, count).map(({ id }) => id);
      for (const id of ids) if (waiting.has(id)) this.#break(`${id} waits though it has a place`);
    });
    output.decision.groups.forEach(({ group, shortfall }, index) => {
      const { min = 0, max = 0 } = input.control.fleet.groups[index] ?? {};
      const ready = input.slices.filter((one) => one.group === group && one.status === 'ready');
      if (ready.length < Math.min(min, max) && shortfall === null) {
        this.#break(`${group} has ${ready.length} ready, below its min ${min}`);
      }
    });
    for (const { id, status } of input.slices) {
      if (status !== 'ready') this.#break(`${id} is still ${status}`);
    }
  }

  /** Promise 5: constant input becomes quiet. */
  checkQuiet(sinceMs: EpochMs | number): void {
    if (this.lastStepAtMs > sinceMs) {
      this.#break(`still busy at ${(this.lastStepAtMs / 1_000).toFixed(0)} s without any change`);
    }
  }
}

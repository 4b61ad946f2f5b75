import type { EpochMs, GroupName, SliceId } from '../../model/ids.ts';
import type { Refusal } from '../../model/refusal.ts';
import type { LaunchOutcome, LaunchRequest } from '../../ports/provider.ts';
import type { Alarm } from './agenda.ts';
import type { FaultKind } from './faults.ts';
import { dieYoung, planPreemption, startHost, stopHost, type World } from './hosts.ts';
import type { SimulatedMachine } from './inventory.ts';
import { faultTimes, type Offer, pickMs } from './offer.ts';

/**
 * How a request comes to be carried out: as sent, a second time because the network doubled it, or
 * minutes after its sender was told that it failed.
 */
type Pass = 'first' | 'again' | 'late';

export interface Arrival {
  readonly pass: Pass;
  readonly sentAtMs: EpochMs;
}

/** What the cloud remembers of a slice id, for ever: its idempotency token. */
export interface SliceBook {
  readonly sliceId: SliceId;
  readonly fleet: string | null;
  readonly machines: SimulatedMachine[];
  /** Launches received, and those that made machines: the second is at most 1 in a sound cloud. */
  receivedCount: number;
  executedCount: number;
  /** Nothing that its launches may still yield is wanted any more. */
  isReleased: boolean;
  /** The last refusal. It holds for all requests sent before, wherever they still travel. */
  refused: { readonly atMs: EpochMs; readonly refusal: Refusal } | null;
  /** Launches that wait for machines. */
  readonly queued: Map<Alarm, { readonly group: GroupName; readonly hostCount: number }>;
}

const refusalFaults: Readonly<Record<Refusal['kind'], FaultKind>> = {
  stockout: 'stockout',
  'quota-exceeded': 'quota-exceeded',
  throttled: 'throttled',
  permanent: 'refused-permanent',
  unknown: 'refused-unknown',
};

/** Where requests take effect, at once and in the order in which they arrive. */
export class ControlPlane {
  readonly #world: World;
  readonly #offers: ReadonlyMap<GroupName, Offer>;
  readonly #books = new Map<string, SliceBook>();
  /** Hosts, by pool. */
  readonly #quotas: Map<string, number>;
  #foreignTerminations = 0;

  constructor(world: World, offers: readonly Offer[], quotas: Readonly<Record<string, number>>) {
    this.#world = world;
    this.#offers = new Map(offers.map((offer) => [offer.group, offer]));
    this.#quotas = new Map(Object.entries(quotas));
  }

  /** How often a termination named a slice of somebody else's. Nothing was done then. */
  get foreignTerminations(): number {
    return this.#foreignTerminations;
  }

  setQuota(pool: string, hostsMax: number): void {
    this.#quotas.set(pool, hostsMax);
  }

  find(fleet: string | null, sliceId: SliceId): SliceBook | undefined {
    return this.#books.get(bookKey(fleet, sliceId));
  }

  open(fleet: string | null, sliceId: SliceId): SliceBook {
    const known = this.find(fleet, sliceId);
    if (known !== undefined) return known;
    const book: SliceBook = {
      sliceId,
      fleet,
      machines: [],
      receivedCount: 0,
      executedCount: 0,
      isReleased: false,
      refused: null,
      queued: new Map(),
    };
    this.#books.set(bookKey(fleet, sliceId), book);
    return book;
  }

  launch(fleet: string, request: LaunchRequest, arrival: Arrival): LaunchOutcome {
    const { weather, agenda } = this.#world;
    const { sliceId } = request;
    const book = this.open(fleet, sliceId);
    book.receivedCount++;
    if (book.executedCount > 0) {
      if (weather.isHit('non-idempotent', weather.faults.nonIdempotentRatio, 'launch')) {
        weather.count('non-idempotent');
        this.#make(book, request);
      }
      return accepted(book);
    }
    const refusal = this.#pastRefusal(book, arrival) ?? this.#presentRefusal(request);
    if (refusal !== null) {
      book.refused = { atMs: agenda.nowMs(), refusal };
      return { kind: 'refused', sliceId, refusal };
    }
    this.#make(book, request);
    return accepted(book);
  }

  terminate(fleet: string, sliceId: SliceId): void {
    const { weather, agenda } = this.#world;
    if (this.#isForeign(fleet, sliceId)) this.#foreignTerminations++;
    if (weather.isHit('terminate-lost', weather.faults.terminateLostRatio, 'terminate')) {
      weather.count('terminate-lost');
      return;
    }
    const book = this.open(fleet, sliceId);
    book.isReleased = true;
    for (const alarm of book.queued.keys()) alarm.cancel();
    book.queued.clear();
    const isSlow = weather.isHit('terminate-slow', weather.faults.terminateSlowRatio, 'terminate');
    if (isSlow) weather.count('terminate-slow');
    for (const machine of book.machines) {
      const stop = this.#offers.get(machine.group)?.stop ?? { fromMs: 0, toMs: 0 };
      const random = weather.fate(`stop/${machine.machineId}/${agenda.nowMs()}`);
      stopHost(this.#world, machine, pickMs(isSlow ? faultTimes.slowStop : stop, random));
    }
  }

  /** Never launched by this fleet, and there by another's doing. */
  #isForeign(fleet: string, sliceId: SliceId): boolean {
    if ((this.find(fleet, sliceId)?.receivedCount ?? 0) > 0) return false;
    for (const book of this.#books.values()) {
      if (book.sliceId === sliceId && book.fleet !== fleet) return true;
    }
    return false;
  }

  /** What was said of this slice before, and still stands. */
  #pastRefusal(book: SliceBook, { pass, sentAtMs }: Arrival): Refusal | null {
    const { weather } = this.#world;
    // "Refused" means that no machine will come: a request still on its way may not break that.
    if (book.refused !== null && sentAtMs <= book.refused.atMs) return book.refused.refusal;
    if (!book.isReleased) return null;
    const ratio = pass === 'late' ? weather.faults.createAfterTerminateRatio : 0;
    if (!weather.isHit('create-after-terminate', ratio, 'launch')) {
      return { kind: 'unknown', detail: 'released before it was launched' };
    }
    weather.count('create-after-terminate');
    return null;
  }

  #presentRefusal(request: LaunchRequest): Refusal | null {
    const { weather, agenda } = this.#world;
    const nowMs = agenda.nowMs();
    const sinceOpenMs = nowMs - agenda.openedAtMs;
    const offer = this.#offers.get(request.group);
    const refusal: Refusal | null =
      offer === undefined
        ? { kind: 'permanent', detail: `no offer for group ${request.group}` }
        : (weather.refusalFor(offer, { nowMs, sinceOpenMs }) ?? this.#quotaRefusal(offer, request));
    if (refusal !== null) weather.count(refusalFaults[refusal.kind]);
    return refusal;
  }

  #quotaRefusal({ quotaPool }: Offer, { hostCount }: LaunchRequest): Refusal | null {
    if (quotaPool === null) return null;
    const limit = this.#quotas.get(quotaPool) ?? Number.POSITIVE_INFINITY;
    const used = this.#hostsIn(quotaPool);
    if (used + hostCount <= limit) return null;
    const detail = `${used} of ${limit} hosts in use, ${hostCount} more asked for`;
    return { kind: 'quota-exceeded', quotaName: quotaPool, detail };
  }

  /** Of all fleets, also those still queued; machines of nobody count for nothing. */
  #hostsIn(pool: string): number {
    let count = 0;
    for (const { group, fleet } of this.#world.inventory.alive) {
      if (fleet !== null && this.#offers.get(group)?.quotaPool === pool) count++;
    }
    for (const { queued } of this.#books.values()) {
      for (const { group, hostCount } of queued.values()) {
        if (this.#offers.get(group)?.quotaPool === pool) count += hostCount;
      }
    }
    return count;
  }

  #make(book: SliceBook, request: LaunchRequest): void {
    const { agenda, weather } = this.#world;
    const offer = this.#offers.get(request.group);
    if (offer === undefined) return;
    const fate = `${book.fleet ?? ''}/${book.sliceId}/${book.executedCount++}`;
    const queueMs = pickMs(offer.queue, weather.fate(`queue/${fate}`));
    if (queueMs === 0) return this.#allocate(book, request, { offer, fate });
    const alarm = agenda.after(queueMs, () => {
      book.queued.delete(alarm);
      this.#allocate(book, request, { offer, fate });
    });
    book.queued.set(alarm, { group: request.group, hostCount: request.hostCount });
  }

  #allocate(
    book: SliceBook,
    { sliceId, group, hostCount, preemptible }: LaunchRequest,
    { offer, fate }: { readonly offer: Offer; readonly fate: string },
  ): void {
    const { agenda, weather, inventory } = this.#world;
    const { partialSliceRatio } = weather.faults;
    const isPartial = hostCount > 1 && weather.isFated('partial-slice', partialSliceRatio, fate);
    if (isPartial) weather.count('partial-slice');
    const unluckyIndex = Math.floor(weather.fate(`partial-host/${fate}`) * hostCount);
    const hosts: SimulatedMachine[] = [];
    for (let hostIndex = 0; hostIndex < hostCount; hostIndex++) {
      const hostFate = `${fate}/${hostIndex}`;
      const isUnlucky =
        isPartial && (hostIndex === unluckyIndex || weather.fate(`partial/${hostFate}`) < 0.3);
      if (isUnlucky && weather.fate(`missing/${hostFate}`) < 0.5) continue;
      const { fleet } = book;
      const machine = inventory.add(
        { fleet, sliceId, group, hostIndex, hostCount },
        agenda.nowMs(),
      );
      hosts.push(machine);
      startHost(this.#world, machine, { offer, fate: hostFate });
      if (isUnlucky) dieYoung(this.#world, machine, hostFate);
    }
    book.machines.push(...hosts);
    if (preemptible) planPreemption(this.#world, hosts, { offer, fate });
  }
}

const bookKey = (fleet: string | null, sliceId: SliceId): string => `${fleet ?? ''}/${sliceId}`;

const accepted = ({ sliceId, machines }: SliceBook): LaunchOutcome => ({
  kind: 'accepted',
  sliceId,
  machineIds: machines.map(({ machineId }) => machineId),
});

import type { FleetEvent } from '../model/event.ts';
import { type EpochMs, epochMs, type SliceId } from '../model/ids.ts';
import { isLive, type SliceRecord } from '../model/slice-record.ts';
import type { Refusal } from '../model/refusal.ts';
import { isWithin } from '../model/trouble.ts';
import { addTo } from '../support/group-by.ts';
import type { LaunchOutcome, LaunchRequest, ProviderError } from '../ports/provider.ts';
import { must, unreachable } from '../support/assert.ts';
import { isSameItems } from '../support/same-items.ts';
import type { Outcome, Reach } from './lanes.ts';
import type { Memory } from './memory.ts';
import type { GroupIndex } from './observe.ts';
import type { Sights } from './sights.ts';

/** Slices per call: a provider's batch limits are smaller than a fleet. */
const LAUNCH_BATCH_MAX = 50;
const RELEASE_BATCH_MAX = 100;
/** A launch that was accepted and has yielded nothing is asked about again after this. */
const ASK_AGAIN_MS = 60_000;
/** Between two attempts to release the same slice: doubles up to the ceiling. */
const RELEASE_FIRST_MS = 5_000;
const RELEASE_CEILING_MS = 120_000;
/** Machines of a group that nobody knows are left alone for so long, then released. */
const STRAY_GRACE_MS = 10 * 60_000;

export interface Acting {
  readonly memory: Memory;
  readonly sights: Sights;
  readonly groups: GroupIndex;
  readonly reaches: ReadonlyMap<string, Reach>;
  readonly nowMs: EpochMs;
  readonly now: () => EpochMs;
  /** Whether the lease lasts longer than a call may. */
  readonly mayCall: () => boolean;
  /** An answer came: look again. */
  readonly wake: () => void;
}

interface Attempt {
  readonly count: number;
  readonly nextMs: EpochMs;
}

/**
 * Makes the calls that the records ask for: a slice `requesting` is asked for, one `terminating` is
 * released, whoever wrote that and in whichever life of the process. Answers go into the sights.
 */
export class Actuator {
  readonly #releasing = new Set<SliceId>();
  readonly #attempts = new Map<SliceId, Attempt>();
  readonly #events: FleetEvent[] = [];
  readonly #strangeSinceMs = new Map<SliceId, EpochMs>();
  /** What was looked at when there was nothing to do: as long as it is the same, there still is not. */
  #atRest: readonly unknown[] = [];

  act(acting: Acting): void {
    const { slices } = acting.memory;
    const lists = [...acting.reaches.keys()].map((name) => acting.sights.listed(name));
    const looked = [slices, slices.version, ...lists];
    if (isSameItems(this.#atRest, looked)) return;
    const launches = new Map<string, SliceRecord[]>();
    const releases = new Map<string, SliceId[]>();
    let isMoving = false;
    for (const record of slices.values()) {
      if (record.status === 'requesting') {
        isMoving = true;
        if (isToAsk(record, acting)) addTo(launches, record.provider, record);
      } else if (record.status === 'terminating') {
        isMoving = true;
        if (this.#isToRelease(record, acting)) addTo(releases, record.provider, record.id);
      }
    }
    const hasStrays = this.#findStrays(acting, releases);
    this.#forget(acting);
    const isWaiting = isMoving || hasStrays || this.#attempts.size > 0;
    this.#atRest = isWaiting ? [] : looked;
    for (const [name, reach] of acting.reaches) {
      if (!acting.mayCall()) return;
      const asked = launches.get(name) ?? [];
      while (asked.length > 0 && reach.launches.free > 0) {
        launch(acting, reach, asked.splice(0, LAUNCH_BATCH_MAX));
      }
      const released = releases.get(name) ?? [];
      while (released.length > 0 && reach.releases.free > 0) {
        this.#release(acting, reach, released.splice(0, RELEASE_BATCH_MAX));
      }
    }
  }

  #isToRelease(record: SliceRecord, { sights, nowMs }: Acting): boolean {
    if (this.#releasing.has(record.id)) return false;
    const { releaseAcceptedMs } = sights.of(record);
    // Agreed to since it was last asked: only its timeout asks again.
    if (releaseAcceptedMs !== null && releaseAcceptedMs >= record.statusSinceMs) return false;
    return nowMs >= (this.#attempts.get(record.id)?.nextMs ?? 0);
  }

  /** Machines whose slice has ended, or that belong to nothing we know; true when there are any. */
  #findStrays(
    { memory, sights, groups, reaches, nowMs }: Acting,
    releases: Map<string, SliceId[]>,
  ): boolean {
    let hasStrays = false;
    for (const name of reaches.keys()) {
      for (const [id, machines] of sights.listed(name)) {
        const record = memory.slices.get(id);
        if (record !== undefined && isLive(record)) continue;
        hasStrays = true;
        if (this.#releasing.has(id) || machines.every(({ state }) => state === 'gone')) continue;
        if (nowMs < (this.#attempts.get(id)?.nextMs ?? 0)) continue;
        if (record === undefined) {
          if (groups.has(machines[0]?.group ?? '')) continue; // adopted at the next look
          const sinceMs = this.#strangeSinceMs.get(id) ?? nowMs;
          this.#strangeSinceMs.set(id, sinceMs);
          if (nowMs - sinceMs < STRAY_GRACE_MS) continue;
        }
        addTo(releases, name, id);
        const group = machines[0]?.group;
        if (group === undefined || this.#attempts.has(id)) continue;
        this.#events.push({ kind: 'stray-machine', sliceId: id, group, action: 'released' });
      }
    }
    return hasStrays;
  }

  #release(acting: Acting, reach: Reach, ids: readonly SliceId[]): void {
    for (const id of ids) {
      this.#releasing.add(id);
      const count = (this.#attempts.get(id)?.count ?? 0) + 1;
      const waitMs = Math.min(RELEASE_CEILING_MS, RELEASE_FIRST_MS * 2 ** (count - 1));
      this.#attempts.set(id, { count, nextMs: epochMs(acting.nowMs + waitMs) });
    }
    reach.releases.run(
      (signal) => reach.provider.terminate(ids, signal),
      (outcome) => {
        const nowMs = acting.now();
        for (const id of ids) {
          this.#releasing.delete(id);
          const record = acting.memory.slices.get(id);
          if (outcome.kind === 'failed' || record === undefined) continue;
          acting.sights.releaseAccepted(record, nowMs);
        }
        acting.wake();
      },
    );
  }

  /** What happened since this was last asked. */
  takeEvents(): readonly FleetEvent[] {
    return this.#events.splice(0);
  }

  /** Attempts are remembered only while there is something to release. */
  #forget({ memory, sights, reaches }: Acting): void {
    const isListed = (id: SliceId): boolean =>
      [...reaches.keys()].some((name) => sights.listed(name).has(id));
    for (const id of [...this.#attempts.keys(), ...this.#strangeSinceMs.keys()]) {
      if (memory.slices.get(id)?.status === 'terminating' || isListed(id)) continue;
      this.#attempts.delete(id);
      this.#strangeSinceMs.delete(id);
    }
  }
}

/** Asked for once; again when nobody answered or nothing came, not while its group is in trouble. */
function isToAsk(record: SliceRecord, { sights, memory, groups, nowMs }: Acting): boolean {
  const { launch: answer } = sights.of(record);
  // Accepted long ago and nothing came: a cloud that queues may know by now that nothing will.
  const isOverdue = answer.kind === 'accepted' && nowMs - answer.atMs >= ASK_AGAIN_MS;
  if (answer.kind !== 'none' && !isOverdue) return false;
  const group = groups.get(record.group)?.group;
  if (group === undefined) return false;
  if (record.statusSinceMs === nowMs) return true;
  for (const { scope, untilMs } of memory.troubles.values()) {
    if (nowMs < untilMs && isWithin(scope, group)) return false;
  }
  return true;
}

function launch(acting: Acting, reach: Reach, records: readonly SliceRecord[]): void {
  const batch = records.map((record) => toRequest(record, acting.groups));
  for (const record of records) acting.sights.answer(record, { kind: 'in-flight' });
  reach.launches.run(
    (signal) => reach.provider.launch(batch, signal),
    (outcome) => {
      for (const record of records) {
        acting.sights.answer(record, toAnswer(record, outcome, acting.now()));
      }
      acting.wake();
    },
  );
}

function toRequest(record: SliceRecord, groups: GroupIndex): LaunchRequest {
  const { group, own } = must(groups.get(record.group), 'a known group');
  return {
    sliceId: record.id,
    group: group.name,
    hostCount: record.hostCount,
    host: group.host,
    device: group.device,
    preemptible: group.preemptible,
    attributes: group.attributes,
    launch: own.launch,
    bootstrap: own.bootstrap,
  };
}

type Answer = Parameters<Sights['answer']>[1];

/** What a launch call says of one slice. Whatever is not certain is taken for unanswered. */
function toAnswer(
  { id }: SliceRecord,
  outcome: Outcome<readonly LaunchOutcome[]>,
  atMs: EpochMs,
): Answer {
  if (outcome.kind === 'failed')
    return { kind: 'unanswered', atMs, refusal: toRefusal(outcome.error) };
  const outcomes: unknown = outcome.value;
  const mine: unknown = Array.isArray(outcomes)
    ? outcomes.find((one: unknown) => isObject(one) && one['sliceId'] === id)
    : undefined;
  if (isObject(mine) && mine['kind'] === 'accepted') return { kind: 'accepted', atMs };
  if (isObject(mine) && mine['kind'] === 'refused' && isRefusal(mine['refusal'])) {
    return { kind: 'refused', refusal: mine['refusal'] };
  }
  const detail = 'the provider gave no usable answer for this launch';
  return { kind: 'unanswered', atMs, refusal: { kind: 'unknown', detail } };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const kinds: ReadonlySet<unknown> = new Set<Refusal['kind']>([
  'stockout',
  'quota-exceeded',
  'throttled',
  'permanent',
  'unknown',
]);

const isRefusal = (value: unknown): value is Refusal =>
  isObject(value) && kinds.has(value['kind']) && typeof value['detail'] === 'string';

/** A failed call as a refusal: what it did is not known, but when to ask again is. */
function toRefusal({ kind, message }: ProviderError): Refusal {
  switch (kind) {
    case 'throttled':
      return { kind: 'throttled', retryAfterMs: null, detail: message };
    case 'denied':
      return { kind: 'permanent', detail: message };
    case 'timeout':
    case 'unreachable':
    case 'garbage':
      return { kind: 'unknown', detail: message };
    default:
      return unreachable(kind);
  }
}

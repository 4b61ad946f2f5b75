import type { Control } from '../model/control.ts';
import type { DemandClass, Entry } from '../model/demand.ts';
import type { EntryId, EpochMs, SliceId } from '../model/ids.ts';
import {
  type HistoryStep,
  isLive,
  type SliceRecord,
  type TrackedHost,
  type TrackedSlice,
} from '../model/slice-record.ts';
import type { SliceSight } from '../lifecycle/sight.ts';
import type { Resources } from '../model/resources.ts';
import type { TickInput } from '../model/tick.ts';
import { must } from '../support/assert.ts';
import { byNumber, byText } from '../support/order.ts';
import { isSameItems } from '../support/same-items.ts';
import type { Turns } from '../support/turns.ts';
import { DemandClasses } from './demand-classes.ts';
import type { Memory } from './memory.ts';
import { isSameRoom, type Sights } from './sights.ts';

/** What a scheduler has not said for so long is not known any more: no report, so busy. */
const REPORT_MAX_MS = 5 * 60_000;
const MINUTE_MS = 60_000;

interface At {
  readonly atMs: EpochMs;
  readonly epoch: number;
  readonly seq: number;
  readonly control: Control;
}

/**
 * Freezes what is known into the input of a tick. Parts that did not change since the last tick are
 * the same objects, so that recording them again costs nothing.
 */
export class TickInputs {
  readonly #tracked = new WeakMap<
    SliceRecord,
    {
      readonly reports: SliceSight['reports'];
      readonly empty: Resources | null;
      readonly slice: TrackedSlice;
    }
  >();
  /** What a host of a group offers, where it counts as idle while nobody reports on it. */
  #empty: { readonly control: Control; readonly hosts: ReadonlyMap<string, Resources> } | null =
    null;
  readonly #classes = new DemandClasses();
  /** Ids as they came the last time, and for each place in order which of them it was. */
  #order: { readonly ids: readonly SliceId[]; readonly places: readonly number[] } = {
    ids: [],
    places: [],
  };
  #demand: { readonly key: readonly unknown[]; readonly classes: readonly DemandClass[] } | null =
    null;

  freeze(memory: Memory, sights: Sights, at: At): TickInput {
    const slices: TrackedSlice[] = [];
    const launched: { atMs: EpochMs; gang: EntryId | null }[] = [];
    const released: EpochMs[] = [];
    const empty = this.#emptyHosts(at.control);
    const minuteAgoMs = at.atMs - MINUTE_MS;
    for (const record of memory.slices.values()) {
      const { requestedAtMs } = record;
      if (requestedAtMs !== null && requestedAtMs > minuteAgoMs) {
        launched.push({ atMs: requestedAtMs, gang: record.reservedFor });
      }
      if (record.statusSinceMs > minuteAgoMs) {
        for (const step of record.history) {
          if (step.atMs > minuteAgoMs && isScaleDown(step)) released.push(step.atMs);
        }
      }
      if (!isLive(record)) continue;
      const idle = record.isReported ? null : (empty.get(record.group) ?? null);
      slices.push(this.#track(record, sights.of(record), at.atMs, idle));
    }
    this.#sort(slices);
    const listed = (name: string): boolean => sights.listedMs(name) !== null;
    return {
      ...at,
      slices,
      demand: this.#classify(memory, slices),
      floors: [...memory.floors.values()].map(({ id, ask, count }) => ({ id, ask, count })),
      pauses: [...memory.pauses.values()],
      troubles: [...memory.troubles.values()],
      health: [...memory.health.values()],
      learned: [...memory.hosts.values()],
      unlisted: at.control.providers.flatMap(({ name }) => (listed(name) ? [] : [name])),
      launchedAtMs: countGangsOnce(launched),
      releasedAtMs: released.sort(byNumber((atMs) => atMs)),
    };
  }

  /** By id. Mostly the same ones as the last time: then their order is known. */
  #sort(slices: TrackedSlice[]): void {
    const { ids, places } = this.#order;
    if (ids.length !== slices.length || slices.some(({ id }, index) => id !== ids[index])) {
      const sorted = slices.map((slice, place) => ({ slice, place }));
      sorted.sort((a, b) => byText(a.slice.id, b.slice.id));
      this.#order = {
        ids: slices.map(({ id }) => id),
        places: sorted.map(({ place }) => place),
      };
      sorted.forEach(({ slice }, index) => (slices[index] = slice));
      return;
    }
    const given = [...slices];
    places.forEach((place, index) => (slices[index] = must(given[place], 'a place of its own')));
  }

  #emptyHosts(control: Control): ReadonlyMap<string, Resources> {
    if (this.#empty?.control !== control) {
      const { fleet, groups } = control;
      const idle = fleet.groups.filter((_, index) => groups[index]?.unreported === 'idle');
      this.#empty = { control, hosts: new Map(idle.map(({ name, host }) => [name, host])) };
    }
    return this.#empty.hosts;
  }

  #track(
    record: SliceRecord,
    { reports }: SliceSight,
    atMs: EpochMs,
    empty: Resources | null,
  ): TrackedSlice {
    const known = this.#tracked.get(record);
    let isStale = false;
    for (const report of reports) isStale ||= report !== null && isOld(report.atMs, atMs);
    if (known !== undefined && known.reports === reports && known.empty === empty && !isStale) {
      return known.slice;
    }
    const unknown = { free: empty, isBusy: empty === null ? null : false };
    const hosts = reports.map((report) =>
      report === null || isOld(report.atMs, atMs)
        ? unknown
        : { free: report.free, isBusy: report.isBusy },
    );
    const before = known?.slice;
    // A report that repeats itself changes nothing.
    const slice =
      before !== undefined && isSameHosts(before.hosts, hosts) ? before : toTracked(record, hosts);
    if (!isStale) this.#tracked.set(record, { reports, empty, slice });
    return slice;
  }

  /** Looks through a list that a push brings, before the tick that is to count with it. */
  *prepare(entries: readonly Entry[], memory: Memory): Turns<void> {
    const reserved = new Set<EntryId>();
    for (const record of memory.slices.values()) {
      if (record.reservedFor !== null && isLive(record)) reserved.add(record.reservedFor);
    }
    yield* this.#classes.groupInTurns(entries, reserved);
  }

  /** Classes are made anew only when a push or a reservation changed. */
  #classify(memory: Memory, slices: readonly TrackedSlice[]): readonly DemandClass[] {
    const pushes = [...memory.demand.entries()]
      .sort(([a], [b]) => byText(a, b))
      .map(([, push]) => push.entries);
    const reserved = new Set<EntryId>();
    for (const { reservedFor } of slices) if (reservedFor !== null) reserved.add(reservedFor);
    const key = [...pushes, ...reserved];
    const before = this.#demand;
    if (before !== null && isSameItems(before.key, key)) return before.classes;
    const classes = this.#classes.of(pushes, reserved);
    this.#demand = { key, classes };
    return classes;
  }
}

/** Written out: every tick reads all slices many times, and objects made alike are read faster. */
const toTracked = (record: SliceRecord, hosts: readonly TrackedHost[]): TrackedSlice => ({
  id: record.id,
  group: record.group,
  provider: record.provider,
  hostCount: record.hostCount,
  status: record.status,
  statusSinceMs: record.statusSinceMs,
  reservedFor: record.reservedFor,
  reservedSinceMs: record.reservedSinceMs,
  priceMicroUsdPerHour: record.priceMicroUsdPerHour,
  shape: record.shape,
  fallbackFor: record.fallbackFor,
  machines: record.machines,
  requestedAtMs: record.requestedAtMs,
  readyAtMs: record.readyAtMs,
  idleSinceMs: record.idleSinceMs,
  isReported: record.isReported,
  isProtected: record.isProtected,
  drain: record.drain,
  hosts,
});

function isSameHosts(before: readonly TrackedHost[], now: readonly TrackedHost[]): boolean {
  return (
    before.length === now.length &&
    before.every(({ free, isBusy }, index) => {
      const host = now[index];
      if (host === undefined || host.isBusy !== isBusy) return false;
      if (free === null || host.free === null) return free === host.free;
      return isSameRoom(free, host.free);
    })
  );
}

/** Whether a step gives back what could have stayed: not what was never sent, nor what is taken. */
function isScaleDown({ cause, status }: HistoryStep): boolean {
  const isGiving = cause?.kind === 'draining' || cause?.kind === 'cancelled';
  return isGiving && cause.why.kind !== 'interrupted' && status !== 'terminated';
}

const isOld = (reportedMs: EpochMs, atMs: EpochMs): boolean => atMs - reportedMs > REPORT_MAX_MS;

/** Launch times in order; the slices of a gang, sent together, count as one launch. */
function countGangsOnce(
  launched: readonly { readonly atMs: EpochMs; readonly gang: EntryId | null }[],
): readonly EpochMs[] {
  const seen = new Set<string>();
  return launched
    .filter(({ atMs, gang }) => {
      if (gang === null) return true;
      const key = `${atMs} ${gang}`;
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    })
    .map(({ atMs }) => atMs)
    .sort(byNumber((atMs) => atMs));
}

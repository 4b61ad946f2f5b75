import type { Control } from '../model/control.ts';
import type { DemandClass, Entry } from '../model/demand.ts';
import type { EntryId, EpochMs } from '../model/ids.ts';
import { isLive, type SliceRecord, type TrackedSlice } from '../model/slice-record.ts';
import type { SliceSight } from '../lifecycle/sight.ts';
import type { TickInput } from '../model/tick.ts';
import { classify } from '../policy/demand/classes.ts';
import { byNumber, byText } from '../support/order.ts';
import type { Memory } from './memory.ts';
import type { Sights } from './sights.ts';

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
    { readonly reports: SliceSight['reports']; readonly slice: TrackedSlice }
  >();
  #demand: { readonly key: readonly unknown[]; readonly classes: readonly DemandClass[] } | null =
    null;

  freeze(memory: Memory, sights: Sights, at: At): TickInput {
    const slices: TrackedSlice[] = [];
    const launched: { atMs: EpochMs; gang: EntryId | null }[] = [];
    const released: EpochMs[] = [];
    const minuteAgoMs = at.atMs - MINUTE_MS;
    for (const record of memory.slices.values()) {
      const { requestedAtMs } = record;
      if (requestedAtMs !== null && requestedAtMs > minuteAgoMs) {
        launched.push({ atMs: requestedAtMs, gang: record.reservedFor });
      }
      if (record.statusSinceMs > minuteAgoMs) {
        for (const { event, atMs, cause } of record.history) {
          const isOurs = event === 'drain-started' || cause?.kind === 'cancelled';
          if (isOurs && atMs > minuteAgoMs) released.push(atMs);
        }
      }
      if (isLive(record)) slices.push(this.#track(record, sights.of(record), at.atMs));
    }
    slices.sort((a, b) => byText(a.id, b.id));
    const listed = (name: string): boolean => sights.listedMs(name) !== null;
    return {
      ...at,
      slices,
      demand: this.#classify(memory, slices),
      floors: [...memory.floors.values()].map(({ id, ask, count }) => ({ id, ask, count })),
      pauses: [...memory.pauses.values()],
      troubles: [...memory.troubles.values()],
      health: [...memory.health.values()],
      unlisted: at.control.providers.flatMap(({ name }) => (listed(name) ? [] : [name])),
      launchedAtMs: countGangsOnce(launched),
      releasedAtMs: released.sort(byNumber((atMs) => atMs)),
    };
  }

  #track(record: SliceRecord, { reports }: SliceSight, atMs: EpochMs): TrackedSlice {
    const known = this.#tracked.get(record);
    const isStale = reports.some((report) => report !== null && isOld(report.atMs, atMs));
    if (known !== undefined && known.reports === reports && !isStale) return known.slice;
    const { history: _, ...rest } = record;
    const hosts = reports.map((report) =>
      report === null || isOld(report.atMs, atMs)
        ? { free: null, isBusy: null }
        : { free: report.free, isBusy: report.isBusy },
    );
    const before = known?.slice;
    // A report that repeats itself changes nothing.
    const slice =
      before !== undefined && JSON.stringify(before.hosts) === JSON.stringify(hosts)
        ? before
        : { ...rest, hosts };
    if (!isStale) this.#tracked.set(record, { reports, slice });
    return slice;
  }

  /** Classes are made anew only when a push or a reservation changed. */
  #classify(memory: Memory, slices: readonly TrackedSlice[]): readonly DemandClass[] {
    const pushes = [...memory.demand.entries()]
      .sort(([a], [b]) => byText(a, b))
      .map(([, push]) => push.entries);
    const reserved = new Set(slices.flatMap(({ reservedFor }) => reservedFor ?? []));
    const key = [...pushes, ...reserved];
    const before = this.#demand;
    if (before?.key.length === key.length && before.key.every((part, n) => part === key[n])) {
      return before.classes;
    }
    const entries: readonly Entry[] = pushes.length === 1 ? (pushes[0] ?? []) : pushes.flat();
    const classes = classify(entries, reserved);
    this.#demand = { key, classes };
    return classes;
  }
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

import type { EpochMs, GroupName, SliceId } from '../model/ids.ts';
import type { TrackedSlice } from '../model/slice-record.ts';
import type { TickInput } from '../model/tick.ts';
import type { Group } from '../model/group.ts';
import { addTo } from '../support/group-by.ts';
import { isWithin, type Trouble, troubleId } from '../model/trouble.ts';

/** How long one launch took, from being sent. */
export interface LaunchTime {
  /** Until its machines were seen. */
  readonly machinesMs: number;
  /** Until it was ready. */
  readonly readyMs: number;
}

/** What is assumed where the journal shows no launch, or no release, at all. */
export const launchTimeDefault: LaunchTime = { machinesMs: 10_000, readyMs: 120_000 };
export const RELEASE_MS_DEFAULT = 60_000;

/** How the recorded providers behaved. */
export interface WorldTimes {
  readonly launches: ReadonlyMap<GroupName, readonly LaunchTime[]>;
  /** Of all groups together, for those that were never launched. */
  readonly launchesOfAll: readonly LaunchTime[];
  /** From the start of a drain without work, or of a release, until nothing is left. */
  readonly releases: ReadonlyMap<GroupName, readonly number[]>;
  readonly releasesOfAll: readonly number[];
  /** When slices of the first tick that were on their way became ready, and others were gone. */
  readonly readyAtMs: ReadonlyMap<SliceId, EpochMs>;
  readonly goneAtMs: ReadonlyMap<SliceId, EpochMs>;
  /** Launches sent in a window were refused. */
  readonly refusals: readonly RefusalWindow[];
}

interface RefusalWindow {
  readonly scope: Trouble['scope'];
  readonly fromMs: EpochMs;
  toMs: EpochMs;
}

interface OpenTrouble {
  readonly attempts: number;
  readonly window: RefusalWindow;
}

interface Life {
  readonly group: GroupName;
  requestedAtMs: EpochMs | null;
  machinesAtMs: EpochMs | null;
  readyAtMs: EpochMs | null;
  /** Since when it leaves, as far as nothing runs on it. */
  leavesAtMs: EpochMs | null;
  isThere: boolean;
}

/** Learns from recorded ticks how long launches and releases took, and when they were refused. */
export class TimesReader {
  readonly #lives = new Map<SliceId, Life>();
  readonly #launches: (LaunchTime & { readonly group: GroupName; readonly sentMs: EpochMs })[] = [];
  readonly #releases: { readonly group: GroupName; readonly tookMs: number }[] = [];
  readonly #readyAtMs = new Map<SliceId, EpochMs>();
  readonly #goneAtMs = new Map<SliceId, EpochMs>();
  readonly #refusals: RefusalWindow[] = [];
  #open: ReadonlyMap<string, OpenTrouble> = new Map();
  #lastMs: EpochMs | null = null;

  feed({ slices, troubles, atMs }: TickInput): void {
    for (const slice of slices) this.#see(slice);
    for (const [id, life] of this.#lives) {
      if (!life.isThere) this.#bury(id, life, atMs);
      life.isThere = false;
    }
    this.#noteTroubles(troubles, atMs);
    this.#lastMs = atMs;
  }

  finish(): WorldTimes {
    const launches = new Map<GroupName, LaunchTime[]>();
    const sent = this.#launches.toSorted((a, b) => a.sentMs - b.sentMs);
    for (const { group, ...time } of sent) addTo(launches, group, time);
    const releases = new Map<GroupName, number[]>();
    for (const { group, tookMs } of this.#releases) addTo(releases, group, tookMs);
    return {
      launches,
      launchesOfAll: sent,
      releases,
      releasesOfAll: this.#releases.map(({ tookMs }) => tookMs),
      readyAtMs: this.#readyAtMs,
      goneAtMs: this.#goneAtMs,
      refusals: this.#refusals,
    };
  }

  #see(slice: TrackedSlice): void {
    const { id, group, status, statusSinceMs, requestedAtMs, readyAtMs } = slice;
    const blank = { requestedAtMs, machinesAtMs: null, readyAtMs: null, leavesAtMs: null };
    const life: Life = this.#lives.get(id) ?? { group, ...blank, isThere: true };
    this.#lives.set(id, life);
    life.isThere = true;
    life.requestedAtMs = requestedAtMs;
    if (status === 'booting' || status === 'initializing') life.machinesAtMs ??= statusSinceMs;
    if (readyAtMs !== null && life.readyAtMs === null) {
      life.readyAtMs = readyAtMs;
      this.#readyAtMs.set(id, readyAtMs);
      this.#noteLaunch(life, readyAtMs);
    }
    const isBusy = slice.hosts.some((host) => host.isBusy === true);
    if (status === 'ready' || (status === 'draining' && isBusy)) life.leavesAtMs = null;
    else if (status === 'draining' || status === 'terminating') life.leavesAtMs ??= statusSinceMs;
  }

  #noteLaunch({ group, requestedAtMs, machinesAtMs }: Life, readyAtMs: EpochMs): void {
    if (requestedAtMs === null) return; // adopted: nobody knows when it was sent
    const readyMs = readyAtMs - requestedAtMs;
    const machinesMs = Math.min(readyMs, (machinesAtMs ?? readyAtMs) - requestedAtMs);
    // Ready before the first tick that we have: its launch is not a part of the recorded time.
    if (this.#lastMs === null) return;
    this.#launches.push({ group, sentMs: requestedAtMs, machinesMs, readyMs });
  }

  #bury(id: SliceId, { group, leavesAtMs }: Life, atMs: EpochMs): void {
    this.#goneAtMs.set(id, atMs);
    if (leavesAtMs !== null) this.#releases.push({ group, tookMs: atMs - leavesAtMs });
    this.#lives.delete(id);
  }

  /**
   * A trouble that is new, or has one attempt more, is a refusal; launches sent since the tick before
   * met it. While one trouble lasts, everything up to its last refusal would have been refused.
   */
  #noteTroubles(troubles: readonly Trouble[], atMs: EpochMs): void {
    const open = new Map<string, OpenTrouble>();
    for (const trouble of troubles) {
      if (trouble.kind === 'churn') continue; // ours, not the provider's
      const id = troubleId(trouble);
      const { attempts, scope } = trouble;
      const known = this.#open.get(id);
      if (known === undefined) {
        const window = { scope, fromMs: this.#lastMs ?? atMs, toMs: atMs };
        this.#refusals.push(window);
        open.set(id, { attempts, window });
      } else {
        if (attempts > known.attempts) known.window.toMs = atMs;
        open.set(id, { attempts, window: known.window });
      }
    }
    this.#open = open;
  }
}

/** Whether a launch of a group sent now meets a recorded refusal. */
export function isRefused({ refusals }: WorldTimes, group: Group, atMs: EpochMs): boolean {
  return refusals.some(({ scope, fromMs, toMs }) => {
    // Sent at the tick that told of the last refusal is after it: that tick may have seen its end.
    const isThen = atMs >= fromMs && atMs < toMs;
    return isThen && isWithin(scope, group);
  });
}

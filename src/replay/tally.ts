import type { GroupName } from '../model/ids.ts';
import type { UnmetCode } from '../model/reason.ts';
import type { SliceStatus } from '../model/slice.ts';
import type { TickInput, TickOutput } from '../model/tick.ts';
import { byNumber, byText } from '../support/order.ts';

const HOUR_MS = 3_600_000;

/** What one course of things came to. */
export interface Tally {
  readonly groups: readonly GroupTally[];
  readonly launches: number;
  readonly sliceHours: number;
  readonly costMicroUsd: number;
  readonly peakMicroUsdPerHour: number;
  /** By code, in order of the entries' waiting hours. */
  readonly unmet: readonly UnmetTally[];
}

export interface GroupTally {
  readonly group: GroupName;
  /** Slices whose machines came. */
  readonly launches: number;
  readonly sliceHours: number;
  readonly costMicroUsd: number;
}

export interface UnmetTally {
  readonly code: UnmetCode;
  /** Entries times the hours for which ticks had no place for them. */
  readonly entryHours: number;
  /** At one tick. */
  readonly entriesMax: number;
}

interface GroupDraft {
  readonly group: GroupName;
  launches: number;
  sliceMs: number;
  costMicroUsd: number;
}

/** Machines exist, and are paid for. */
const paid: ReadonlySet<SliceStatus> = new Set([
  'booting',
  'initializing',
  'ready',
  'draining',
  'terminating',
]);

/** Adds up ticks, recorded or modelled: what a tick shows counts until the next one. */
export class Tallier {
  readonly #groups = new Map<GroupName, GroupDraft>();
  /** Slices whose machines were seen. */
  readonly #seen = new Set<string>();
  readonly #unmet = new Map<UnmetCode, { entryMs: number; entriesMax: number }>();
  #peak = 0;
  #isFirst = true;
  #last: { readonly input: TickInput; readonly output: TickOutput } | null = null;

  add(input: TickInput, output: TickOutput): void {
    if (this.#last !== null) this.#spend(this.#last, input.atMs - this.#last.input.atMs);
    let rate = 0;
    for (const slice of input.slices) {
      if (!paid.has(slice.status)) continue;
      // One that ends is paid for only if it had machines: a request may be given up before.
      if (slice.status === 'terminating' && !this.#isFirst && !this.#seen.has(slice.id)) continue;
      if (!this.#seen.has(slice.id)) {
        this.#seen.add(slice.id);
        if (!this.#isFirst) this.#groupOf(slice.group).launches++;
      }
      rate += slice.priceMicroUsdPerHour ?? 0;
    }
    this.#peak = Math.max(this.#peak, rate);
    this.#isFirst = false;
    this.#last = { input, output };
  }

  finish(): Tally {
    const groups = [...this.#groups.values()]
      .map(({ group, launches, sliceMs, costMicroUsd }) => {
        return { group, launches, sliceHours: sliceMs / HOUR_MS, costMicroUsd };
      })
      .sort((a, b) => byText(a.group, b.group));
    const sum = (of: (group: GroupTally) => number): number =>
      groups.reduce((total, group) => total + of(group), 0);
    return {
      groups,
      launches: sum(({ launches }) => launches),
      sliceHours: sum(({ sliceHours }) => sliceHours),
      costMicroUsd: sum(({ costMicroUsd }) => costMicroUsd),
      peakMicroUsdPerHour: this.#peak,
      unmet: [...this.#unmet]
        .map(([code, { entryMs, entriesMax }]) => {
          return { code, entryHours: entryMs / HOUR_MS, entriesMax };
        })
        .sort(byNumber(({ entryHours }) => -entryHours)),
    };
  }

  #spend({ input, output }: { input: TickInput; output: TickOutput }, forMs: number): void {
    for (const { id, group, status, priceMicroUsdPerHour } of input.slices) {
      if (!paid.has(status) || !this.#seen.has(id)) continue;
      const draft = this.#groupOf(group);
      draft.sliceMs += forMs;
      draft.costMicroUsd += ((priceMicroUsdPerHour ?? 0) * forMs) / HOUR_MS;
    }
    const counts = new Map<UnmetCode, number>();
    for (const { unmet, unmetCount } of output.decision.classes) {
      if (unmet !== null) counts.set(unmet.code, (counts.get(unmet.code) ?? 0) + unmetCount);
    }
    for (const [code, entries] of counts) {
      const known = this.#unmet.get(code) ?? { entryMs: 0, entriesMax: 0 };
      known.entryMs += entries * forMs;
      known.entriesMax = Math.max(known.entriesMax, entries);
      this.#unmet.set(code, known);
    }
  }

  #groupOf(group: GroupName): GroupDraft {
    const known = this.#groups.get(group);
    if (known !== undefined) return known;
    const draft = { group, launches: 0, sliceMs: 0, costMicroUsd: 0 };
    this.#groups.set(group, draft);
    return draft;
  }
}

/** How long work waited: up to its start, its withdrawal, or the last tick. */
export interface Waiting {
  readonly pieces: number;
  readonly meanMs: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  /** Still waiting at the last tick. */
  readonly unstarted: number;
}

export function toWaiting(waitsMs: readonly number[], unstarted: number): Waiting {
  const sorted = waitsMs.toSorted(byNumber((ms) => ms));
  const sum = sorted.reduce((total, ms) => total + ms, 0);
  // The smallest wait that is not exceeded by 95 % of the pieces.
  const p95Ms = sorted[Math.max(0, Math.ceil(sorted.length * 0.95) - 1)] ?? 0;
  const meanMs = sorted.length === 0 ? 0 : sum / sorted.length;
  return { pieces: sorted.length, meanMs, p95Ms, maxMs: sorted.at(-1) ?? 0, unstarted };
}

import type { EpochMs, GroupName } from '../../model/ids.ts';
import type { Refusal } from '../../model/refusal.ts';
import { forkRandom, type Random } from '../../support/random.ts';
import { type FaultCounts, type FaultKind, faultKinds, type Faults } from './faults.ts';
import { faultTimes, type Offer, pickMs, type RefusalWindow, type Spread } from './offer.ts';

const NEVER = Number.NEGATIVE_INFINITY;

/**
 * All chance and all trouble of one cloud. Streams are forked by name: per kind of fault for what is
 * drawn call by call, per host or slice for what is its fate, so that one draw shifts no other.
 */
export class Weather {
  readonly faults: Faults;
  hangUntilMs = NEVER;
  throttleUntilMs = NEVER;
  readonly #seed: number;
  readonly #streams = new Map<string, Random>();
  readonly #counts = new Map<FaultKind, number>();
  readonly #refusals = new Map<GroupName, RefusalWindow>();
  readonly #bootsFailUntilMs = new Map<GroupName, EpochMs>();
  #isQuiet = false;

  constructor(seed: number, faults: Faults) {
    this.#seed = seed;
    this.faults = faults;
  }

  get isQuiet(): boolean {
    return this.#isQuiet;
  }

  /** Ends all that the levers began, and injects nothing more by chance. */
  quiet(): void {
    this.#isQuiet = true;
    this.hangUntilMs = NEVER;
    this.throttleUntilMs = NEVER;
    this.#refusals.clear();
    this.#bootsFailUntilMs.clear();
  }

  /** The next number of a named stream. */
  next(stream: string): number {
    let random = this.#streams.get(stream);
    if (random === undefined) {
      random = forkRandom(this.#seed, stream);
      this.#streams.set(stream, random);
    }
    return random();
  }

  /** The one number that belongs to a name: asked twice, the same. */
  fate(name: string): number {
    return forkRandom(this.#seed, name)();
  }

  pickMs(spread: Spread, stream: string): number {
    return pickMs(spread, this.next(stream));
  }

  /** Does the fault happen this time? The caller counts it where it is injected. */
  isHit(kind: FaultKind, ratio: number, stream: string): boolean {
    return !this.#isQuiet && ratio > 0 && this.next(`${kind}/${stream}`) < ratio;
  }

  /** Is the fault this one's fate? Of a host or slice: it does not depend on what others drew. */
  isFated(kind: FaultKind, ratio: number, whose: string): boolean {
    return !this.#isQuiet && ratio > 0 && this.fate(`${kind}/${whose}`) < ratio;
  }

  count(kind: FaultKind): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  counts(): FaultCounts {
    // Every kind is a key, so the entries make a whole record.
    return Object.fromEntries(
      faultKinds.map((kind) => [kind, this.#counts.get(kind) ?? 0]),
    ) as FaultCounts;
  }

  refuse(group: GroupName, window: RefusalWindow): void {
    this.#refusals.set(group, window);
  }

  failBoots(group: GroupName, untilMs: EpochMs): void {
    this.#bootsFailUntilMs.set(group, untilMs);
  }

  doBootsFail(group: GroupName, nowMs: EpochMs): boolean {
    return nowMs < (this.#bootsFailUntilMs.get(group) ?? NEVER);
  }

  /** What a lever, a window or chance has against a launch in this group now. */
  refusalFor(
    offer: Offer,
    at: { readonly nowMs: EpochMs; readonly sinceOpenMs: number },
  ): Refusal | null {
    const { group } = offer;
    if (at.nowMs < this.throttleUntilMs) {
      const retryAfterMs = this.throttleUntilMs - at.nowMs;
      return { kind: 'throttled', retryAfterMs, detail: 'rate exceeded' };
    }
    const window = this.#refusals.get(group);
    if (window !== undefined && at.nowMs < window.untilMs) return window.refusal;
    const isOut = offer.stockouts.some(
      ({ fromMs, toMs }) => fromMs <= at.sinceOpenMs && at.sinceOpenMs < toMs,
    );
    if (isOut && !this.#isQuiet) return { kind: 'stockout', detail: `no capacity for ${group}` };
    if (this.isHit('stockout', offer.stockoutRatio ?? this.faults.stockoutRatio, group)) {
      return { kind: 'stockout', detail: `no capacity for ${group} this time` };
    }
    if (this.isHit('throttled', this.faults.throttledRatio / 2, group)) {
      const { retryAfterMs } = faultTimes;
      return { kind: 'throttled', retryAfterMs, detail: 'rate exceeded' };
    }
    if (this.isHit('refused-unknown', this.faults.refusedUnknownRatio, group)) {
      return { kind: 'unknown', detail: 'internal error' };
    }
    return null;
  }
}

import type { EpochMs, GroupName } from '../../model/ids.ts';
import type { Refusal } from '../../model/refusal.ts';

/** Durations between two bounds, more often near the lower: most are quick, a few are slow. */
export interface Spread {
  readonly fromMs: number;
  readonly toMs: number;
}

/** `random` in [0, 1). Squared: the median lies at a quarter of the way. */
export const pickMs = ({ fromMs, toMs }: Spread, random: number): number =>
  Math.round(fromMs + (toMs - fromMs) * random * random);

/** What the cloud sells for one group. */
export interface Offer {
  readonly group: GroupName;
  /** Of a slice, however many hosts it has. */
  readonly priceMicroUsdPerHour: number;
  readonly quotaPool: string | null;
  /** From an accepted launch to the machines: above 0 models a cloud that queues. */
  readonly queue: Spread;
  /** From allocated to up, per host. */
  readonly start: Spread;
  /** From up to bootstrapped, per host. */
  readonly bootstrap: Spread;
  /** From an accepted termination to gone, per host. */
  readonly stop: Spread;
  /** How long before a preemption it is announced. */
  readonly noticeMs: number;
  /** Instead of the one in `faults`; null leaves it. */
  readonly stockoutRatio: number | null;
  /** When nothing is to be had, from and to, in milliseconds since the cloud was opened. */
  readonly stockouts: readonly Spread[];
}

export type OfferInput = Partial<Offer> & Pick<Offer, 'group'>;

export const toOffer = (input: OfferInput): Offer => ({
  priceMicroUsdPerHour: 1_000_000,
  quotaPool: null,
  queue: { fromMs: 0, toMs: 0 },
  start: { fromMs: 10_000, toMs: 60_000 },
  bootstrap: { fromMs: 20_000, toMs: 120_000 },
  stop: { fromMs: 5_000, toMs: 60_000 },
  noticeMs: 120_000,
  stockoutRatio: null,
  stockouts: [],
  ...input,
});

/** Why a group is refused for a while, by a lever. */
export interface RefusalWindow {
  readonly refusal: Refusal;
  readonly untilMs: EpochMs;
}

/** How long faults take. Constants: a simulation that needs others uses a lever. */
export const faultTimes = {
  /** When a caller's own client gives up on a reply that was lost. */
  timeoutMs: 10_000,
  lateReply: { fromMs: 30_000, toMs: 300_000 },
  lateCreate: { fromMs: 60_000, toMs: 300_000 },
  duplicate: { fromMs: 0, toMs: 30_000 },
  earlyDeath: { fromMs: 1_000, toMs: 300_000 },
  slowStop: { fromMs: 300_000, toMs: 900_000 },
  retryAfterMs: 5_000,
} as const;

import { create } from '@bufbuild/protobuf';
import { type Spend, SpendSchema } from '../../api/gen/bellows/v1/status_pb.ts';
import type { SliceRecord } from '../../model/slice-record.ts';
import { isLive } from '../../model/slice-record.ts';
import type { AgedBound, DecidedTick } from '../fleet-feed.ts';
import { toTimestamp, toUsd, toUsdOrNone } from './wire-values.ts';

/** What a fleet costs, in micro-dollars per hour. */
export interface Costs {
  readonly now: number;
  readonly planned: number;
  /** Null: no cap. */
  readonly cap: number | null;
}

/** Asked for and not gone: somebody may be paid for it. */
const costs = (slice: Pick<SliceRecord, 'status'>): boolean =>
  isLive(slice) && slice.status !== 'queued';

/** Before the first decision: what is remembered. */
export function costsOf(slices: Iterable<SliceRecord>): Costs {
  let now = 0;
  for (const slice of slices) if (costs(slice)) now += slice.priceMicroUsdPerHour ?? 0;
  return { now, planned: now, cap: null };
}

/**
 * Planned is what there will be once all is carried out: what stays, also launches that wait for
 * their turn, and what is launched now; without what leaves already or is let go now.
 */
export function costsOfTick({ input, output }: DecidedTick): Costs {
  const leaving = new Set<string>();
  const recalled = new Set<string>();
  for (const step of output.steps) {
    if (step.kind === 'cancel' || step.kind === 'drain') leaving.add(step.sliceId);
    if (step.kind === 'cancel-drain') recalled.add(step.sliceId);
  }
  let [now, planned] = [0, output.decision.costMicroUsdPerHour];
  for (const slice of input.slices) {
    const price = slice.priceMicroUsdPerHour ?? 0;
    const isEnding = slice.status === 'draining' || slice.status === 'terminating';
    if (costs(slice)) now += price;
    if (isEnding ? recalled.has(slice.id) : !leaving.has(slice.id)) planned += price;
  }
  return { now, planned, cap: input.control.fleet.limits.spendMaxMicroUsdPerHour };
}

export function toSpend({ now, planned, cap }: Costs, bound: AgedBound | null): Spend {
  const outcome = bound?.outcome;
  return create(SpendSchema, {
    usdPerHour: toUsd(now),
    plannedUsdPerHour: toUsd(planned),
    capUsdPerHour: toUsdOrNone(cap),
    boundUsdPerHour:
      outcome?.kind === 'known' ? toUsd(Math.round(outcome.boundMicroUsdPerHour)) : undefined,
    boundRatio: outcome?.kind === 'known' ? outcome.ratio : undefined,
    boundAt: toTimestamp(bound?.atMs),
    boundUnknown: outcome?.kind === 'unknown' ? outcome.detail : '',
  });
}

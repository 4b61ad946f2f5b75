import { medianPrice, type HostType } from './catalogue.ts';

export interface IdleTimeConfig {
  /** For a host of `referenceMedians` times the median price. */
  readonly referenceMs: number;
  readonly referenceMedians: number;
  readonly minMs: number;
  readonly maxMs: number;
}

export const idleTimeDefaults: IdleTimeConfig = {
  referenceMs: 250_000,
  referenceMedians: 1.4,
  minMs: 20_000,
  maxMs: 900_000,
};

/**
 * How long an empty host of each type is kept: the same money's worth for all, so dear hosts go
 * first. A host without a price is kept for `maxMs`.
 */
export function idleTimes(
  types: readonly HostType[],
  config: IdleTimeConfig = idleTimeDefaults,
): readonly number[] {
  const reference = config.referenceMedians * medianPrice(types);
  return types.map(({ priceMicroUsdPerHour }) => {
    const idleMs = (config.referenceMs * reference) / Math.max(1, priceMicroUsdPerHour);
    return Math.round(Math.min(config.maxMs, Math.max(config.minMs, idleMs)));
  });
}

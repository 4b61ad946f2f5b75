import { assert } from '../../support/assert.ts';
import type { GroupName } from '../../model/ids.ts';
import { type Catalogue, fits, type ResourceVector } from './catalogue.ts';

// Shapes, types and resources are indices below the catalogue's counts, hence the `!`.

/** What the choice of a type looks at. */
export interface OpeningInput {
  /** Shapes of waiting work that no host, ready or booting, has room for; the first decides. */
  readonly backlog: readonly number[];
  /** How much work of each shape runs now: what is likely to come and fill the rest. */
  readonly runningCount: Int32Array;
  /** Hosts of each type, booting ones included. */
  readonly hostCount: Int32Array;
}

export interface OpeningConfig {
  /** How much a host that is large for its pool loses: 0 for nothing. */
  readonly sizePenalty: number;
}

export const openingDefaults: OpeningConfig = { sizePenalty: 4 };

export type OpeningDecision =
  | {
      readonly kind: 'open';
      readonly type: number;
      readonly group: GroupName;
      /** Positions in the backlog that the new host has room for, the first among them. */
      readonly takes: readonly number[];
      readonly why: OpeningReason;
    }
  /** No type admits the first of the backlog. */
  | { readonly kind: 'none'; readonly shape: number };

/** Per hour, in micro-dollars: what the host holds is worth what it would block elsewhere. */
export interface OpeningReason {
  readonly kind: 'best-filled';
  readonly backlogWorthMicroUsd: number;
  readonly fillerWorthMicroUsd: number;
  readonly priceMicroUsdPerHour: number;
  /** What the worth per dollar was divided by, for size: at least 1. */
  readonly penalty: number;
  readonly runnerUp: GroupName | null;
}

/**
 * Which type to open for the backlog:
 *
 *     (worth of the backlog it takes + worth of running work that would fill the rest) / price
 *     divided by
 *     1 + sizePenalty * price / (price of the live hosts that this work may use + price)
 *
 * Opening for the backlog alone would buy small, dear hosts; counting on filler in a small pool
 * would buy large hosts that stay half empty.
 */
export function decideOpening(
  catalogue: Catalogue,
  input: OpeningInput,
  config: OpeningConfig = openingDefaults,
): OpeningDecision {
  const { types, opens } = catalogue;
  const shape = input.backlog[0];
  assert(shape !== undefined, 'a host is opened for someone');
  const mix = fillerMix(catalogue, input.runningCount);
  const poolPrice = priceOfPool(catalogue, shape, input.hostCount);
  let best: Candidate | null = null;
  let second: Candidate | null = null;
  for (const [t, type] of types.entries()) {
    if (opens[shape * types.length + t] === 0) continue;
    const { takes, rest, worth } = fillWithBacklog(catalogue, t, input.backlog);
    const filler = fillerWorth(catalogue, t, rest, mix);
    const price = Math.max(1, type.priceMicroUsdPerHour);
    const penalty = 1 + (config.sizePenalty * price) / (poolPrice + price);
    const score = (worth + filler) / price / penalty;
    const scored = { type: t, takes, worth, filler, penalty, score };
    if (best === null || scored.score > best.score) {
      second = best;
      best = scored;
    } else if (second === null || scored.score > second.score) second = scored;
  }
  if (best === null) return { kind: 'none', shape };
  const { name, priceMicroUsdPerHour } = types[best.type]!;
  return {
    kind: 'open',
    type: best.type,
    group: name,
    takes: best.takes,
    why: {
      kind: 'best-filled',
      backlogWorthMicroUsd: Math.round(best.worth),
      fillerWorthMicroUsd: Math.round(best.filler),
      priceMicroUsdPerHour,
      penalty: best.penalty,
      runnerUp: second === null ? null : types[second.type]!.name,
    },
  };
}

interface Candidate {
  readonly type: number;
  readonly takes: readonly number[];
  readonly worth: number;
  readonly filler: number;
  readonly penalty: number;
  readonly score: number;
}

/** Price of all live hosts of the types that the shape may run on. */
function priceOfPool(catalogue: Catalogue, shape: number, hostCount: Int32Array): number {
  const { types, opens } = catalogue;
  let price = 0;
  for (const [t, type] of types.entries()) {
    if (opens[shape * types.length + t] === 1) price += hostCount[t]! * type.priceMicroUsdPerHour;
  }
  return price;
}

/** First fit in the order of the backlog. */
function fillWithBacklog(
  { shapes, types, opens, worth }: Catalogue,
  type: number,
  backlog: readonly number[],
): { readonly takes: number[]; readonly rest: ResourceVector; readonly worth: number } {
  const rest = types[type]!.capacity.slice();
  const takes: number[] = [];
  let sum = 0;
  for (const [position, shape] of backlog.entries()) {
    const { need } = shapes[shape]!;
    if (opens[shape * types.length + type] === 0 || !fits(need, rest)) continue;
    for (let k = 0; k < rest.length; k++) rest[k]! -= need[k]!;
    takes.push(position);
    sum += worth[shape]!;
  }
  return { takes, rest, worth: sum };
}

interface FillerKind {
  readonly shape: number;
  readonly count: number;
}

/**
 * Running work by shape, the accelerated only: the few pieces without one would be counted for
 * every host and favour types rich in CPUs.
 */
function fillerMix(catalogue: Catalogue, runningCount: Int32Array): readonly FillerKind[] {
  const { shapes, deviceResource } = catalogue;
  const mix: FillerKind[] = [];
  for (const [shape, { need }] of shapes.entries()) {
    const count = runningCount[shape] ?? 0;
    if (count === 0 || (deviceResource !== null && need[deviceResource] === 0)) continue;
    mix.push({ shape, count });
  }
  return mix;
}

/**
 * What would fill the rest of a host if work came in the proportions that run now. Fluid, but a
 * shape that no longer fits drops out and the others go on.
 */
function fillerWorth(
  { shapes, types, opens, worth }: Catalogue,
  type: number,
  rest: ResourceVector,
  mix: readonly FillerKind[],
): number {
  const left = rest.slice();
  let open = mix.filter(({ shape }) => opens[shape * types.length + type] === 1);
  let sum = 0;
  const demand = new Float64Array(left.length);
  while (open.length > 0) {
    open = open.filter(({ shape }) => fits(shapes[shape]!.need, left));
    demand.fill(0);
    let worthPerRound = 0;
    for (const { shape, count } of open) {
      const { need } = shapes[shape]!;
      for (let k = 0; k < left.length; k++) demand[k]! += count * need[k]!;
      worthPerRound += count * worth[shape]!;
    }
    let rounds = Infinity;
    for (let k = 0; k < left.length; k++) {
      if (demand[k]! > 0) rounds = Math.min(rounds, left[k]! / demand[k]!);
    }
    if (rounds === Infinity) break;
    sum += rounds * worthPerRound;
    // At least one resource is used up, so at least one shape drops out.
    for (let k = 0; k < left.length; k++) {
      left[k] = Math.max(0, Math.floor(left[k]! - rounds * demand[k]! + 1e-6));
    }
  }
  return sum;
}

import { byText } from '../../support/order.ts';
import { type Catalogue, dominantShare, fits, type ResourceVector } from './catalogue.ts';
import type { Outlook, RunningWork } from './extension.ts';

// Shapes, types and resources are indices below the catalogue's counts, hence the `!`.

/** A host as placement sees it: ready, or booting with what is meant for it counted in. */
export interface PlacementHost {
  readonly id: string;
  readonly type: number;
  /** Visitors use holes in ready hosts only: to wait for one is to have it opened. */
  readonly state: 'ready' | 'booting';
  /** What its work leaves. */
  readonly free: ResourceVector;
  readonly work: readonly RunningWork[];
}

export interface PlacementConfig {
  /**
   * What money weighs against fullness: this much for the price of an hour of a median host, where
   * an empty host of the largest capacity weighs 1 per resource. From 20 to 300 the replays come
   * out alike.
   */
  readonly costWeight: number;
  /**
   * What the room that the work takes weighs, beside its extension, at the host's price. Above 1,
   * because room on a dear host is lost to those that can run nowhere else.
   */
  readonly roomWeight: number;
}

export const placementDefaults: PlacementConfig = { costWeight: 57, roomWeight: 8 };

/** A place for a piece of work, with the reason for it. */
export type PlacementDecision =
  | {
      readonly kind: 'placed';
      readonly hostId: string;
      /** What the work is expected to add to the bill by keeping the host longer. */
      readonly extensionCostMicroUsd: number;
      readonly why: PlacementReason;
    }
  | { readonly kind: 'waits'; readonly why: WaitingReason };

export type PlacementReason =
  | { readonly kind: 'only-room' }
  /** The first of these that tells it from the runner-up. */
  | {
      readonly kind: 'least-extension' | 'cheaper-room' | 'fuller';
      readonly roomCount: number;
      readonly runnerUp: string;
      readonly runnerUpCostMicroUsd: number;
    };

export type WaitingReason =
  | { readonly kind: 'no-room'; readonly hostCount: number }
  /** There are holes, but a host of its own costs less than the cheapest of them. */
  | {
      readonly kind: 'holes-too-dear';
      readonly cheapestCostMicroUsd: number;
      readonly ownCostMicroUsd: number;
    };

const HOUR_MS = 3_600_000;

export interface PlacementView {
  readonly catalogue: Catalogue;
  readonly outlook: Outlook;
  readonly config: PlacementConfig;
}

/** Where a piece of work goes among hosts with room: where it lengthens what we pay for least. */
export function decidePlacement(
  view: PlacementView,
  shape: number,
  hosts: readonly PlacementHost[],
): PlacementDecision {
  const { catalogue } = view;
  const { need } = catalogue.shapes[shape]!;
  const row = shape * catalogue.types.length;
  const ownCost = ownHostCost(view, shape);
  let best: Candidate | null = null;
  let second: Candidate | null = null;
  let cheapestHole = Infinity;
  let roomCount = 0;
  for (const host of hosts) {
    const isHome = catalogue.opens[row + host.type] === 1;
    const isHole = host.state === 'ready' && catalogue.visits[row + host.type] === 1;
    if (!isHome && !isHole) continue;
    if (!fits(need, host.free)) continue;
    const candidate = judge(view, shape, host);
    if (!isHome) {
      cheapestHole = Math.min(cheapestHole, candidate.cost);
      if (candidate.cost >= ownCost) continue;
    }
    roomCount++;
    if (best === null || isBetter(candidate, best)) {
      second = best;
      best = candidate;
    } else if (second === null || isBetter(candidate, second)) second = candidate;
  }
  if (best !== null) return placed(best, second, roomCount);
  if (cheapestHole === Infinity) {
    return { kind: 'waits', why: { kind: 'no-room', hostCount: hosts.length } };
  }
  const cheapestCostMicroUsd = Math.round(cheapestHole);
  const ownCostMicroUsd = Math.round(ownCost);
  return { kind: 'waits', why: { kind: 'holes-too-dear', cheapestCostMicroUsd, ownCostMicroUsd } };
}

interface Candidate {
  readonly host: PlacementHost;
  /** Of the extension, in micro-dollars, not rounded. */
  readonly cost: number;
  /** Of the room, alike. */
  readonly room: number;
  readonly score: number;
}

function judge(view: PlacementView, shape: number, host: PlacementHost): Candidate {
  const { catalogue, outlook, config } = view;
  const { capacity, priceMicroUsdPerHour } = catalogue.types[host.type]!;
  const price = priceMicroUsdPerHour / HOUR_MS;
  const share = dominantShare(catalogue.shapes[shape]!.need, capacity);
  const cost = outlook.expectedExtensionMs(shape, host.work) * price;
  const room = outlook.expectedRunMs(shape) * price * share;
  let score = (config.costWeight * (cost + config.roomWeight * room)) / catalogue.priceMedian;
  for (let k = 0; k < host.free.length; k++) score += host.free[k]! / catalogue.capacityMax[k]!;
  return { host, cost, room, score };
}

const isBetter = (a: Candidate, b: Candidate): boolean =>
  a.score < b.score || (a.score === b.score && byText(a.host.id, b.host.id) < 0);

/** What the work would cost on a host opened for it alone, where it blocks least. */
function ownHostCost({ catalogue, outlook }: PlacementView, shape: number): number {
  const type = catalogue.types[catalogue.bestType[shape]!];
  if (type === undefined) return Infinity;
  return (outlook.expectedRunMs(shape) * type.priceMicroUsdPerHour) / HOUR_MS;
}

function placed(best: Candidate, second: Candidate | null, roomCount: number): PlacementDecision {
  const extensionCostMicroUsd = Math.round(best.cost);
  const decision = { kind: 'placed', hostId: best.host.id, extensionCostMicroUsd } as const;
  if (second === null) return { ...decision, why: { kind: 'only-room' } };
  const kind =
    best.cost < second.cost
      ? 'least-extension'
      : best.room < second.room
        ? 'cheaper-room'
        : 'fuller';
  const runnerUpCostMicroUsd = Math.round(second.cost);
  return { ...decision, why: { kind, roomCount, runnerUp: second.host.id, runnerUpCostMicroUsd } };
}

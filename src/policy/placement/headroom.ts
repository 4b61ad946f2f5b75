import type { EpochMs } from '../../model/ids.ts';
import { type Catalogue, fits, type ResourceVector, without } from './catalogue.ts';

// Shapes, types and resources are indices below the catalogue's counts, hence the `!`.

export interface Arrival {
  readonly shape: number;
  readonly arrivedAtMs: EpochMs;
}

/** Room that arrivals could use; of a booting host, what is left once who waits for it moved in. */
export interface Room {
  readonly hostId: string;
  readonly type: number;
  readonly free: ResourceVector;
  readonly state: RoomState;
}

/** In the order in which room is held: an idle host is held last, so that it may go. */
const roomStates = ['busy', 'booting', 'idle'] as const;
export type RoomState = (typeof roomStates)[number];

export interface HeadroomConfig {
  /** Arrivals younger than this count. */
  readonly windowMs: number;
  /** The share of them for which room is held, the latest first. */
  readonly arrivalShare: number;
  readonly arrivalCountMin: number;
  readonly arrivalCountMax: number;
  /** Nothing is held for work whose best type costs more than this many median prices. */
  readonly priceMaxMedians: number;
}

export const headroomDefaults: HeadroomConfig = {
  windowMs: 1_200_000,
  arrivalShare: 0.025,
  arrivalCountMin: 1,
  arrivalCountMax: 20,
  priceMaxMedians: 2.1,
};

/** Hosts in `held` are kept although idle: to let one go would be to open it again at once. */
export type HeadroomDecision =
  | { readonly kind: 'enough'; readonly held: readonly string[] }
  /** No room for these shapes; one host should be opened for them, by `decideOpening`. */
  | {
      readonly kind: 'short';
      readonly held: readonly string[];
      readonly backlog: readonly number[];
    };

export interface HeadroomInput {
  /** Oldest first, at least those of the window. */
  readonly arrivals: readonly Arrival[];
  readonly rooms: readonly Room[];
  readonly nowMs: EpochMs;
}

/**
 * Whether the latest arrivals would fit once more, all together. Tight packing makes work wait for
 * boots; since work comes in bursts of its kind, room for what just came buys most waits back.
 */
export function decideHeadroom(
  catalogue: Catalogue,
  { arrivals, rooms, nowMs }: HeadroomInput,
  config: HeadroomConfig = headroomDefaults,
): HeadroomDecision {
  const recent = arrivals.filter(({ arrivedAtMs }) => nowMs - arrivedAtMs <= config.windowMs);
  const wanted = Math.max(config.arrivalCountMin, Math.round(config.arrivalShare * recent.length));
  const count = Math.min(wanted, config.arrivalCountMax, recent.length);
  const left = new Map<Room, ResourceVector>();
  const held: string[] = [];
  const backlog: number[] = [];
  for (const { shape } of recent.slice(recent.length - count)) {
    if (!isWorthHolding(catalogue, shape, config)) continue;
    const room = findRoom(catalogue, shape, rooms, left);
    if (room === undefined) {
      backlog.push(shape);
      continue;
    }
    left.set(room, without(left.get(room) ?? room.free, catalogue.shapes[shape]!.need));
    held.push(room.hostId);
  }
  return backlog.length === 0 ? { kind: 'enough', held } : { kind: 'short', held, backlog };
}

/** Held room stays empty most of the time, so it must be cheap. */
function isWorthHolding(catalogue: Catalogue, shape: number, config: HeadroomConfig): boolean {
  const type = catalogue.types[catalogue.bestType[shape]!];
  if (type === undefined) return false;
  return type.priceMicroUsdPerHour <= config.priceMaxMedians * catalogue.priceMedian;
}

function findRoom(
  { shapes, types, opens }: Catalogue,
  shape: number,
  rooms: readonly Room[],
  left: ReadonlyMap<Room, ResourceVector>,
): Room | undefined {
  const { need } = shapes[shape]!;
  for (const state of roomStates) {
    const found = rooms.find((room) => {
      if (room.state !== state || opens[shape * types.length + room.type] === 0) return false;
      return fits(need, left.get(room) ?? room.free);
    });
    if (found !== undefined) return found;
  }
  return undefined;
}

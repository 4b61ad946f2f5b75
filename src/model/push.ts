import type { Entry, Floor } from './demand.ts';
import type { EpochMs } from './ids.ts';

/** All the pending work of one scheduler, as it last said. */
export interface DemandPush {
  readonly source: string;
  /** Rises with every push: an older one that comes late is refused. */
  readonly generation: number;
  readonly entries: readonly Entry[];
  /** Forgotten then, unless said again. */
  readonly expiresAtMs: EpochMs;
  /** Tells a push that comes twice from another one of the same generation. */
  readonly digest?: string;
}

/** A floor with the one who asked for it and its end. */
export interface HeldFloor extends Floor {
  readonly owner: string;
  readonly expiresAtMs: EpochMs;
}

import { type EpochMs, epochMs } from '../src/model/ids.ts';
import { type Catalogue, fits } from '../src/policy/placement/catalogue.ts';
import { createOutlook, type Outlook } from '../src/policy/placement/extension.ts';
import {
  decideHeadroom,
  type HeadroomConfig,
  headroomDefaults,
} from '../src/policy/placement/headroom.ts';
import {
  idleTimeDefaults,
  type IdleTimeConfig,
  idleTimes,
} from '../src/policy/placement/idle-time.ts';
import {
  decideOpening,
  type OpeningConfig,
  openingDefaults,
} from '../src/policy/placement/opening.ts';
import {
  decidePlacement,
  type PlacementConfig,
  placementDefaults,
} from '../src/policy/placement/placement.ts';
import {
  learnSurvival,
  type SurvivalConfig,
  type SurvivalCurves,
  survivalDefaults,
} from '../src/policy/placement/survival.ts';
import { must } from '../src/support/assert.ts';
import type { ReplayPolicy } from './replay-policy.ts';
import type { ReplayProblem } from './replay-problems.ts';

// Shapes and types are indices below the catalogue's counts, hence the `!`.

/**
 * The published baseline: fullest host first (least free room, resources in parts of the largest
 * host), the type with the least price times dominant share, the idle timeout of the problem.
 */
export function firstFit(catalogue: Catalogue, problem: ReplayProblem): ReplayPolicy {
  const { shapes, types, opens, bestType, capacityMax } = catalogue;
  return {
    idleMs: types.map(() => problem.idleTimeoutMs),
    startTick: () => {},
    place: (shape, hosts) => {
      const { need } = shapes[shape]!;
      let best: string | null = null;
      let least = Infinity;
      for (const { id, type, free } of hosts) {
        if (opens[shape * types.length + type] === 0 || !fits(need, free)) continue;
        let left = 0;
        for (let k = 0; k < free.length; k++) left += free[k]! / capacityMax[k]!;
        if (left >= least) continue;
        least = left;
        best = id;
      }
      return best;
    },
    open: (backlog) => bestType[backlog[0]!]!,
    headroom: () => ({ kind: 'enough', held: [] }),
  };
}

export interface PoliciesConfig {
  readonly survival: SurvivalConfig;
  readonly placement: PlacementConfig;
  readonly opening: OpeningConfig;
  readonly headroom: HeadroomConfig;
  readonly idleTime: IdleTimeConfig;
}

export const policiesDefaults: PoliciesConfig = {
  survival: survivalDefaults,
  placement: placementDefaults,
  opening: openingDefaults,
  headroom: headroomDefaults,
  idleTime: idleTimeDefaults,
};

const REFRESH_MS = 300_000;

/** The placement policies as a scheduler would use them: curves refreshed every 300 s. */
export const bellows =
  (config: PoliciesConfig = policiesDefaults) =>
  (catalogue: Catalogue): ReplayPolicy => {
    const shapeCount = catalogue.shapes.length;
    let curves: SurvivalCurves | null = null;
    let learnedAtMs = -Infinity;
    let nowMs: EpochMs = epochMs(0);
    let outlook: Outlook | null = null;
    return {
      idleMs: idleTimes(catalogue.types, config.idleTime),
      startTick: (atMs, runTimes) => {
        if (curves === null || atMs - learnedAtMs >= REFRESH_MS) {
          curves = learnSurvival(runTimes(), shapeCount, config.survival);
          learnedAtMs = atMs;
        }
        nowMs = atMs;
        outlook = createOutlook(curves, atMs);
      },
      place: (shape, hosts) => {
        const view = {
          catalogue,
          outlook: must(outlook, 'a tick was started'),
          config: config.placement,
        };
        const decision = decidePlacement(view, shape, hosts);
        return decision.kind === 'placed' ? decision.hostId : null;
      },
      open: (backlog, state) => {
        const decision = decideOpening(catalogue, { backlog, ...state }, config.opening);
        return decision.kind === 'open' ? decision.type : catalogue.bestType[backlog[0]!]!;
      },
      headroom: (arrivals, rooms) => {
        return decideHeadroom(catalogue, { arrivals, rooms, nowMs }, config.headroom);
      },
    };
  };

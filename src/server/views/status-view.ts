import { create } from '@bufbuild/protobuf';
import {
  type AutoscalerStatus,
  AutoscalerStatusSchema,
} from '../../api/gen/bellows/v1/status_pb.ts';
import type { Standing } from '../../controller/controller-options.ts';
import type { Held } from '../../controller/memory.ts';
import type { EpochMs } from '../../model/ids.ts';
import { unreachable } from '../../support/assert.ts';
import { isSameItems } from '../../support/same-items.ts';
import type { DecidedTick } from '../fleet-feed.ts';
import type { ServedFleet } from '../served-fleet.ts';
import { routeEntries, toClasses, toRouting } from './demand-view.ts';
import { toRecentEvent } from './event-view.ts';
import { toGroups, toTroubles } from './group-view.ts';
import { toFloors, toPause, toSource } from './held-view.ts';
import { type Costs, costsOf, costsOfTick, toSpend } from './spend-view.ts';
import { toTimestamp } from './wire-values.ts';

/** The part of a status that a decision fixes: made once for each, when somebody asks. */
interface TickPart {
  readonly last: DecidedTick;
  readonly fields: Pick<AutoscalerStatus, 'routing' | 'groups' | 'classes' | 'troubles'>;
  readonly costs: Costs;
}

/** All that the rest depends on; as long as it is the same, so is the status. */
interface Now {
  readonly last: DecidedTick | null;
  readonly version: number;
  readonly standing: Standing;
  readonly held: Held;
  readonly nextDecisionMs: EpochMs;
}

/**
 * The status of one fleet. A decision is put into words once, however many ask; what may change
 * between decisions (standing, events, pushes, pauses, the bound) is joined to it.
 */
export class StatusView {
  readonly #fleet: ServedFleet;
  #part: TickPart | null = null;
  #made: { readonly now: Now; readonly status: AutoscalerStatus } | null = null;

  constructor(fleet: ServedFleet) {
    this.#fleet = fleet;
  }

  /** The same object until something changes, so that all who watch share it. Not to be changed. */
  current(): AutoscalerStatus {
    const { controller, feed } = this.#fleet;
    const { last, standing, held, nextDecisionMs } = controller;
    const now = { last, version: feed.version, standing, held, nextDecisionMs };
    if (this.#made === null || !isSame(this.#made.now, now)) {
      this.#made = { now, status: this.#make(now) };
    }
    return this.#made.status;
  }

  #make({ last, standing, held, nextDecisionMs }: Now): AutoscalerStatus {
    const { name, controller, feed } = this.#fleet;
    const part = this.#partOf(last);
    const costs = part?.costs ?? costsOf(controller.slices());
    return create(AutoscalerStatusSchema, {
      fleet: name,
      decidedAt: toTimestamp(last?.input.atMs),
      tick: BigInt(last?.input.seq ?? 0),
      mode: controller.control.mode,
      standing: standing.kind,
      standingDetail: detailOf(standing),
      ...part?.fields,
      sources: held.sources.map(toSource),
      floors: toFloors(held.floors, last),
      spend: toSpend(costs, feed.bound),
      pauses: held.pauses.map(toPause),
      recentEvents: feed.recentEvents.map(toRecentEvent),
      nextDecisionBy: toTimestamp(nextDecisionMs),
    });
  }

  #partOf(last: DecidedTick | null): TickPart | null {
    if (last === null) return null;
    if (this.#part?.last !== last) {
      const routed = routeEntries(last);
      const fields = {
        routing: toRouting(last, routed),
        groups: toGroups(last, routed),
        classes: toClasses(last),
        troubles: toTroubles(last.input),
      };
      this.#part = { last, fields, costs: costsOfTick(last) };
    }
    return this.#part;
  }
}

function isSame(before: Now, now: Now): boolean {
  return (
    before.last === now.last &&
    before.version === now.version &&
    before.nextDecisionMs === now.nextDecisionMs &&
    before.standing.kind === now.standing.kind &&
    detailOf(before.standing) === detailOf(now.standing) &&
    isSameItems(before.held.sources, now.held.sources) &&
    isSameItems(before.held.floors, now.held.floors) &&
    isSameItems(before.held.pauses, now.held.pauses)
  );
}

/** What is waited for while starting. */
function detailOf(standing: Standing): string {
  switch (standing.kind) {
    case 'leading':
      return '';
    case 'following':
      return 'another controller acts';
    case 'starting': {
      const { awaited } = standing;
      return awaited.length === 0 ? 'about to decide' : `waiting for ${awaited.join(', ')}`;
    }
    default:
      return unreachable(standing);
  }
}

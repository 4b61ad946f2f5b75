import { create } from '@bufbuild/protobuf';
import { formText } from '../../api/demand-text.ts';
import {
  type FloorStatus,
  FloorStatusSchema,
  type PauseStatus,
  PauseStatusSchema,
  type SourceStatus,
  SourceStatusSchema,
} from '../../api/gen/bellows/v1/status_pb.ts';
import type { Entry } from '../../model/demand.ts';
import type { Pause } from '../../model/pause.ts';
import type { DemandPush, HeldFloor } from '../../model/push.ts';
import type { DecidedTick } from '../fleet-feed.ts';
import { toUnmet } from './demand-view.ts';
import { toTimestamp } from './wire-values.ts';

const counts = new WeakMap<readonly Entry[], number>();

/** Counted once for each push: it may have a hundred thousand entries. */
function countEntries(entries: readonly Entry[]): number {
  let count = counts.get(entries);
  if (count === undefined) {
    count = 0;
    for (const entry of entries) count += entry.count;
    counts.set(entries, count);
  }
  return count;
}

export const toSource = ({
  source,
  generation,
  entries,
  expiresAtMs,
}: DemandPush): SourceStatus => {
  return create(SourceStatusSchema, {
    source,
    generation: BigInt(generation),
    entryCount: BigInt(countEntries(entries)),
    expiresAt: toTimestamp(expiresAtMs),
  });
};

/** What is held of each floor; nothing is known of one that came after the last decision. */
export function toFloors(floors: readonly HeldFloor[], last: DecidedTick | null): FloorStatus[] {
  const places = new Map(last?.input.floors.map(({ id }, index) => [id, index]));
  return floors.map(({ id, ask, count, expiresAtMs }) => {
    const place = places.get(id);
    const verdict = place === undefined ? undefined : last?.output.decision.floors[place];
    const unmet = verdict?.unmet ?? null;
    return create(FloorStatusSchema, {
      id,
      text: formText({ kind: 'single', ask }),
      count: BigInt(count),
      held: BigInt(verdict?.heldCount ?? 0),
      until: toTimestamp(expiresAtMs),
      unmet: unmet === null || last === null ? undefined : toUnmet(unmet, last.input.atMs),
    });
  });
}

export const toPause = ({
  id,
  what,
  group,
  author,
  reason,
  sinceMs,
  untilMs,
}: Pause): PauseStatus => {
  return create(PauseStatusSchema, {
    id,
    what,
    group: group ?? '',
    author,
    reason,
    since: toTimestamp(sinceMs),
    until: toTimestamp(untilMs),
  });
};

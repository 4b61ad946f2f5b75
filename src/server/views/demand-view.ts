import { create } from '@bufbuild/protobuf';
import { formText } from '../../api/demand-text.ts';
import {
  type DemandClass,
  DemandClassSchema,
  type Placement,
  type RoutingDecision,
  RoutingDecisionSchema,
  type Spot,
  type Unmet,
  UnmetSchema,
} from '../../api/gen/bellows/v1/status_pb.ts';
import { changeText, placedText } from '../../api/reason-text.ts';
import { unmetText } from '../../api/unmet-text.ts';
import type {
  ClassVerdict,
  DemandDecision,
  Placement as ModelPlacement,
} from '../../model/decision.ts';
import {
  type DemandClass as ModelClass,
  type EntryBatch,
  entryIdAt,
  type EntryForm,
} from '../../model/demand.ts';
import type { EpochMs } from '../../model/ids.ts';
import type { Unmet as ModelUnmet } from '../../model/reason.ts';
import { must } from '../../support/assert.ts';
import type { DecidedTick } from '../fleet-feed.ts';
import { classId } from './class-id.ts';
import { toReason, toTimestamp, toUsd } from './wire-values.ts';

/** Names shown with a class; ListEntries has all. */
const IDS_SHOWN = 20;

const texts = new WeakMap<EntryForm, string>();

/** Forms stay the same objects from tick to tick. */
function textOf(form: EntryForm): string {
  let text = texts.get(form);
  if (text === undefined) texts.set(form, (text = formText(form)));
  return text;
}

/** Pending work by class, in the order of the tick. */
export function toClasses({ input, output }: DecidedTick): DemandClass[] {
  return input.demand.map((demand, index) => {
    const verdict = must(output.decision.classes[index], 'one verdict per class');
    return toClass(demand, verdict, input.atMs);
  });
}

function toClass(demand: ModelClass, verdict: ClassVerdict, atMs: EpochMs): DemandClass {
  return create(DemandClassSchema, {
    id: classId(demand),
    text: textOf(demand.form),
    count: BigInt(demand.count),
    priority: demand.priority,
    oldestSubmittedAt: toTimestamp(demand.batches[0]?.submittedAtMs),
    entryIds: firstIds(demand.batches),
    placed: verdict.placed.map(toPlacement),
    unmetCount: BigInt(verdict.unmetCount),
    unmet: verdict.unmet === null ? undefined : toUnmet(verdict.unmet, atMs),
  });
}

function firstIds(batches: readonly EntryBatch[]): string[] {
  const ids: string[] = [];
  for (const batch of batches) {
    for (let n = 0; n < batch.count && ids.length < IDS_SHOWN; n++) ids.push(entryIdAt(batch, n));
    if (ids.length === IDS_SHOWN) break;
  }
  return ids;
}

// Written out, as there are thousands of them (see wire-values.ts).
const toPlacement = ({ count, spots, why, runnerUp }: ModelPlacement): Placement => {
  return {
    $typeName: 'bellows.v1.Placement',
    count: BigInt(count),
    spots: toSpots(spots),
    why: toReason(why.kind, placedText(why, runnerUp)),
  };
};

export const toSpots = (spots: ModelPlacement['spots']): Spot[] =>
  spots.map(({ group, room, tasks }) => {
    return { $typeName: 'bellows.v1.Spot', group, room, tasks };
  });

export function toUnmet(unmet: ModelUnmet, atMs: EpochMs): Unmet {
  const { change } = unmet;
  return create(UnmetSchema, {
    reason: toReason(unmet.code, unmetText(unmet, atMs)),
    remedy: change === null ? '' : changeText(change, atMs),
    remedyAdmits: BigInt(change === null ? 0 : unmet.changeAdmits),
    canEverRun: unmet.isEverAdmitted,
  });
}

/** Entries with tasks in a group: all of them, and by class. */
export interface Routed {
  count: number;
  readonly classes: Map<string, number>;
}

/** By group; an entry that is spread over several counts in each. */
export function routeEntries({ input, output }: DecidedTick): ReadonlyMap<string, Routed> {
  const routed = new Map<string, Routed>();
  output.decision.classes.forEach(({ placed }, index) => {
    const id = classId(must(input.demand[index], 'one verdict per class'));
    for (const { count, spots } of placed) {
      for (const group of new Set(spots.map((spot) => spot.group))) {
        let own = routed.get(group);
        if (own === undefined) routed.set(group, (own = { count: 0, classes: new Map() }));
        own.count += count;
        own.classes.set(id, (own.classes.get(id) ?? 0) + count);
      }
    }
  });
  return routed;
}

/** What to launch, what goes where, what waits. */
export function toRouting(
  { input, output }: DecidedTick,
  routed: ReadonlyMap<string, Routed>,
): RoutingDecision {
  const { decision } = output;
  const unmet = decision.classes.flatMap(({ unmetCount }, index) => {
    if (unmetCount === 0) return [];
    const id = classId(must(input.demand[index], 'one verdict per class'));
    return [{ classId: id, count: BigInt(unmetCount) }];
  });
  return create(RoutingDecisionSchema, {
    strategy: decision.strategy,
    launch: toLaunches(decision),
    routed: decision.groups.flatMap(({ group }) => {
      const own = routed.get(group);
      if (own === undefined) return [];
      const classes = [...own.classes].map(([id, count]) => {
        return { classId: id, count: BigInt(count) };
      });
      return [{ group, entryCount: BigInt(own.count), classes }];
    }),
    unmet,
    unmetCount: unmet.reduce((sum, { count }) => sum + count, 0n),
    launchUsdPerHour: toUsd(decision.costMicroUsdPerHour),
  });
}

function toLaunches({ groups }: DemandDecision) {
  return groups
    .filter(({ launch }) => launch > 0)
    .map(({ group, launch, causes }) => {
      const some = Object.entries(causes).filter(([, count]) => count > 0);
      return { group, slices: launch, causes: Object.fromEntries(some) };
    });
}

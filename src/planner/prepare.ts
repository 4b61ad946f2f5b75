import type { EntryId, GroupName, SliceId } from '../model/ids.ts';
import { onItsWay } from '../model/slice.ts';
import type { CancelWhy, TrackedSlice } from '../model/slice-record.ts';
import type { GroupCondition, Snapshot } from '../model/snapshot.ts';
import type { PlanStep, TickInput } from '../model/tick.ts';
import { isOfProvider, isPaused } from './conditions.ts';

/** What is settled before the decision, so that the decision counts only on what will be there. */
export interface Prepared {
  readonly steps: readonly PlanStep[];
  /** Slices that the steps give up: no room, no count. */
  readonly cancelled: ReadonlySet<SliceId>;
  /** Slices held for a gang no longer. */
  readonly unreserved: ReadonlySet<SliceId>;
  /** Groups that could not bring a gang together in time: nothing more is tried there in this tick. */
  readonly conditions: readonly GroupCondition[];
  /** Draining slices that nothing was lost on: used if work returns. */
  readonly recallable: ReadonlySet<SliceId>;
}

/** Drains that are begun for want of work may be called back; others have another reason. */
export const isRecallable = ({ status, drain, hosts }: TrackedSlice): boolean =>
  status === 'draining' &&
  (drain?.why.kind === 'idle' || drain?.why.kind === 'fallback-ended') &&
  hosts.every(({ isBusy }) => isBusy === false);

export function prepare(input: TickInput, conditions: readonly GroupCondition[]): Prepared {
  const pending = pendingGangs(input);
  const late = findLateGangs(input, pending);
  const troubled = new Set(conditions.filter(isOfProvider).map(({ group }) => group));
  const retired = new Set(input.control.retired);
  const steps: PlanStep[] = [];
  const cancelled = new Set<SliceId>();
  const unreserved = new Set<SliceId>();
  const recallable = new Set<SliceId>();
  const mayCancel = createTerminationCheck(input);
  for (const slice of input.slices) {
    const gang = slice.reservedFor;
    const isLate = gang !== null && late.has(gang);
    const why = whyCancel(slice, { gang: isLate ? gang : null, troubled, retired });
    if (why !== null && (slice.status === 'queued' || mayCancel(slice.group))) {
      steps.push({ kind: 'cancel', sliceId: slice.id, why });
      cancelled.add(slice.id);
    } else if (gang !== null && (isLate || !pending.has(gang))) {
      const because = isLate ? 'timed-out' : 'placed';
      steps.push({ kind: 'unreserve', sliceId: slice.id, gang, why: because });
      unreserved.add(slice.id);
    }
    if (isRecallable(slice)) recallable.add(slice.id);
  }
  const failed = new Set(
    input.slices.flatMap(({ reservedFor, group }) =>
      reservedFor !== null && late.has(reservedFor) ? [group] : [],
    ),
  );
  const backoffs = [...failed].map((group) => ({ kind: 'backoff', group, untilMs: null }) as const);
  return { steps, cancelled, unreserved, recallable, conditions: [...conditions, ...backoffs] };
}

/** Why a slice on its way is given up whatever the demand; null when it is not. */
function whyCancel(
  slice: TrackedSlice,
  at: {
    readonly gang: EntryId | null;
    readonly troubled: ReadonlySet<GroupName>;
    readonly retired: ReadonlySet<GroupName>;
  },
): CancelWhy | null {
  if (!onItsWay.has(slice.status)) return null;
  if (at.retired.has(slice.group)) return { kind: 'group-removed' };
  if (at.gang !== null) return { kind: 'gang-rolled-back', gang: at.gang };
  // Not sent yet: the work goes where machines can be had.
  if (slice.status === 'queued' && at.troubled.has(slice.group)) return { kind: 'group-troubled' };
  return null;
}

/** Gangs that wait, by id. */
function pendingGangs({ demand }: TickInput): ReadonlySet<EntryId> {
  return new Set(
    demand.flatMap(({ isReserved, batches }) => (isReserved ? batches.map(({ id }) => id) : [])),
  );
}

/** Gangs whose slices have been held too long: what is there is given up rather than held for ever. */
function findLateGangs(
  { slices, atMs, control }: TickInput,
  pending: ReadonlySet<EntryId>,
): ReadonlySet<EntryId> {
  const limits = new Map(control.groups.map(({ group, timeouts }) => [group, timeouts]));
  const late = new Set<EntryId>();
  for (const { reservedFor, reservedSinceMs, group, status } of slices) {
    if (reservedFor === null || reservedSinceMs === null || !pending.has(reservedFor)) continue;
    if (status !== 'ready' && !onItsWay.has(status)) continue;
    const limitMs = limits.get(group)?.gangAssemblyMs ?? Infinity;
    if (atMs - reservedSinceMs >= limitMs) late.add(reservedFor);
  }
  return late;
}

/** Whether terminations are allowed in a group: nobody has paused them. */
export function createTerminationCheck({ pauses }: TickInput): (group: GroupName) => boolean {
  return (name) => !pauses.some((pause) => isPaused(pause, 'terminations', { name }));
}

/** The demand policy's view of the fleet. */
export function toSnapshot(input: TickInput, prepared: Prepared): Snapshot {
  const slices = input.slices.flatMap((slice) => {
    if (prepared.cancelled.has(slice.id)) {
      // Its machines cost money until they are gone; one that was never sent has none.
      return slice.status === 'queued' ? [] : [{ ...slice, status: 'terminating' as const }];
    }
    if (prepared.recallable.has(slice.id)) return [{ ...slice, status: 'ready' as const }];
    return [prepared.unreserved.has(slice.id) ? { ...slice, reservedFor: null } : slice];
  });
  const { atMs, demand, floors, control } = input;
  const { conditions } = prepared;
  return { atMs, fleet: control.fleet, slices, conditions, demand, floors };
}

import type { GroupControl } from '../model/control.ts';
import type { Group } from '../model/group.ts';
import type { EntryId, EpochMs, GroupName, SliceId } from '../model/ids.ts';
import { onItsWay, type Slice } from '../model/slice.ts';
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
  const failed = new Set<GroupName>();
  for (const { reservedFor, group } of late.size === 0 ? [] : input.slices) {
    if (reservedFor !== null && late.has(reservedFor)) failed.add(group);
  }
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
  // What was sent goes too, but within the limits on giving back.
  if (slice.status === 'queued' && at.retired.has(slice.group)) return { kind: 'group-removed' };
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
  const late = new Set<EntryId>();
  if (pending.size === 0) return late;
  const owns = new Map(control.groups.map((own) => [own.group, own]));
  for (const { reservedFor, reservedSinceMs, group, status, isReported } of slices) {
    if (reservedFor === null || reservedSinceMs === null || !pending.has(reservedFor)) continue;
    if (status !== 'ready' && !onItsWay.has(status)) continue;
    const own = owns.get(group);
    // Where running work is pushed too, a gang whose slice is ready may well run there.
    if (status === 'ready' && own?.unreported === 'idle' && !isReported) continue;
    if (atMs - reservedSinceMs >= (own?.timeouts.gangAssemblyMs ?? Infinity)) late.add(reservedFor);
  }
  return late;
}

/** Whether terminations are allowed in a group: nobody has paused them. */
export function createTerminationCheck({ pauses }: TickInput): (group: GroupName) => boolean {
  return (name) => !pauses.some((pause) => isPaused(pause, 'terminations', { name }));
}

/** Newly ready and not reported on yet, within its group's grace: taken for empty. */
export const isFresh = (
  { status, statusSinceMs, hosts }: TrackedSlice,
  { timeouts }: GroupControl,
  atMs: EpochMs,
): boolean =>
  status === 'ready' &&
  hosts.every(({ free }) => free === null) &&
  atMs - statusSinceMs < timeouts.registrationGraceMs;

/** The policy knows one grace for all; where a group has its own, its hosts are told to it. */
function withGrace({ control, atMs, slices }: TickInput): readonly TrackedSlice[] {
  const { registrationGraceMs, groups } = control.fleet;
  const owns = new Map(
    control.groups.flatMap((own, index) => {
      const group = groups[index];
      const isUsual = own.timeouts.registrationGraceMs === registrationGraceMs;
      return group === undefined || isUsual ? [] : [[group.name, { own, group }] as const];
    }),
  );
  if (owns.size === 0) return slices;
  return slices.map((slice) => {
    const placed = owns.get(slice.group);
    if (placed === undefined || slice.status !== 'ready') return slice;
    if (slice.hosts.some(({ free }) => free !== null)) return slice;
    const free = isFresh(slice, placed.own, atMs) ? placed.group.host : {};
    const { hostsPerSlice } = placed.group;
    const hosts = Array.from({ length: hostsPerSlice }, () => ({ free, isBusy: null }));
    return { ...slice, hosts };
  });
}

/** The demand policy's view of the fleet. */
export function toSnapshot(input: TickInput, prepared: Prepared): Snapshot {
  const { cancelled, recallable, unreserved } = prepared;
  const isAsItWas = cancelled.size + recallable.size + unreserved.size === 0;
  const graced = withGrace(input);
  const slices = isAsItWas
    ? graced
    : graced.flatMap((slice) => {
        if (cancelled.has(slice.id)) {
          // Its machines cost money until they are gone; one that was never sent has none.
          return slice.status === 'queued' ? [] : [{ ...slice, status: 'terminating' as const }];
        }
        if (recallable.has(slice.id)) return [{ ...slice, status: 'ready' as const }];
        return [unreserved.has(slice.id) ? { ...slice, reservedFor: null } : slice];
      });
  const { atMs, demand, floors, control } = input;
  const fleet = { ...control.fleet, groups: withLeaving(control.fleet.groups, slices) };
  const { conditions } = prepared;
  return { atMs, fleet, slices, conditions, demand, floors };
}

/**
 * Slices that leave count against every bound until they are gone, but nobody can count on them: min
 * is asked for beside them, so that what is taken away is replaced before it has gone.
 */
function withLeaving(groups: readonly Group[], slices: readonly Slice[]): readonly Group[] {
  if (groups.every(({ min }) => min === 0)) return groups;
  const leaving = new Map<GroupName, number>();
  for (const { group, status } of slices) {
    if (status === 'ready' || onItsWay.has(status)) continue;
    leaving.set(group, (leaving.get(group) ?? 0) + 1);
  }
  if (leaving.size === 0) return groups;
  return groups.map((group) => {
    const min = Math.min(group.max, group.min + (leaving.get(group.name) ?? 0));
    return group.min === 0 || min <= group.min ? group : { ...group, min };
  });
}

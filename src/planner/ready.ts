import { sparedUntilMs } from '../lifecycle/timeouts.ts';
import type { EpochMs } from '../model/ids.ts';
import type { DrainWhy, TrackedSlice } from '../model/slice-record.ts';
import type { SliceVerdict } from '../model/tick.ts';
import { isFresh, type Prepared } from './prepare.ts';
import { type Allowance, byIdleness, type GroupView, type Release } from './release.ts';

interface At {
  readonly atMs: EpochMs;
  readonly prepared: Prepared;
  readonly allowance: Allowance;
  readonly release: Release;
}

/** Share of a group's slices that may be replaced at a time when its shape has changed. */
const ROLL_RATIO = 0.1;
/** A stand-in without work for this long goes when those it stands in for are back. */
const FALLBACK_IDLE_MS = 60_000;

/**
 * Ready slices without work go when their time is up, longest idle first; never one that min, spare,
 * a floor, a reservation, a protected mark or a want of this tick needs. Draining ones come back
 * when work does.
 */
export function planReady(view: GroupView, at: At): void {
  const { verdicts } = at.release;
  const ready = view.slices.filter(({ status }) => status === 'ready');
  const recallable = view.slices.filter(({ id }) => at.prepared.recallable.has(id));
  const idle: TrackedSlice[] = [];
  let fresh = 0;
  for (const slice of ready) {
    const verdict = verdictOnUse(slice);
    verdicts.set(slice.id, verdict ?? needed);
    if (verdict === null) idle.push(slice);
    // Newly ready and not reported on yet: the decision took it for empty.
    else if (verdict.kind === 'unreported' && isFresh(slice, view.control, at.atMs)) fresh++;
  }
  if (view.isRetired) {
    for (const slice of ready) drain(view, at, slice, { kind: 'group-removed' });
    return;
  }
  const rolled = roll(view, at, ready);
  const free = idle.filter((slice) => !rolled.has(slice)).sort(byIdleness);
  const whole = free.filter((slice) => isWhole(slice, view));
  const backs = recallable.filter((slice) => isWhole(slice, view));
  const used = Math.max(0, whole.length + backs.length + fresh - view.report.unused.ready);
  const usedHere = Math.min(whole.length, Math.max(0, used - fresh));
  const forUse = used + view.group.spare - fresh - whole.length;
  recall(at, backs, Math.max(forUse, -view.left.surplus));
  const forSpare = Math.max(0, view.group.spare - Math.max(0, fresh - used));
  drainIdle(view, at, whole, { used: usedHere, spare: forSpare });
  // Of slices that are empty in part it is not known which ones the work was placed on.
  const isInPart = (slice: TrackedSlice): boolean => !isWhole(slice, view);
  if (view.isRoomUsed) recall(at, recallable.filter(isInPart), Infinity);
  else drainIdle(view, at, free.filter(isInPart), { used: 0, spare: 0 });
}

// Verdicts of thousands of slices: one object each, so that slices alike are found alike at once.
const needed: SliceVerdict = { kind: 'needed' };
const busy: SliceVerdict = { kind: 'busy' };
const unreported: SliceVerdict = { kind: 'unreported' };
const protectedByMark: SliceVerdict = { kind: 'protected' };

/** Why a ready slice is no candidate at all; null when it has no work and no other claim on it. */
function verdictOnUse(slice: TrackedSlice): SliceVerdict | null {
  // Held for it until the end of this tick: its gang may be about to land there.
  if (slice.reservedFor !== null) {
    return { kind: 'reserved', gang: slice.reservedFor };
  }
  let isReported = slice.hosts.length > 0;
  for (const { isBusy } of slice.hosts) {
    if (isBusy === true) return busy;
    if (isBusy === null) isReported = false;
  }
  if (!isReported) return unreported;
  return slice.isProtected ? protectedByMark : null;
}

const isWhole = ({ hosts }: TrackedSlice, { group }: GroupView): boolean =>
  hosts.length === group.hostsPerSlice &&
  hosts.every(
    ({ free }) =>
      free !== null && Object.entries(group.host).every(([name, all]) => (free[name] ?? 0) >= all),
  );

/** The last of the list, those idle for the shortest time, are the ones kept for use and spare. */
function drainIdle(
  view: GroupView,
  at: At,
  idle: readonly TrackedSlice[],
  keep: { readonly used: number; readonly spare: number },
): void {
  idle.forEach((slice, place) => {
    const fromEnd = idle.length - place;
    const why = whyDrain(view, at, slice);
    const verdict = whyKeep(view, fromEnd, keep, why);
    if (verdict !== null) at.release.verdicts.set(slice.id, verdict);
    else if (why !== null && drain(view, at, slice, why) && why.kind === 'above-max') {
      view.left.excess--;
    }
  });
}

function whyKeep(
  { group, control, report, left }: GroupView,
  fromEnd: number,
  keep: { readonly used: number; readonly spare: number },
  why: DrainWhy | null,
): SliceVerdict | null {
  if (fromEnd <= keep.used) return { kind: 'needed' };
  if (fromEnd <= keep.used + keep.spare) return { kind: 'spare', spare: group.spare };
  if (left.surplus <= 0) {
    return group.min >= report.held ? { kind: 'min', min: group.min } : { kind: 'floor' };
  }
  return why === null ? { kind: 'idle-grace', idleTimeoutMs: control.idleTimeoutMs } : null;
}

/** Why an idle slice goes now; null while it is given time. */
function whyDrain(view: GroupView, { atMs, allowance }: At, slice: TrackedSlice): DrainWhy | null {
  const { group, control } = view;
  const idleForMs = atMs - (slice.idleSinceMs ?? atMs);
  if (view.left.excess > 0) return { kind: 'above-max', total: view.slices.length, max: group.max };
  const [preferred] = slice.fallbackFor;
  const hasRecovered = preferred !== undefined && allowance.hasRecovered(slice);
  if (hasRecovered && idleForMs >= Math.min(FALLBACK_IDLE_MS, control.idleTimeoutMs)) {
    return { kind: 'fallback-ended', preferred };
  }
  return idleForMs >= control.idleTimeoutMs ? { kind: 'idle', idleForMs } : null;
}

/** Begins a drain, if terminations may go on; false when not. */
function drain(view: GroupView, at: At, slice: TrackedSlice, why: DrainWhy): boolean {
  if (slice.isProtected) return false;
  // Idleness began anew when it came back; other reasons would ask again in every tick.
  const isByTime = why.kind === 'idle' || why.kind === 'fallback-ended';
  const untilMs = isByTime ? null : sparedUntilMs(slice);
  if (untilMs !== null && at.atMs < untilMs) {
    at.release.verdicts.set(slice.id, { kind: 'drain-called-off', untilMs });
    return false;
  }
  const answer = at.allowance.take(view.group);
  if (answer !== 'granted') {
    at.release.verdicts.set(slice.id, { kind: answer });
    return false;
  }
  view.left.surplus--;
  at.release.steps.push({ kind: 'drain', sliceId: slice.id, why });
  at.release.verdicts.set(slice.id, { kind: 'draining', why });
  return true;
}

/** Work returns: what was let go last comes back first. */
function recall(at: At, recallable: readonly TrackedSlice[], count: number): void {
  const latest = recallable.toSorted((a, b) => byIdleness(b, a));
  for (const slice of latest.slice(0, Math.max(0, count))) {
    at.release.steps.push({ kind: 'cancel-drain', sliceId: slice.id });
    at.release.verdicts.set(slice.id, { kind: 'needed' });
  }
}

/** Outdated slices, as the group's `onChange` says: idle ones, or all in turn, a few at a time. */
function roll(view: GroupView, at: At, ready: readonly TrackedSlice[]): ReadonlySet<TrackedSlice> {
  const { onChange, shape } = view.control;
  const rolled = new Set<TrackedSlice>();
  if (onChange === 'keep') return rolled;
  const rolling = view.slices.filter(({ drain: order }) => order?.why.kind === 'outdated').length;
  // The next one goes when the one before has been replaced: min is held by what is ready.
  const lacking = view.group.min - ready.length;
  let left = Math.max(1, Math.ceil(view.slices.length * ROLL_RATIO)) - Math.max(rolling, lacking);
  const outdated = ready.filter((slice) => slice.shape !== shape && slice.reservedFor === null);
  const isIdle = ({ hosts }: TrackedSlice): boolean =>
    hosts.length > 0 && hosts.every(({ isBusy }) => isBusy === false);
  // Idle before busy: nobody has to move.
  const turn = [...outdated.filter(isIdle).sort(byIdleness)];
  if (onChange === 'roll') turn.push(...outdated.filter((slice) => !isIdle(slice)));
  for (const slice of turn) {
    if (left <= 0) break;
    // Work of this tick may be about to land on it.
    if (isIdle(slice) && view.isRoomUsed) continue;
    if (!drain(view, at, slice, { kind: 'outdated' })) continue;
    rolled.add(slice);
    left--;
  }
  return rolled;
}

import type { EpochMs } from '../model/ids.ts';
import { onItsWay } from '../model/slice.ts';
import type { CancelWhy, TrackedSlice } from '../model/slice-record.ts';
import { byFirst, byNumber, byText, type Compare } from '../support/order.ts';
import type { Allowance, GroupView, Release } from './release.ts';

interface At {
  readonly atMs: EpochMs;
  readonly allowance: Allowance;
  readonly release: Release;
}

const order = ['queued', 'requesting', 'booting', 'initializing'];

/** Given up first: what cost least so far. */
const byProgress: Compare<TrackedSlice> = byFirst(
  byNumber(({ status }) => order.indexOf(status)),
  (a, b) => b.statusSinceMs - a.statusSinceMs,
  (a, b) => byText(b.id, a.id),
);

/**
 * Slices on their way that nobody needs. One that was never sent is given up at once; one that costs
 * money already is given the idle timeout, as demand comes and goes while machines boot.
 */
export function planComing(view: GroupView, at: At): void {
  const { report, group } = view;
  const coming = view.slices.filter(({ status }) => onItsWay.has(status));
  if (coming.length === 0) return;
  const open = coming.filter(
    ({ reservedFor, isProtected }) => (reservedFor === null || view.isRetired) && !isProtected,
  );
  const forSpare = Math.max(0, group.spare - report.unused.ready);
  const unneeded = Math.min(
    Math.max(0, report.unused.onItsWay - forSpare),
    Math.max(0, view.left.surplus),
  );
  const { excess } = view.left;
  const leaving = Math.max(unneeded, Math.min(excess, open.length));
  open.sort(byProgress).forEach((slice, place) => {
    const isAbove = place < excess;
    if (place < leaving) giveUp(view, at, slice, isAbove);
    else if (slice.idleSinceMs !== null) {
      at.release.steps.push({ kind: 'mark-needed', sliceId: slice.id });
    }
  });
  for (const slice of coming) {
    if (slice.reservedFor === null || view.isRetired) continue;
    at.release.verdicts.set(slice.id, { kind: 'reserved', gang: slice.reservedFor });
  }
}

function whyGiveUp(
  { isRetired, slices, group }: GroupView,
  isAbove: boolean,
  sinceMs: EpochMs,
): CancelWhy {
  if (isRetired) return { kind: 'group-removed' };
  if (isAbove) return { kind: 'above-max', total: slices.length, max: group.max };
  return { kind: 'not-needed', sinceMs };
}

function giveUp(
  view: GroupView,
  { atMs, allowance, release }: At,
  slice: TrackedSlice,
  isAbove: boolean,
): void {
  const { group, control } = view;
  const sinceMs = slice.idleSinceMs ?? atMs;
  const isDue = isAbove || atMs - sinceMs >= control.idleTimeoutMs;
  if (slice.status !== 'queued' && !isDue) {
    if (slice.idleSinceMs === null) {
      release.steps.push({ kind: 'mark-unneeded', sliceId: slice.id });
    }
    return;
  }
  // One that was never sent releases nothing: no limit on releases concerns it.
  const answer = slice.status === 'queued' ? 'granted' : allowance.take(group);
  if (answer !== 'granted') {
    release.verdicts.set(slice.id, { kind: answer });
    return;
  }
  const why = whyGiveUp(view, isAbove, sinceMs);
  view.left.surplus--;
  if (isAbove) view.left.excess--;
  release.steps.push({ kind: 'cancel', sliceId: slice.id, why });
  release.verdicts.set(slice.id, { kind: 'cancelled', why });
}

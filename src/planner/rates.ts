import { type EpochMs, epochMs, type SliceId } from '../model/ids.ts';
import type { Deferral, PlanStep, TickInput } from '../model/tick.ts';
import { must } from '../support/assert.ts';
import { byFirst, byNumber, byText, type Compare } from '../support/order.ts';
import { isPaused, troublesOf } from './conditions.ts';

const MINUTE_MS = 60_000;

/** A launch that may be sent: queued before, or planned just now. */
export interface Waiting {
  readonly sliceId: SliceId;
  readonly groupIndex: number;
  readonly sinceMs: EpochMs;
  readonly gang: string | null;
}

export interface Sending {
  readonly steps: readonly PlanStep[];
  /** What waits, by slice and, for people, by group. */
  readonly deferred: ReadonlyMap<SliceId, Pick<Deferral, 'by' | 'untilMs'>>;
  readonly deferrals: readonly Deferral[];
}

/**
 * Which launches go out now. Rates act last and only by deferring, oldest first: per group
 * `max(1, ceil(upscalingSpeed * max(running, 1)))` at a time and its own limit, over all groups
 * `concurrentLaunches` and `createsPerMinute`. A gang counts as one and is never split.
 */
export function planSending(input: TickInput, waiting: readonly Waiting[]): Sending {
  if (waiting.length === 0) return { steps: [], deferred: new Map(), deferrals: [] };
  const gate = createGate(input);
  const steps: PlanStep[] = [];
  const deferred = new Map<SliceId, Pick<Deferral, 'by' | 'untilMs'>>();
  const counts = new Map<string, Deferral & { count: number }>();
  for (const unit of toUnits(waiting)) {
    const first = must(unit[0], 'a unit has a launch');
    const verdict = gate(first.groupIndex);
    if (verdict === 'paused') continue;
    if (verdict === null) {
      for (const { sliceId } of unit) steps.push({ kind: 'send', sliceId });
      continue;
    }
    const { name: group } = must(input.control.fleet.groups[first.groupIndex], 'a group index');
    for (const { sliceId } of unit) deferred.set(sliceId, verdict);
    const key = `${group} ${verdict.by}`;
    const row = counts.get(key) ?? { group, count: 0, ...verdict };
    row.count += unit.length;
    counts.set(key, row);
  }
  return { steps, deferred, deferrals: [...counts.values()] };
}

const byTurn: Compare<Waiting> = byFirst(
  byNumber(({ sinceMs }) => sinceMs),
  (a, b) => byText(a.sliceId, b.sliceId),
);

/** Launches in order, those of a gang in one group together. */
function toUnits(waiting: readonly Waiting[]): readonly (readonly Waiting[])[] {
  const units: Waiting[][] = [];
  const gangs = new Map<string, Waiting[]>();
  for (const launch of waiting.toSorted(byTurn)) {
    const key = launch.gang === null ? null : `${launch.groupIndex} ${launch.gang}`;
    const known = key === null ? undefined : gangs.get(key);
    if (known !== undefined) {
      known.push(launch);
      continue;
    }
    const unit = [launch];
    units.push(unit);
    if (key !== null) gangs.set(key, unit);
  }
  return units;
}

type Verdict = Pick<Deferral, 'by' | 'untilMs'> | 'paused' | null;

/** Answers for one unit at a time, and counts what it let go. */
function createGate(input: TickInput): (groupIndex: number) => Verdict {
  const { control, atMs } = input;
  const { limits, groups } = control.fleet;
  const nextLookMs = epochMs(atMs + control.evaluationIntervalMs);
  const flying = new Map<string, number>();
  const running = new Map<string, number>();
  let flyingAll = 0;
  const gangs = new Set<string>();
  for (const { group, status, reservedFor } of input.slices) {
    if (status === 'requesting') {
      const gang = `${group} ${reservedFor ?? ''}`;
      if (reservedFor !== null && gangs.has(gang)) continue;
      gangs.add(gang);
      flying.set(group, (flying.get(group) ?? 0) + 1);
      flyingAll++;
    } else if (status === 'ready') running.set(group, (running.get(group) ?? 0) + 1);
  }
  const recent = input.launchedAtMs.filter((sentMs) => sentMs > atMs - MINUTE_MS);
  let sent = recent.length;
  const isProbed = groups.map((group) =>
    troublesOf(input, group).some(({ untilMs }) => untilMs <= atMs),
  );
  return (groupIndex) => {
    const group = must(groups[groupIndex], 'a group index');
    const own = control.groups[groupIndex];
    if (input.pauses.some((pause) => isPaused(pause, 'launches', group))) return 'paused';
    const inFlight = flying.get(group.name) ?? 0;
    if (isProbed[groupIndex] === true && inFlight >= 1)
      return { by: 'probing', untilMs: nextLookMs };
    if (inFlight >= speedLimit(running.get(group.name) ?? 0, limits.upscalingSpeed)) {
      return { by: 'upscaling-speed', untilMs: nextLookMs };
    }
    const isFull = inFlight >= (own?.concurrentLaunchesMax ?? Infinity);
    if (isFull || flyingAll >= (limits.concurrentLaunches ?? Infinity)) {
      return { by: 'concurrent-launches', untilMs: nextLookMs };
    }
    if (sent >= (limits.createsPerMinute ?? Infinity)) {
      const oldest = recent[sent - (limits.createsPerMinute ?? 0)] ?? recent[0] ?? atMs;
      return { by: 'creates-per-minute', untilMs: epochMs(oldest + MINUTE_MS) };
    }
    // A gang counts as one unit: to split it would be to hold a part of it for nothing.
    flying.set(group.name, inFlight + 1);
    flyingAll++;
    sent++;
    return null;
  };
}

const speedLimit = (running: number, speed: number | null): number =>
  speed === null ? Infinity : Math.max(1, Math.ceil(speed * Math.max(running, 1)));

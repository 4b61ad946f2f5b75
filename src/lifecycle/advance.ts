import type { Timeouts, Unreported } from '../model/control.ts';
import { type EpochMs, epochMs } from '../model/ids.ts';
import type {
  DrainWhy,
  HistoryStep,
  SliceCause,
  SliceEvent,
  SliceRecord,
} from '../model/slice-record.ts';
import { assert, unreachable } from '../support/assert.ts';
import type { HostSight, SliceSight, Surroundings } from './sight.ts';
import { sparedUntilMs, timeoutOf } from './timeouts.ts';
import { step } from './transitions.ts';

interface Happening {
  readonly event: SliceEvent;
  readonly cause: SliceCause | null;
}

const noSteps: readonly HistoryStep[] = [];

/** A slice cannot move further than through every status in one look. */
const STEPS_MAX = 10;

/**
 * Moves a slice by what is seen of it and by the time, and says through which steps. Pure; the same
 * record comes back when nothing happened.
 */
export function advance(
  record: SliceRecord,
  sight: SliceSight,
  around: Surroundings & { readonly timeouts: Timeouts },
): { readonly record: SliceRecord; readonly steps: readonly HistoryStep[] } {
  let current = withMachines(record, sight);
  let happening: Happening | null = findNext(current, sight, around);
  // Nearly every slice of nearly every look.
  if (happening === null) return { record: withIdleness(current, sight, around), steps: noSteps };
  const steps: HistoryStep[] = [];
  while (happening !== null) {
    const done = step(current, { ...happening, atMs: around.nowMs });
    assert(done.kind === 'moved', 'only events that the table knows are found');
    const last = done.record.history.at(-1);
    assert(last !== undefined && steps.length < STEPS_MAX, 'a slice moves forward');
    steps.push(last);
    current = withDrain(done.record, happening, around);
    // Where the same sight could lead round in a circle, the next look goes on.
    const isEnough: boolean =
      current.status === 'terminating' || happening.event === 'drain-cancelled';
    happening = isEnough ? null : findNext(current, sight, around);
  }
  return { record: withIdleness(current, sight, around), steps };
}

function findNext(
  record: SliceRecord,
  sight: SliceSight,
  around: Surroundings & { readonly timeouts: Timeouts },
): Happening | null {
  switch (record.status) {
    case 'queued':
      return findTimeout(record, around);
    case 'requesting':
      if (sight.hosts.some(isPresent)) return { event: 'machines-seen', cause: null };
      if (sight.launch.kind === 'refused') {
        return { event: 'refused', cause: { kind: 'refused', refusal: sight.launch.refusal } };
      }
      return findTimeout(record, around);
    case 'booting':
      return (
        findLoss(record, sight, around) ??
        findEarlyEnd(record, sight) ??
        (sight.hosts.every(isUp) ? { event: 'hosts-up', cause: null } : null) ??
        findTimeout(record, around)
      );
    case 'initializing':
      return (
        findLoss(record, sight, around) ??
        findEarlyEnd(record, sight) ??
        (isReady(sight) ? { event: 'hosts-ready', cause: null } : null) ??
        findTimeout(record, around)
      );
    case 'ready':
      return findLoss(record, sight, around) ?? findNotice(record, sight, around);
    case 'draining':
      return findLoss(record, sight, around) ?? findDrainEnd(record, sight, around);
    case 'terminating':
      return findRelease(sight, around) ?? findTimeout(record, around);
    case 'terminated':
    case 'failed':
      return null;
    default:
      return unreachable(record.status);
  }
}

const isPresent = (host: HostSight | null): boolean =>
  host !== null && host.state !== 'gone' && host.state !== 'stopping';
const isUp = (host: HostSight | null): boolean =>
  host !== null && (host.state === 'running' || host.state === 'ready');
const isReady = ({ hosts, reports }: SliceSight): boolean =>
  hosts.every((host, index) => isUp(host) && (host?.state === 'ready' || reports[index] != null));

/**
 * A host is lost when its provider says so, or when lists that had time to show it do not. One
 * missing line in one list is no loss: lists lag.
 */
function findLoss(
  record: SliceRecord,
  { hosts }: SliceSight,
  { listedMs, listLagMs }: Surroundings,
): Happening | null {
  for (let index = 0; index < record.hostCount; index++) {
    const host = hosts[index] ?? null;
    if (host === null) continue; // never seen: the status's timeout watches over it
    const { machineId, lastSeenMs, interruptionAtMs, failure } = host;
    const isMissing = listedMs !== null && listedMs > lastSeenMs + listLagMs;
    if (isMissing || !isPresent(host)) {
      const which = { hostIndex: index, machineId };
      if (failure !== undefined) {
        const cause = { kind: 'bootstrap-failed', ...which, detail: failure } as const;
        return { event: 'host-lost', cause };
      }
      const kind = interruptionAtMs === null ? 'host-lost' : 'preempted';
      return { event: 'host-lost', cause: { kind, ...which } };
    }
  }
  return null;
}

function noticeOf({ hosts }: SliceSight): HostSight['interruptionAtMs'] {
  for (const host of hosts) {
    if (host !== null && host.interruptionAtMs !== null) return host.interruptionAtMs;
  }
  return null;
}

/** Not ready yet, and not worth finishing. */
function findEarlyEnd(record: SliceRecord, sight: SliceSight): Happening | null {
  const atMs = noticeOf(sight);
  if (atMs !== null) {
    return { event: 'cancelled', cause: { kind: 'cancelled', why: { kind: 'interrupted', atMs } } };
  }
  if (sight.machineCount > record.hostCount) {
    return { event: 'cancelled', cause: { kind: 'cancelled', why: surplus(record, sight) } };
  }
  return null;
}

const surplus = ({ hostCount }: SliceRecord, { machineCount }: SliceSight) => {
  return { kind: 'surplus-machines', machines: machineCount, hosts: hostCount } as const;
};

/** Ready, and about to be taken away, or not as it was ordered. */
function findNotice(
  record: SliceRecord,
  sight: SliceSight,
  { nowMs }: Surroundings,
): Happening | null {
  const atMs = noticeOf(sight);
  const isSurplus = sight.machineCount > record.hostCount && nowMs >= (sparedUntilMs(record) ?? 0);
  if (atMs === null && !isSurplus) return null;
  const why: DrainWhy =
    atMs === null ? surplus(record, sight) : ({ kind: 'interrupted', atMs } as const);
  return { event: 'drain-started', cause: { kind: 'draining', why } };
}

function withDrain(
  record: SliceRecord,
  { event, cause }: Happening,
  { nowMs, timeouts }: { readonly nowMs: EpochMs; readonly timeouts: Timeouts },
): SliceRecord {
  if (event !== 'drain-started') return record;
  assert(cause?.kind === 'draining', 'a drain says why');
  const { why } = cause;
  const deadlineMs = why.kind === 'interrupted' ? why.atMs : epochMs(nowMs + timeouts.drainingMs);
  return { ...record, drain: { why, deadlineMs } };
}

/** Ended by its scheduler's word, refused by it, or out of time. */
function findDrainEnd(
  record: SliceRecord,
  sight: SliceSight,
  { nowMs, unreported }: Surroundings,
): Happening | null {
  const { drain } = record;
  assert(drain !== null, 'a draining slice knows why');
  const answers = sight.reports.map((report) =>
    report !== null && report.atMs >= record.statusSinceMs ? report.drain : 'none',
  );
  if (answers.length === record.hostCount && answers.every((answer) => answer === 'drained')) {
    return { event: 'drain-finished', cause: null };
  }
  // Nothing runs there but what was pushed, and nobody is there to be asked.
  if (isTakenForIdle(record, sight, unreported)) return { event: 'drain-finished', cause: null };
  // What the provider takes away nobody can keep, whatever the drain was begun for.
  const isOrdered = drain.why.kind === 'operator' || drain.why.kind === 'interrupted';
  const noticeMs = isOrdered ? null : noticeOf(sight);
  const isForced = isOrdered || noticeMs !== null;
  const refusing = answers.indexOf('refused');
  if (refusing >= 0 && !isForced) {
    return { event: 'drain-cancelled', cause: { kind: 'drain-refused', hostIndex: refusing } };
  }
  if (nowMs < (noticeMs ?? drain.deadlineMs)) return null;
  if (isForced || !record.isReported) {
    const cause = { kind: 'timeout', status: 'draining' } as const;
    return { event: 'timed-out', cause: { ...cause, afterMs: nowMs - record.statusSinceMs } };
  }
  // Scale-down never ends work: it stays, and may be asked again later.
  const hostIndex = Math.max(
    0,
    answers.findIndex((answer) => answer !== 'drained'),
  );
  return { event: 'drain-cancelled', cause: { kind: 'drain-outlasted', hostIndex } };
}

/** Gone when a list that began long enough after the release was agreed to shows nothing of it. */
function findRelease(
  { hosts, machineCount, launch, releaseAcceptedMs }: SliceSight,
  { listedMs, listLagMs }: Surroundings,
): Happening | null {
  if (releaseAcceptedMs === null || listedMs === null || launch.kind === 'in-flight') return null;
  const goneSinceMs = Math.max(
    releaseAcceptedMs,
    ...hosts.map((host) => (host === null || host.state === 'gone' ? 0 : host.lastSeenMs)),
  );
  if (machineCount > 0 || listedMs <= goneSinceMs + listLagMs) return null;
  return { event: 'all-gone', cause: null };
}

function findTimeout(
  record: SliceRecord,
  { nowMs, timeouts, listedMs, watchingSinceMs }: Surroundings & { readonly timeouts: Timeouts },
): Happening | null {
  const limitMs = timeoutOf(record.status, timeouts);
  const afterMs = nowMs - record.statusSinceMs;
  // What came up while nobody looked the first list will show: until then the wait begins anew.
  const watchedMs = listedMs === null ? nowMs - (watchingSinceMs ?? 0) : afterMs;
  if (limitMs === null || Math.min(afterMs, watchedMs) < limitMs) return null;
  return { event: 'timed-out', cause: { kind: 'timeout', status: record.status, afterMs } };
}

/** Which machine is which host, as first seen. */
function withMachines(record: SliceRecord, { hosts }: SliceSight): SliceRecord {
  let isNew = false;
  for (let n = 0; n < hosts.length; n++) isNew ||= hosts[n] !== null && record.machines[n] == null;
  if (!isNew) return record;
  const machines = record.machines.map((known, index) => known ?? hosts[index]?.machineId ?? null);
  return { ...record, machines };
}

/** Nobody ever reported on it, and its group says what that means. */
const isTakenForIdle = (
  { isReported }: SliceRecord,
  { reports }: SliceSight,
  unreported: Unreported = 'busy',
): boolean => unreported === 'idle' && !isReported && reports.every((report) => report === null);

/** A ready slice is idle while every host was reported, and reported without work. */
function withIdleness(
  record: SliceRecord,
  sight: SliceSight,
  { nowMs, unreported }: Surroundings,
): SliceRecord {
  const { reports } = sight;
  if (record.status !== 'ready' && record.status !== 'draining') return record;
  let { isReported } = record;
  let isBusy = false;
  let isIdle = true;
  for (const report of reports) {
    isReported ||= report !== null;
    isBusy ||= report?.isBusy === true;
    isIdle &&= report?.isBusy === false;
  }
  isIdle ||= isTakenForIdle(record, sight, unreported);
  // What nobody reports on now, after a restart for one, keeps what was known of it.
  const idleSinceMs = isBusy ? null : (record.idleSinceMs ?? (isIdle ? nowMs : null));
  if (idleSinceMs === record.idleSinceMs && isReported === record.isReported) return record;
  return { ...record, idleSinceMs, isReported };
}

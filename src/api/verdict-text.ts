import { timeoutConsequences } from '../lifecycle/timeouts.ts';
import type { EpochMs, MachineId } from '../model/ids.ts';
import type { Refusal } from '../model/refusal.ts';
import type { CancelWhy, DrainWhy, LaunchWhy, SliceCause } from '../model/slice-record.ts';
import type { Deferral, SliceVerdict } from '../model/tick.ts';
import { unreachable } from '../support/assert.ts';
import { formatDuration, formatSpan, plural } from './format.ts';

// Why a slice is there, stays or leaves, in words. Instants are told as seen from `atMs`.

/** Why a slice stays, or where it is in leaving. */
export function sliceVerdictText(verdict: SliceVerdict, atMs: EpochMs): string {
  switch (verdict.kind) {
    case 'busy':
      return 'work runs on it';
    case 'unreported':
      return 'nobody has reported on it: taken for busy';
    case 'needed':
      return 'pending work is to use it';
    case 'idle-grace':
      return `without work, but not for ${formatDuration(verdict.idleTimeoutMs)} yet`;
    case 'min':
      return `kept for min ${verdict.min}`;
    case 'spare':
      return `kept for spare ${verdict.spare}`;
    case 'floor':
      return 'kept for a floor';
    case 'reserved':
      return `held for gang ${verdict.gang}`;
    case 'protected':
      return 'protected: no scale-down touches it';
    case 'drain-called-off':
      return `its drain was called off; not asked again for ${left(verdict.untilMs, atMs)}`;
    case 'paused':
      return 'could go, but terminations are paused';
    case 'blast-radius':
      return 'could go, but as many as may leave at a time do so already';
    case 'waiting': {
      const consequence = timeoutConsequences[verdict.status] ?? 'it is looked at again';
      const limit = formatDuration(verdict.timeoutMs);
      return `${verdict.status}; when that takes more than ${limit}: ${consequence}`;
    }
    case 'deferred': {
      const until = left(verdict.untilMs, atMs);
      return `waits for its turn, ${until} at most: ${deferralText(verdict.by)}`;
    }
    case 'draining':
      return `draining: ${drainText(verdict.why, atMs)}`;
    case 'cancelled':
      return `given up: ${cancelText(verdict.why, atMs)}`;
    case 'ending':
      return 'its machines are being released';
    default:
      return unreachable(verdict);
  }
}

/** The rate that holds a launch up. */
export function deferralText(by: Deferral['by']): string {
  switch (by) {
    case 'creates-per-minute':
      return 'limits.createsPerMinute launches were sent in the last minute';
    case 'concurrent-launches':
      return 'as many launches as allowed are under way';
    case 'upscaling-speed':
      return 'its group grows no faster than limits.upscalingSpeed';
    case 'probing':
      return 'its group was in trouble: one launch tries it first';
    default:
      return unreachable(by);
  }
}

/** Why a slice is made to leave though nothing is wrong with it. */
export function drainText(why: DrainWhy, atMs: EpochMs): string {
  switch (why.kind) {
    case 'idle':
      return `without work for ${formatSpan(why.idleForMs)}`;
    case 'above-max':
      return `its group has ${plural(why.total, 'slice')} where max is ${why.max}`;
    case 'outdated':
      return 'the shape or bootstrap of its group has changed';
    case 'group-removed':
      return 'its group is no longer in the configuration';
    case 'interrupted': {
      const inMs = why.atMs - atMs;
      const when = inMs > 0 ? ` in ${formatSpan(inMs)}` : '';
      return `the provider takes it away${when}`;
    }
    case 'fallback-ended':
      return `it stood in for ${why.preferred}, which can launch again`;
    case 'surplus-machines':
      return `${plural(why.machines, 'machine')} carry its tag, but it has ${plural(why.hosts, 'host')}`;
    case 'operator':
      return `${why.author} asked for it${why.reason === '' ? '' : `: ${why.reason}`}`;
    default:
      return unreachable(why);
  }
}

/** Why a launch is given up before it is ready. */
export function cancelText(why: CancelWhy, atMs: EpochMs): string {
  switch (why.kind) {
    case 'not-needed':
      return `nobody has needed it for ${formatSpan(Math.max(0, atMs - why.sinceMs))}`;
    case 'gang-rolled-back':
      return `the slices of gang ${why.gang} did not all come up in time`;
    case 'group-troubled':
      return 'its group cannot launch now; what it was for is planned anew';
    case 'above-max':
    case 'group-removed':
    case 'interrupted':
    case 'outdated':
    case 'surplus-machines':
    case 'operator':
      return drainText(why, atMs);
    default:
      return unreachable(why);
  }
}

const launchWords: Readonly<Record<LaunchWhy, string>> = {
  demand: 'pending work',
  min: 'min',
  spare: 'spare',
  floor: 'a floor',
};

/** Why a slice is in its status, or left the one before. */
export function causeText(cause: SliceCause, atMs: EpochMs): string {
  switch (cause.kind) {
    case 'launched-for':
      return `for ${launchWords[cause.why]}`;
    case 'adopted':
      return 'found with our tag, though nobody remembers it';
    case 'refused':
      return refusalText(cause.refusal);
    case 'timeout':
      return `${cause.status} for ${formatSpan(cause.afterMs)}, which is too long`;
    case 'host-lost':
      return `${hostText(cause)} was lost`;
    case 'bootstrap-failed':
      return `bootstrap failed on ${hostText(cause)}${detailText(cause.detail)}`;
    case 'preempted':
      return `${hostText(cause)} was taken away by the provider`;
    case 'draining':
      return drainText(cause.why, atMs);
    case 'drain-refused':
      return `its scheduler refused to drain host ${cause.hostIndex}`;
    case 'drain-outlasted':
      return `work on host ${cause.hostIndex} ran on beyond the deadline`;
    case 'needed-again':
      return 'work came back';
    case 'cancelled':
      return cancelText(cause.why, atMs);
    default:
      return unreachable(cause);
  }
}

/** Why a provider refused a launch, with its own words. */
export function refusalText(refusal: Refusal): string {
  const detail = detailText(refusal.detail);
  switch (refusal.kind) {
    case 'stockout':
      return `the provider is out of stock${detail}`;
    case 'quota-exceeded':
      return `quota ${refusal.quotaName} exceeded${detail}`;
    case 'throttled': {
      const { retryAfterMs } = refusal;
      const wait = retryAfterMs === null ? '' : ` for ${formatDuration(retryAfterMs)}`;
      return `the provider throttles us${wait}${detail}`;
    }
    case 'permanent':
      return `refused for good${detail}`;
    case 'unknown':
      return `failed, nobody knows why${detail}`;
    default:
      return unreachable(refusal);
  }
}

const detailText = (detail: string): string => (detail === '' ? '' : `: ${detail}`);

const hostText = ({
  hostIndex,
  machineId,
}: {
  readonly hostIndex: number;
  readonly machineId: MachineId | null;
}): string => `host ${hostIndex}${machineId === null ? '' : ` (${machineId})`}`;

const left = (untilMs: EpochMs, atMs: EpochMs): string => formatSpan(Math.max(0, untilMs - atMs));

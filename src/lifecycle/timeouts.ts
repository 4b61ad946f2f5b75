import type { Timeouts } from '../model/control.ts';
import { type EpochMs, epochMs } from '../model/ids.ts';
import type { SliceRecord } from '../model/slice-record.ts';
import type { SliceStatus } from '../model/slice.ts';
import { unreachable } from '../support/assert.ts';

/** A launch that the rates have not let go in this time is planned anew. */
export const QUEUED_MAX_MS = 15 * 60_000;
/** A release that no list has confirmed in this time is asked for again. */
export const TERMINATING_MAX_MS = 2 * 60_000;
/** A drain that was refused or called off is not begun again, whatever the reason, before this. */
export const DRAIN_AGAIN_MS = 10 * 60_000;

/** Until when a ready slice that came back from a drain is left alone; null when it did not. */
export function sparedUntilMs({
  status,
  statusSinceMs,
  readyAtMs,
}: Pick<SliceRecord, 'status' | 'statusSinceMs' | 'readyAtMs'>): EpochMs | null {
  if (status !== 'ready' || readyAtMs === null || statusSinceMs <= readyAtMs) return null;
  return epochMs(statusSinceMs + DRAIN_AGAIN_MS);
}

/** What happens when a slice has waited too long, for docs and for people. */
export const timeoutConsequences: Readonly<Partial<Record<SliceStatus, string>>> = {
  queued: 'given up; what it was for is planned anew',
  requesting: 'released by its id, as the request may still yield machines',
  booting: 'released; what it was for is planned anew, the group loses health',
  initializing: 'released; what it was for is planned anew, the group loses health',
  draining:
    'released, if an operator or the provider set the deadline or nobody ever reported on it; otherwise the drain is refused and it stays',
  terminating: 'the provider is asked again',
};

/** How long a slice may stay in a status; null where it may stay for ever. */
export function timeoutOf(status: SliceStatus, timeouts: Timeouts): number | null {
  switch (status) {
    case 'queued':
      return QUEUED_MAX_MS;
    case 'requesting':
      return timeouts.requestingMs;
    case 'booting':
      return timeouts.bootingMs;
    case 'initializing':
      return timeouts.initializingMs;
    case 'draining':
      return timeouts.drainingMs;
    case 'terminating':
      return TERMINATING_MAX_MS;
    case 'ready':
    case 'terminated':
    case 'failed':
      return null;
    default:
      return unreachable(status);
  }
}

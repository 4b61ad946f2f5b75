import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { formatDuration } from '../../api/format.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How points in time are shown: on the clock of the one who looks, with the distance from now. */
export interface Moments {
  /** `09:14:03`; with its date when it is a day or more away. */
  readonly clock: (at: Timestamp | undefined) => string;
  /** `09:14:03 (4s ago)` or `09:14:18 (in 11s)`. */
  readonly full: (at: Timestamp | undefined) => string;
  /** `4s`: how long ago. */
  readonly age: (at: Timestamp | undefined) => string;
  /** `until 09:20:00 (in 5m)`; empty where nobody knows. */
  readonly until: (at: Timestamp | undefined) => string;
}

/** `timeZone` left out: that of the machine. */
export function createMoments(nowMs: number, timeZone?: string): Moments {
  const zone = timeZone === undefined ? {} : { timeZone };
  const time = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', ...zone });
  // Swedish writes dates as 2026-11-15.
  const date = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', ...zone });
  const clock = (at: Timestamp | undefined): string => {
    const ms = toMs(at);
    if (ms === null) return '-';
    const isNear = Math.abs(nowMs - ms) < DAY_MS;
    return isNear ? time.format(ms) : `${date.format(ms)} ${time.format(ms)}`;
  };
  const full = (at: Timestamp | undefined): string => {
    const ms = toMs(at);
    if (ms === null) return '-';
    const awayMs = ms - nowMs;
    // The clocks of two machines differ a little; what has happened does not lie ahead.
    const distance = awayMs > 0 ? `in ${formatAge(roundUp(awayMs))}` : `${formatAge(-awayMs)} ago`;
    return `${clock(at)} (${distance})`;
  };
  return {
    clock,
    full,
    age: (at) => {
      const ms = toMs(at);
      return ms === null ? '-' : formatAge(Math.max(0, nowMs - ms));
    },
    until: (at) => (at === undefined ? '' : `until ${full(at)}`),
  };
}

/** An hour that was asked for a moment ago is still an hour. */
const roundUp = (ms: number): number => Math.ceil(ms / 1_000) * 1_000;

/** Null for none, and for one that no calendar has. */
function toMs(at: Timestamp | undefined): number | null {
  if (at === undefined) return null;
  const ms = timestampMs(at);
  return Math.abs(ms) <= 8.64e15 ? ms : null;
}

/** A duration with its two largest units: `12s`, `4m12s`, `3h5m`, `2d3h`. */
export function formatAge(ms: number): string {
  const unitMs = ms < HOUR_MS ? 1_000 : ms < DAY_MS ? MINUTE_MS : HOUR_MS;
  return formatDuration(Math.floor(ms / unitMs) * unitMs);
}

import { type Duration, durationMs, type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { formatDuration } from '../../api/format.ts';
import type { Path } from '../../config/problem.ts';
import type { Complaints } from './complaints.ts';

export interface SpanRange {
  readonly minMs: number;
  readonly maxMs: number;
}

/** Year 9999: the last that a Timestamp can hold. */
const LATEST_MS = 253_402_300_799_999;

/** Whole milliseconds of a duration; null where it was left out. Outside the range it is noted. */
export function readSpan(
  span: Duration | undefined,
  { path, range, complaints }: { path: Path; range: SpanRange; complaints: Complaints },
): number | null {
  if (span === undefined) return null;
  const ms = Math.round(durationMs(span));
  if (ms >= range.minMs && ms <= range.maxMs) return ms;
  const [least, most] = [formatDuration(range.minMs), formatDuration(range.maxMs)];
  complaints.add(path, `${ms / 1_000}s is outside ${least} to ${most}`, 'write one of these');
  return null;
}

/** An instant since 1970, in whole milliseconds; null when it is none, which is noted. */
export function readInstant(
  instant: Timestamp,
  { path, field, complaints }: { path: Path; field: string; complaints: Complaints },
): number | null {
  const ms = Math.floor(timestampMs(instant));
  if (ms >= 0 && ms <= LATEST_MS) return ms;
  const message = `${instant.seconds}s is no time from 1970 to 9999`;
  complaints.add([...path, field], message, 'write one, or none');
  return null;
}

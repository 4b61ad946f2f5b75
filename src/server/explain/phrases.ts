import { formatDuration } from '../../api/format.ts';
import { changeText, exclusionText } from '../../api/reason-text.ts';
import { sliceVerdictText } from '../../api/verdict-text.ts';
import { type EpochMs, epochMs } from '../../model/ids.ts';
import type { Change, Exclusion } from '../../model/reason.ts';
import type { SliceVerdict } from '../../model/tick.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** People who wait read seconds, and from an hour on minutes; never milliseconds. */
const grainOf = (ms: number): number => (ms >= HOUR_MS ? MINUTE_MS : SECOND_MS);

/** How long it still takes, rounded up: `7m`, `12s`; `0s` once it is over. */
export function leftText(untilMs: EpochMs, nowMs: EpochMs): string {
  return formatDuration(leftMs(untilMs, nowMs));
}

/** How long it has been, rounded down. */
export function sinceText(sinceMs: EpochMs, nowMs: EpochMs): string {
  const ms = Math.max(0, nowMs - sinceMs);
  return formatDuration(Math.floor(ms / grainOf(ms)) * grainOf(ms));
}

function leftMs(untilMs: EpochMs, nowMs: EpochMs): number {
  const ms = Math.max(0, untilMs - nowMs);
  return Math.ceil(ms / grainOf(ms)) * grainOf(ms);
}

/** A time close to now from which an end is a round while away: words made elsewhere are exact. */
export function evenNow(untilMs: EpochMs | null, nowMs: EpochMs): EpochMs {
  if (untilMs === null) return nowMs;
  return epochMs(untilMs - leftMs(untilMs, nowMs));
}

/** The end that a reason names, where it names one. */
export const endOf = (reason: object): EpochMs | null =>
  'untilMs' in reason && typeof reason.untilMs === 'number' ? epochMs(reason.untilMs) : null;

export const ruleText = (rule: Exclusion, nowMs: EpochMs): string =>
  exclusionText(rule, evenNow(endOf(rule), nowMs));

export const orderText = (change: Change, nowMs: EpochMs): string =>
  changeText(change, evenNow(endOf(change), nowMs));

export const verdictText = (verdict: SliceVerdict, nowMs: EpochMs): string =>
  sliceVerdictText(verdict, evenNow(endOf(verdict), nowMs));

/** `a`, `a and b`, `a, b and c`. */
export function andList(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`;
}

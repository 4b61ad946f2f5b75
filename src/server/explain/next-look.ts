import { type EpochMs, epochMs } from '../../model/ids.ts';
import { andList, leftText } from './phrases.ts';
import type { FleetView } from './fleet-view.ts';

/** Something that will happen by itself. */
export interface Awaited {
  readonly untilMs: EpochMs;
  readonly text: string;
}

export interface NextLook {
  /** Null where nobody can say when. */
  readonly atMs: EpochMs | null;
  readonly text: string;
}

/** Ends that are told; those that come first. */
const AWAITED_SHOWN = 4;

/** When it is looked at again at the latest, and what is awaited until then and beyond. */
export function nextLook(
  { standing, nextDecisionMs, nowMs }: Pick<FleetView, 'standing' | 'nextDecisionMs' | 'nowMs'>,
  awaited: readonly Awaited[],
  /** What the next decision may find. */
  hope: string | null = null,
): NextLook {
  const coming = awaited
    .filter(({ untilMs }) => untilMs > nowMs)
    .toSorted((a, b) => a.untilMs - b.untilMs)
    .slice(0, AWAITED_SHOWN);
  const ends = coming.map(({ untilMs, text }) => `in ${leftText(untilMs, nowMs)}: ${text}`);
  const hopes = hope === null ? [] : [`awaited: ${hope}`];
  if (standing.kind === 'starting') {
    const who = standing.awaited.length === 0 ? 'its first look' : andList(standing.awaited);
    const first = `the first decision since the start comes after ${who}, and soon without`;
    return { atMs: null, text: [...hopes, first, ...ends].join('; ') };
  }
  const decisionMs = Math.max(nowMs, nextDecisionMs);
  const atMs = coming.reduce((least, { untilMs }) => Math.min(least, untilMs), decisionMs);
  // Its time is told by the field, unless something else comes first.
  const inText = atMs < decisionMs ? ` in ${leftText(epochMs(decisionMs), nowMs)}` : '';
  const decision =
    decisionMs === nowMs
      ? 'the next decision is due now'
      : `the next decision${inText}, at the latest`;
  return { atMs: epochMs(atMs), text: [...hopes, decision, ...ends].join('; ') };
}

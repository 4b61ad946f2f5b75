import type { EpochMs, GroupName } from '../../model/ids.ts';
import type { DecidedTick } from '../fleet-feed.ts';
import type { NextLook } from './next-look.ts';

/** One link in a chain of reasons. */
export interface Link {
  /** Null: it holds now. */
  readonly atMs: EpochMs | null;
  /** A word of a closed list: of an event, a code, a rule, a status or a verdict. */
  readonly kind: string;
  readonly text: string;
}

/** A group that was considered: taken, runner-up, would-do, or the rule that excluded it. */
export interface Option {
  readonly group: GroupName;
  readonly kind: string;
  readonly text: string;
}

/** Why something is as it is. */
export interface Answer {
  readonly kind: 'entry' | 'slice' | 'group' | 'floor';
  readonly subject: string;
  readonly summary: string;
  /** What happened, oldest first; then what holds. */
  readonly chain: readonly Link[];
  readonly options: readonly Option[];
  /** Empty where nothing needs to be done, or nothing can. */
  readonly remedy: string;
  readonly nextLook: NextLook;
}

export const holds = (kind: string, text: string): Link => ({ atMs: null, kind, text });

export const happened = (atMs: EpochMs, kind: string, text: string): Link => ({ atMs, kind, text });

/** What the rest of an answer was concluded by. */
export const decisionLink = ({ input, output }: DecidedTick): Link =>
  happened(
    input.atMs,
    'decided',
    `the last decision, with the strategy ${output.decision.strategy}`,
  );

/** In the order of time; what holds now comes last, as given. */
export function inOrder(links: readonly Link[]): readonly Link[] {
  const timeOf = ({ atMs }: Link): number => atMs ?? Infinity;
  // Infinity minus Infinity is no number: equal times keep their order.
  return links.toSorted((a, b) => (timeOf(a) === timeOf(b) ? 0 : timeOf(a) - timeOf(b)));
}

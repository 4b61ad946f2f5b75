import type { EpochMs } from '../model/ids.ts';
import type { Exclusion } from '../model/reason.ts';
import { exclusionText } from './reason-text.ts';

/** Whether a group would do for an entry: what it costs there, or the first rule against it. */
export type AlternativeHome =
  | {
      readonly kind: 'would-do';
      readonly shareMicroUsdPerHour: number | null;
      /** Slices it would have to open. */
      readonly slices: number;
    }
  | { readonly kind: 'excluded'; readonly exclusion: Exclusion };

/** `has room, $0.077/h for its share`, `would open 2 slices, no price known`, or the rule. */
export function alternativeText(one: AlternativeHome, atMs: EpochMs): string {
  if (one.kind === 'excluded') return exclusionText(one.exclusion, atMs);
  const { shareMicroUsdPerHour: share, slices } = one;
  const cost =
    share === null ? 'no price known' : `$${(share / 1_000_000).toFixed(3)}/h for its share`;
  const opens = `would open ${slices} ${slices === 1 ? 'slice' : 'slices'}`;
  return `${slices === 0 ? 'has room' : opens}, ${cost}`;
}

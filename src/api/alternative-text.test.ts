import { expect, test } from 'vitest';
import { epochMs } from '../model/ids.ts';
import { type AlternativeHome, alternativeText } from './alternative-text.ts';

const room = { kind: 'would-do', shareMicroUsdPerHour: 77_000, slices: 0 } as const;

test.each([
  [room, 'has room, $0.077/h for its share'],
  [{ ...room, slices: 1 }, 'would open 1 slice, $0.077/h for its share'],
  [{ ...room, slices: 2, shareMicroUsdPerHour: null }, 'would open 2 slices, no price known'],
  [
    { kind: 'excluded', exclusion: { kind: 'stockout', untilMs: epochMs(90_000) } },
    'provider is out of stock for 1m30s more',
  ],
] satisfies readonly (readonly [AlternativeHome, string])[])('%j', (one, text) => {
  expect(alternativeText(one, epochMs(0))).toBe(text);
});

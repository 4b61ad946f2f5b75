import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { epochMs } from '../../model/ids.ts';
import { type Refusal, refusalKinds } from '../../model/refusal.ts';
import type { Trouble } from '../../model/trouble.ts';
import { aGroup } from '../../../test/builders.ts';
import { backoffs, isOver, scopeOf, worsen } from './backoff.ts';

const aRefusal = (kind: Refusal['kind'], retryAfterMs: number | null = null): Refusal => {
  const detail = 'as the provider says';
  if (kind === 'quota-exceeded') return { kind, detail, quotaName: 'gpus' };
  return kind === 'throttled' ? { kind, detail, retryAfterMs } : { kind, detail };
};

const scope = { kind: 'group', name: 'g' } as const;
const after = (before: Trouble | undefined, refusal: Refusal, nowMs: number): Trouble =>
  worsen(before, refusal, { scope, nowMs: epochMs(nowMs) });

/** Waits of refusals in a row, each asked for when the last wait is over. */
function waitsOf(refusal: Refusal, count: number): readonly number[] {
  const waits: number[] = [];
  let trouble: Trouble | undefined;
  for (let n = 0; n < count; n++) {
    const nowMs = trouble?.untilMs ?? 0;
    trouble = after(trouble, refusal, nowMs);
    waits.push(trouble.untilMs - nowMs);
  }
  return waits;
}

describe('waiting', () => {
  test.each([
    ['stockout', [30, 60, 120, 240, 480, 600, 600]],
    ['quota-exceeded', [300, 600, 1_200, 1_800, 1_800]],
    ['throttled', [5, 10, 20, 40, 80, 120, 120]],
    ['permanent', [300, 600, 1_200, 2_400, 3_600, 3_600]],
    ['unknown', [10, 20, 40, 80, 160, 300, 300]],
  ] as const)('%s doubles up to its ceiling', (kind, seconds) => {
    const waits = waitsOf(aRefusal(kind), seconds.length);
    expect(waits.map((ms) => ms / 1_000)).toEqual(seconds);
  });

  test('a thousand refusals in a row still end at the ceiling', () => {
    expect(waitsOf(aRefusal('stockout'), 1_000).at(-1)).toBe(600_000);
  });

  test.each([
    ['a longer wait that the provider asks for is kept', 60_000, 60_000],
    ['a shorter one is not', 1_000, 5_000],
    ['one beyond the ceiling is cut: every trouble ends', 86_400_000, 120_000],
    ['one that is no number is not heard', Number.NaN, 5_000],
    ['nor one without end', Number.POSITIVE_INFINITY, 5_000],
  ] as const)('%s', (_name, retryAfterMs, waitMs) => {
    expect(waitsOf(aRefusal('throttled', retryAfterMs), 1)).toEqual([waitMs]);
  });

  test('refusals that were already under way teach nothing', () => {
    const first = after(undefined, aRefusal('stockout'), 0);
    const same = after(first, aRefusal('stockout'), 29_999);
    expect(same).toEqual(first);
    expect(after(same, aRefusal('stockout'), 30_000)).toMatchObject({
      attempts: 2,
      sinceMs: 0,
      untilMs: 90_000,
    });
  });

  test('the words of a provider are kept, up to a length', () => {
    const long = { kind: 'unknown', detail: 'x'.repeat(5_000) } as const;
    expect(after(undefined, long, 0).detail).toHaveLength(300);
  });

  test('whatever is refused and when, the end is a time not further away than the ceiling', () => {
    const refusals = fc.array(
      fc.record({
        kind: fc.constantFrom(...refusalKinds),
        retryAfterMs: fc.option(fc.double()),
        passedMs: fc.nat(1_000_000),
      }),
      { minLength: 1, maxLength: 40 },
    );
    fc.assert(
      fc.property(refusals, (list) => {
        let trouble: Trouble | undefined;
        let nowMs = 0;
        for (const { kind, retryAfterMs, passedMs } of list) {
          nowMs += passedMs;
          if (trouble?.kind !== kind) trouble = undefined;
          trouble = after(trouble, aRefusal(kind, retryAfterMs), nowMs);
          expect(Number.isSafeInteger(trouble.untilMs)).toBe(true);
          expect(trouble.untilMs).toBeGreaterThan(nowMs);
          expect(trouble.untilMs - nowMs).toBeLessThanOrEqual(backoffs[kind].ceilingMs);
        }
      }),
    );
  });
});

describe('reach', () => {
  const pooled = aGroup({ name: 'a100', provider: 'aws', quotaPool: 'gpus' });
  const alone = aGroup({ name: 'a100', provider: 'aws' });
  test.each([
    ['stock is short in a group', 'stockout', pooled, 'group', 'a100'],
    ['a quota is shared by its pool', 'quota-exceeded', pooled, 'quota-pool', 'gpus'],
    ['without a pool it is the group that is short', 'quota-exceeded', alone, 'group', 'a100'],
    ['a throttle is the whole provider', 'throttled', pooled, 'provider', 'aws'],
    ['a bad image is the group', 'permanent', pooled, 'group', 'a100'],
    ['what nobody understands is the group', 'unknown', pooled, 'group', 'a100'],
  ] as const)('%s', (_name, kind, group, scopeKind, name) => {
    expect(scopeOf(aRefusal(kind), group)).toEqual({ kind: scopeKind, name });
  });
});

describe('forgetting', () => {
  test('the next refusal soon after the wait is still one of a row; later it is a first one', () => {
    const trouble = after(undefined, aRefusal('throttled'), 0);
    expect(trouble.untilMs).toBe(5_000);
    expect(isOver(trouble, epochMs(5_000))).toBe(false);
    expect(isOver(trouble, epochMs(124_999))).toBe(false);
    expect(isOver(trouble, epochMs(125_000))).toBe(true);
  });

  test('churn is remembered for a while after its wait: then one launch at a time is tried', () => {
    const churn: Trouble = { ...after(undefined, aRefusal('unknown'), 0), kind: 'churn' };
    expect(isOver(churn, epochMs(churn.untilMs - 1))).toBe(false);
    expect(isOver(churn, churn.untilMs)).toBe(false);
    expect(isOver(churn, epochMs(churn.untilMs + 30 * 60_000))).toBe(true);
  });
});

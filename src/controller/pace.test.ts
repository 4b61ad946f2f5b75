import { describe, expect, test } from 'vitest';
import { Pace } from './pace.ts';

/** Decides at 0 for a change. At most every 10 s, at least every 15 s. */
function aPace(): Pace {
  const pace = new Pace(10_000, 15_000);
  pace.decided(0, false);
  return pace;
}

describe('pace', () => {
  test('the first decision is due at once', () => {
    expect(new Pace(10_000, 15_000).isDue(-5, false)).toBe(true);
  });

  test('without a change it looks again after the longest time', () => {
    const pace = aPace();
    expect([pace.isDue(14_999, false), pace.isDue(15_000, false)]).toEqual([false, true]);
  });

  test('changes are answered at most once in the shortest time', () => {
    const pace = aPace();
    pace.want();
    expect([pace.isDue(9_999, false), pace.isDue(10_000, false)]).toEqual([false, true]);
  });

  test('the first change after a quiet time is answered at once', () => {
    const pace = aPace();
    expect(pace.isDue(14_000, false)).toBe(false);
    pace.want();
    expect(pace.isDue(14_000, false)).toBe(true);
  });

  test('a look without a change holds up no change', () => {
    const pace = aPace();
    pace.decided(15_000, false);
    pace.want();
    expect(pace.isDue(15_001, false)).toBe(true);
  });

  test('a refusal is planned around at once, three times, and the pace goes on', () => {
    const pace = aPace();
    const rounds: number[] = [];
    for (let nowMs = 100; nowMs <= 10_000; nowMs += 100) {
      pace.want();
      if (!pace.isDue(nowMs, true)) continue;
      rounds.push(nowMs);
      pace.decided(nowMs, true);
    }
    expect(rounds).toEqual([100, 200, 300, 10_000]);
  });

  test('a new pace holds from now on', () => {
    const pace = aPace();
    pace.set(1_000, 2_000);
    expect(pace.nextMs()).toBe(2_000);
    pace.want();
    expect(pace.nextMs()).toBe(1_000);
  });
});

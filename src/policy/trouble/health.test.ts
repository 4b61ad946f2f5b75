import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { epochMs, groupName } from '../../model/ids.ts';
import type { GroupHealth } from '../../model/trouble.ts';
import { churnOf, labelOf, scoreAt, worsenHealth } from './health.ts';

const group = groupName('g');
const FLOOR = 0.03125;

/** Health after failures at these times, in seconds. */
function afterFailures(...seconds: readonly number[]): GroupHealth | undefined {
  let health: GroupHealth | undefined;
  for (const at of seconds) health = worsenHealth(health, group, epochMs(at * 1_000));
  return health;
}
const failures = (count: number): readonly number[] => Array.from({ length: count }, () => 0);
const scoreAfter = (count: number): number =>
  scoreAt(afterFailures(...failures(count)), epochMs(0));

describe('the score', () => {
  test.each([
    [0, 1, 'healthy'],
    [1, 0.7, 'suspect'],
    [2, 0.49, 'churning'],
    [4, 0.2401, 'churning'],
    [5, 0.16807, 'hostile'],
    [10, FLOOR, 'hostile'],
    [50, FLOOR, 'hostile'],
  ] as const)('after %i failures at once it is %f: %s', (count, score, label) => {
    expect(scoreAfter(count)).toBeCloseTo(score, 6);
    expect(labelOf(scoreAfter(count))).toBe(label);
  });

  test('recovers in a straight line, from the floor to the best in an hour', () => {
    const worst = afterFailures(...failures(20));
    expect(scoreAt(worst, epochMs(1_800_000))).toBeCloseTo((1 + FLOOR) / 2, 6);
    expect(scoreAt(worst, epochMs(3_601_000))).toBe(1);
    expect(scoreAt(worst, epochMs(86_400_000))).toBe(1);
  });

  test('a failure counts from what has been recovered', () => {
    const health = afterFailures(...failures(20), 1_800);
    expect(health?.score).toBeCloseTo(((1 + FLOOR) / 2) * 0.7, 6);
  });

  test('a clock that stands behind takes nothing away', () => {
    const health = afterFailures(100);
    expect(scoreAt(health, epochMs(0))).toBe(0.7);
  });

  test('stays between its floor and 1 whatever happens', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5_000), { maxLength: 30 }), fc.nat(9_000), (gaps, restS) => {
        let at = 0;
        const health = afterFailures(...gaps.map((gap) => (at += gap)));
        const score = scoreAt(health, epochMs((at + restS) * 1_000));
        expect(score).toBeGreaterThanOrEqual(FLOOR);
        expect(score).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe('churn', () => {
  const churnAfter = (count: number) => {
    const health = afterFailures(...failures(count));
    return health === undefined ? null : churnOf(health, epochMs(0));
  };

  test.each([0, 1, 2, 3, 4])('%i failures stop nothing', (count) => {
    expect(churnAfter(count)).toBeNull();
  });

  test.each([
    [5, 119],
    [6, 306],
    [7, 437],
    [8, 529],
    [20, 627],
  ])('%i failures stop launches for %i s', (count, seconds) => {
    const churn = churnAfter(count);
    expect(Math.round((churn?.untilMs ?? 0) / 1_000)).toBe(seconds);
    expect(churn).toMatchObject({ kind: 'churn', scope: { kind: 'group', name: 'g' } });
  });

  test('ends when the group is hostile no longer', () => {
    const health = afterFailures(...failures(7));
    const churn = churnAfter(7);
    const endMs = churn?.untilMs ?? epochMs(0);
    expect(labelOf(scoreAt(health, epochMs(endMs - 1_000)))).toBe('hostile');
    expect(labelOf(scoreAt(health, endMs))).toBe('churning');
  });
});

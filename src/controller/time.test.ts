import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { epochMs } from '../model/ids.ts';
import type { Clock } from '../ports/clock.ts';
import { SteadyTime } from './time.ts';

/** A clock that is set by hand. */
class HandClock implements Clock {
  monotonic = 0;
  wall = 1_000_000;
  wallMs = () => epochMs(this.wall);
  monotonicMs = () => this.monotonic;
  after = () => ({ cancel: () => {} });
  pass(ms: number): void {
    this.monotonic += ms;
    this.wall += ms;
  }
}

function aTime(leastMs = 0) {
  const clock = new HandClock();
  return { clock, time: new SteadyTime(clock, epochMs(leastMs)) };
}

describe('steady time', () => {
  test('keeps pace with a clock that nobody sets', () => {
    const { clock, time } = aTime();
    clock.pass(123_456);
    expect(time.now()).toBe(1_123_456);
  });

  test.each([
    ['ahead', 3_600_000, 1_011_000],
    ['back', -3_600_000, 1_009_000],
  ] as const)('follows a clock set %s by an hour at a tenth of real time', (_name, byMs, after) => {
    const { clock, time } = aTime();
    clock.wall += byMs;
    expect(time.now()).toBe(1_000_000);
    clock.pass(10_000);
    expect(time.now()).toBe(after);
  });

  test('comes to stand with the clock, and not beyond it', () => {
    const { clock, time } = aTime();
    clock.wall += 1_000;
    for (let n = 0; n < 100; n++) {
      clock.pass(1_000);
      time.now();
    }
    expect(time.now()).toBe(clock.wall);
  });

  test('starts where the record ends, though the clock is behind it', () => {
    const { clock, time } = aTime(5_000_000);
    expect(time.now()).toBe(5_000_000);
    clock.pass(1_000);
    expect(time.now()).toBe(5_000_900);
  });

  test('never goes back and never leaps, whatever the clock does', () => {
    const moves = fc.array(
      fc.record({ passMs: fc.nat(20_000), jumpMs: fc.integer({ min: -1e7, max: 1e7 }) }),
    );
    fc.assert(
      fc.property(moves, (list) => {
        const { clock, time } = aTime();
        let before = time.now();
        for (const { passMs, jumpMs } of list) {
          clock.pass(passMs);
          clock.wall += jumpMs;
          const now = time.now();
          expect(now).toBeGreaterThanOrEqual(before + Math.floor(passMs * 0.9) - 1);
          expect(now).toBeLessThanOrEqual(before + Math.ceil(passMs * 1.1) + 1);
          before = now;
        }
      }),
    );
  });
});

describe('a jump of the clock', () => {
  test('is told once, with its size', () => {
    const { clock, time } = aTime();
    clock.wall += 3_600_000;
    expect([time.takeJump(), time.takeJump()]).toEqual([3_600_000, 0]);
    clock.wall -= 60_000;
    expect([time.takeJump(), time.takeJump()]).toEqual([-60_000, 0]);
  });

  test('is not told again while our time follows the clock', () => {
    const { clock, time } = aTime();
    clock.wall += 3_600_000;
    time.takeJump();
    const told: number[] = [];
    for (let n = 0; n < 500; n++) {
      clock.pass(15_000);
      time.now();
      told.push(time.takeJump());
    }
    expect(told.filter((ms) => ms !== 0)).toEqual([]);
  });

  test('is not a drift, however long it goes on', () => {
    const { clock, time } = aTime();
    for (let n = 0; n < 1_000; n++) {
      clock.pass(10_000);
      clock.wall += 100;
      time.now();
      expect(time.takeJump()).toBe(0);
    }
  });

  test('is told at the start when the clock is behind the record', () => {
    const { time } = aTime(1_600_000);
    expect(time.takeJump()).toBe(-600_000);
  });
});

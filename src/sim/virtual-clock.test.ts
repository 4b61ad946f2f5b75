import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../support/random.ts';
import { VirtualClock } from './virtual-clock.ts';

describe('timers', () => {
  test('fire in order of time, then of insertion', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(20), { maxLength: 60 }), async (delays) => {
        const clock = new VirtualClock();
        const fired: (readonly [number, number])[] = [];
        for (const [index, delay] of delays.entries()) {
          clock.after(delay, () => fired.push([clock.monotonicMs(), index]));
        }
        await clock.run(20);
        const expected = delays
          .map((delay, index) => [delay, index] as const)
          .sort(([a, i], [b, j]) => a - b || i - j);
        expect(fired).toEqual(expected);
        expect(clock.pendingCount).toBe(0);
      }),
    );
  });

  test('cancelled ones do not fire, whatever else is cancelled', async () => {
    const clock = new VirtualClock();
    const random = seededRandom(3);
    const fired = new Set<number>();
    const handles = Array.from({ length: 5_000 }, (_, index) =>
      clock.after(Math.floor(random() * 100), () => fired.add(index)),
    );
    const cancelled = new Set([...handles.keys()].filter(() => random() < 0.8));
    for (const index of cancelled) handles[index]?.cancel();
    for (const index of cancelled) handles[index]?.cancel(); // twice is fine
    expect(clock.pendingCount).toBe(5_000 - cancelled.size);
    await clock.run(100);
    expect(fired.size).toBe(5_000 - cancelled.size);
    expect([...fired].filter((index) => cancelled.has(index))).toEqual([]);
    for (const handle of handles) handle.cancel(); // too late is fine
    expect(clock.pendingCount).toBe(0);
  });

  test('not yet due stay pending; the run stops where it was told to', async () => {
    const clock = new VirtualClock();
    clock.after(100, () => {});
    await clock.advance(99);
    expect([clock.monotonicMs(), clock.pendingCount, clock.nextAtMs()]).toEqual([99, 1, 100]);
    await clock.advance(1);
    expect([clock.pendingCount, clock.firedCount, clock.nextAtMs()]).toEqual([0, 1, null]);
  });

  test('a negative delay is due now, a delay that is no number is a bug', async () => {
    const clock = new VirtualClock();
    let firedAtMs = -1;
    await clock.advance(5);
    clock.after(-3, () => (firedAtMs = clock.monotonicMs()));
    await clock.advance(0);
    expect(firedAtMs).toBe(5);
    expect(() => clock.after(Number.NaN, () => {})).toThrow('never be due');
  });
});

describe('promises', () => {
  test('a chain started by a timer settles before the next timer of the same instant', async () => {
    const clock = new VirtualClock();
    const order: string[] = [];
    const chain = async (name: string): Promise<void> => {
      for (let link = 0; link < 20; link++) await Promise.resolve();
      order.push(name);
      clock.after(0, () => order.push(`${name}, then`));
    };
    clock.after(1, () => void chain('first'));
    clock.after(1, () => order.push('second'));
    await clock.run(1);
    expect(order).toEqual(['first', 'second', 'first, then']);
  });

  test('chains of before the run may still set timers for it', async () => {
    const clock = new VirtualClock();
    const waited = (async () => {
      await Promise.resolve();
      await new Promise<void>((resolve) => clock.after(10, resolve));
      return clock.monotonicMs();
    })();
    await clock.run(50);
    expect(await waited).toBe(10);
  });
});

describe('time', () => {
  test('the wall clock jumps, the monotonic one does not', async () => {
    const clock = new VirtualClock(1_000);
    await clock.advance(50);
    clock.jumpWall(-500);
    expect([clock.wallMs(), clock.monotonicMs()]).toEqual([550, 50]);
    clock.jumpWall(2_000);
    expect([clock.wallMs(), clock.monotonicMs()]).toEqual([2_550, 50]);
  });

  test('does not go back, and two runs at once are a bug', async () => {
    const clock = new VirtualClock();
    await clock.advance(10);
    await expect(clock.run(9)).rejects.toThrow('time does not go back');
    const running = clock.advance(1);
    await expect(clock.advance(1)).rejects.toThrow('one run at a time');
    await running;
  });

  test('a timer that sets itself again without delay is found out', async () => {
    const clock = new VirtualClock();
    const again = (): void => void clock.after(0, again);
    again();
    await expect(clock.run(1)).rejects.toThrow('time stands still');
  });

  test('what a callback throws ends the run, and the clock can go on', async () => {
    const clock = new VirtualClock();
    let isLaterFired = false;
    clock.after(1, () => {
      throw new Error('broken');
    });
    clock.after(2, () => (isLaterFired = true));
    await expect(clock.run(5)).rejects.toThrow('broken');
    await clock.run(5);
    expect(isLaterFired).toBe(true);
  });
});

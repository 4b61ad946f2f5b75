import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HostList, type HostLoad, type RoomView, fitCopies } from './host-list.ts';
import { TrialLog } from './trial-log.ts';

const room = (cpu: number, count = 1, over: Partial<RoomView> = {}): RoomView => {
  return { kind: 'free-room', free: Float64Array.of(cpu), count, isUntouched: true, ...over };
};
const need = (cpu: number): Float64Array => Float64Array.of(cpu);

function aList(hostsPerSlice: number, ...rooms: readonly RoomView[]) {
  const trials = new TrialLog();
  const list = new HostList(hostsPerSlice, trials);
  for (const one of rooms) list.add(one);
  return { list, trials };
}

/** Free room and number of hosts, in order. */
const shape = (list: HostList): readonly (readonly [number, number])[] =>
  list.view().map(({ free, count }) => [free[0] ?? 0, count]);

test.each([
  [[8], [2], 4],
  [[8], [3], 2],
  [[8], [9], 0],
  [[8], [0], Infinity],
  [[8, 1], [2, 1], 1],
  [[0], [1], 0],
  [[0.3], [0.1], 2],
  [[2 ** 53], [3], 3_002_399_751_580_330],
])('of %j, %j fits %d times', (free, each, copies) => {
  expect(fitCopies(Float64Array.from(free), Float64Array.from(each))).toBe(copies);
});

describe('first fit', () => {
  test('fills hosts in order, each before the next', () => {
    const { list } = aList(1, room(4), room(8, 2, { kind: 'on-its-way' }));
    expect(list.take(0, need(3), 4)).toEqual([
      { kind: 'free-room', count: 1 },
      { kind: 'on-its-way', count: 3 },
    ]);
    expect(shape(list)).toEqual([
      [1, 1],
      [2, 1],
      [5, 1],
    ]);
  });

  test('places what there is room for', () => {
    const { list } = aList(1, room(4, 3));
    expect(list.take(0, need(2), 100)).toEqual([{ kind: 'free-room', count: 6 }]);
    expect(list.take(0, need(2), 1)).toEqual([]);
  });

  test('what needs nothing fits any number of times', () => {
    const { list } = aList(1, room(4));
    expect(list.take(0, need(0), 1_000)).toEqual([{ kind: 'free-room', count: 1_000 }]);
    expect(shape(list)).toEqual([[4, 1]]);
  });

  test('a part that found no room finds hosts added later', () => {
    const { list } = aList(1, room(1));
    expect(list.take(0, need(2), 1)).toEqual([]);
    list.add(room(4, 1, { kind: 'new' }));
    expect(list.take(0, need(2), 1)).toEqual([{ kind: 'new', count: 1 }]);
  });

  test('one copy at a time keeps away from hosts in use', () => {
    const { list } = aList(1, room(4, 2));
    const first = list.takeOne(need(1), new Set());
    const second = list.takeOne(need(1), new Set([first!.host]));
    expect(second).not.toBeNull();
    expect(list.takeOne(need(1), new Set([first!.host, second!.host]))).toBeNull();
  });
});

describe('whole slices', () => {
  test('are those nobody uses; a task on one host spoils its slice', () => {
    const { list } = aList(4, room(8, 12));
    expect(list.wholeSlices).toBe(3);
    list.take(0, need(1), 1);
    expect(list.wholeSlices).toBe(2);
    expect(list.takeWholeSlices(5)).toEqual([{ kind: 'free-room', slices: 2 }]);
    expect(list.wholeSlices).toBe(0);
    // The three hosts beside the used one are still room for single tasks.
    expect(list.take(0, need(8), 9)).toEqual([{ kind: 'free-room', count: 3 }]);
  });

  test('hosts in part in use are none', () => {
    expect(aList(2, room(8, 2, { isUntouched: false })).list.wholeSlices).toBe(0);
  });
});

describe('trials', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('take' as const), part: fc.nat(2), copies: fc.nat(9) }),
    fc.record({ kind: fc.constant('one' as const), part: fc.nat(2) }),
    fc.record({ kind: fc.constant('slices' as const), slices: fc.nat(3) }),
    fc.record({ kind: fc.constant('add' as const), cpu: fc.nat(8), slices: fc.nat(2) }),
  );
  type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
  const hostsPerSlice = 2;
  const needs = [need(1), need(3), need(8)];

  function run(list: HostList, steps: readonly Step[]): readonly unknown[] {
    return steps.map((one) => {
      switch (one.kind) {
        case 'take':
          return list.take(one.part, needs[one.part]!, one.copies);
        case 'one':
          return list.takeOne(needs[one.part]!, new Set())?.kind ?? null;
        case 'slices':
          return list.takeWholeSlices(one.slices);
        case 'add':
          return list.add(room(one.cpu, one.slices * hostsPerSlice, { kind: 'new' }));
      }
    });
  }

  test('undoing restores the view and everything that follows', () => {
    fc.assert(
      fc.property(
        fc.array(step),
        fc.array(step),
        fc.array(step),
        fc.array(step),
        (before, outer, inner, after) => {
          const [tried, plain] = [aList(hostsPerSlice), aList(hostsPerSlice)];
          for (const { list } of [tried, plain]) {
            list.add(room(8, 4));
            list.add(room(3, 2, { isUntouched: false }));
            run(list, before);
          }
          const view = tried.list.view().map((one) => ({ ...one }));
          const mark = tried.trials.mark();
          run(tried.list, outer);
          const nested = tried.trials.mark();
          run(tried.list, inner);
          tried.trials.keep(nested);
          tried.trials.undo(mark);
          expect(tried.list.view()).toEqual(view);
          expect(run(tried.list, after)).toEqual(run(plain.list, after));
          expect(tried.list.view()).toEqual(plain.list.view());
        },
      ),
    );
  });

  test('what is kept is as if it had never been a trial', () => {
    fc.assert(
      fc.property(fc.array(step), fc.array(step), (during, after) => {
        const [tried, plain] = [aList(hostsPerSlice, room(8, 4)), aList(hostsPerSlice, room(8, 4))];
        const mark = tried.trials.mark();
        run(tried.list, during);
        tried.trials.keep(mark);
        run(plain.list, during);
        expect(run(tried.list, after)).toEqual(run(plain.list, after));
        expect(tried.list.view()).toEqual(plain.list.view());
      }),
    );
  });

  test('room never grows and never falls below nothing', () => {
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const { list } = aList(hostsPerSlice, room(8, 4));
        const total = (): number =>
          list.view().reduce((sum, { free, count }) => sum + (free[0] ?? 0) * count, 0);
        for (const one of steps.filter(({ kind }) => kind !== 'add')) {
          const before = total();
          run(list, [one]);
          expect(total()).toBeLessThanOrEqual(before);
          expect(list.view().every(({ free }) => (free[0] ?? 0) >= 0)).toBe(true);
        }
      }),
    );
  });
});

describe('loads', () => {
  const needs = [need(2), need(3)];

  test('go on hosts by their place, in order, and leave the others as they were', () => {
    const { list } = aList(1, room(4, 2), room(8, 3), room(9));
    list.load([undefined, [load(1, [0, 1]), load(1, [1])]], needs);
    expect(shape(list)).toEqual([
      [4, 2],
      [3, 1],
      [5, 1],
      [8, 1],
      [9, 1],
    ]);
  });

  test('break the slices whose hosts they use in part, and no others', () => {
    const { list } = aList(2, room(4, 6));
    list.load([[load(1, [0])]], needs);
    expect(shape(list)).toEqual([
      [2, 1],
      [4, 1],
      [4, 4],
    ]);
    expect(list.wholeSlices).toBe(2);
  });

  test.each([
    ['more than a host has', [load(1, [0, 1])]],
    ['more hosts than there are', [load(3, [0])]],
  ])('of %s are a bug', (_name, loads) => {
    const { list } = aList(1, room(4, 2));
    expect(() => list.load([loads], needs)).toThrow('no planner');
  });

  function load(count: number, parts: readonly number[]): HostLoad {
    return { count, parts, copies: parts.map(() => 1) };
  }
});

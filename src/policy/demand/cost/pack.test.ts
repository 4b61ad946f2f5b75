import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createHighsSolver } from '../../../solver/highs.ts';
import { fluidProgram, type FluidProblem } from '../fluid-bound.ts';
import type { PackBudget, PackEffort, PackPlan, PackProblem } from './pack-problem.ts';
import { pack } from './pack.ts';

// Indices run over the arrays made here, hence the `!`.

const effort: PackEffort = { roundsMax: 8, workMax: 100_000 };

interface Type {
  readonly capacity: readonly number[];
  readonly price: number;
  readonly hostsPerUnit?: number;
  readonly max?: number;
}
interface Shape {
  readonly need: readonly number[];
  readonly count: number;
  /** Types where the rules hold; all by default. */
  readonly on?: readonly number[];
}
interface Room {
  readonly type: number;
  readonly free: readonly number[];
  readonly count: number;
}

/** A problem from tables: a shape is allowed where its rules hold and an empty host is large enough. */
function aProblem(table: {
  readonly types: readonly Type[];
  readonly shapes: readonly Shape[];
  readonly budgets?: readonly { readonly left: number; readonly use: readonly number[] }[];
  readonly rooms?: readonly Room[];
  readonly resourceCount?: number;
}): PackProblem {
  const { types, shapes, budgets = [], rooms = [] } = table;
  const rules = shapes.flatMap(({ on }) => types.map((_, type) => on?.includes(type) ?? true));
  const fits = shapes.flatMap(({ need }) => {
    return types.map(({ capacity }) => need.every((needed, k) => needed <= capacity[k]!));
  });
  const own = types.flatMap(({ max }, type): PackBudget[] => {
    if (max === undefined) return [];
    return [{ left: max, use: Float64Array.from(types, (_, other) => (other === type ? 1 : 0)) }];
  });
  return {
    resourceCount: table.resourceCount ?? types[0]?.capacity.length ?? 0,
    shapeCount: shapes.length,
    typeCount: types.length,
    need: Float64Array.from(shapes.flatMap(({ need }) => need)),
    count: Int32Array.from(shapes, ({ count }) => count),
    capacity: Float64Array.from(types.flatMap(({ capacity }) => capacity)),
    hostsPerUnit: Int32Array.from(types, ({ hostsPerUnit }) => hostsPerUnit ?? 1),
    unitPrice: Float64Array.from(types, ({ price }) => price),
    allowed: Uint8Array.from(rules, (may, pair) => (may && fits[pair]! ? 1 : 0)),
    allowedInRoom: Uint8Array.from(rules, (may) => (may ? 1 : 0)),
    budgets: [...own, ...budgets.map(({ left, use }) => ({ left, use: Float64Array.from(use) }))],
    rooms: rooms.map(({ type, free, count }) => ({ type, free: Float64Array.from(free), count })),
  };
}

const unitsOf = (problem: PackProblem, plan: PackPlan): number[] => {
  const hosts = Array.from(problem.unitPrice, () => 0);
  for (const { type, count } of plan.opened) hosts[type]! += count;
  return hosts.map((count, type) => Math.ceil(count / problem.hostsPerUnit[type]!));
};
const costOf = (problem: PackProblem, plan: PackPlan): number => {
  return unitsOf(problem, plan).reduce(
    (sum, units, type) => sum + units * problem.unitPrice[type]!,
    0,
  );
};

/** Everything a plan must hold to, checked without the packer's code. Empty when it does. */
function faultsOf(problem: PackProblem, plan: PackPlan): string[] {
  const { resourceCount, shapeCount, typeCount, need, count, rooms, budgets } = problem;
  const faults: string[] = [];
  const placed = new Int32Array(shapeCount);
  /** Hosts with what they have left, to see at the end what would still fit. */
  const hosts: { type: number; free: number[]; kind: 'room' | 'new' }[] = [];
  const fill = (
    kind: 'room' | 'new',
    type: number,
    room: Float64Array,
    content: PackPlan['opened'][number] | PackPlan['used'][number],
  ): void => {
    const free = [...room];
    if (content.count <= 0) faults.push('a group without hosts');
    if (new Set(content.shapes).size < content.shapes.length) faults.push('a shape listed twice');
    content.shapes.forEach((shape, index) => {
      const copies = content.copies[index]!;
      if (!(copies > 0)) faults.push('a shape without copies');
      const allowed = kind === 'new' ? problem.allowed : problem.allowedInRoom;
      if (allowed[shape * typeCount + type] === 0) faults.push(`shape ${shape} on type ${type}`);
      placed[shape]! += copies * content.count;
      for (let k = 0; k < resourceCount; k++) free[k]! -= copies * need[shape * resourceCount + k]!;
    });
    if (free.some((amount) => amount < 0)) faults.push(`${kind} host of type ${type} overfull`);
    hosts.push({ kind, type, free });
  };
  const capacityOf = (type: number): Float64Array => {
    return problem.capacity.subarray(type * resourceCount, (type + 1) * resourceCount);
  };
  for (const group of plan.opened) fill('new', group.type, capacityOf(group.type), group);
  const idle = rooms.map((room) => room.count);
  for (const group of plan.used) {
    idle[group.room]! -= group.count;
    fill('room', rooms[group.room]!.type, rooms[group.room]!.free, group);
  }
  rooms.forEach(({ type, free }, room) => {
    if (idle[room]! < 0) faults.push(`room ${room} used too often`);
    if (idle[room]! > 0) hosts.push({ kind: 'room', type, free: [...free] });
  });
  const units = unitsOf(problem, plan);
  const spent = (use: Float64Array): number =>
    units.reduce((sum, n, type) => sum + n * use[type]!, 0);
  budgets.forEach(({ left, use }, index) => {
    const used = units.some((n, type) => n > 0 && use[type]! > 0);
    if (used && spent(use) > left) faults.push(`budget ${index} broken`);
  });
  for (let type = 0; type < typeCount; type++) {
    const opened = plan.opened.reduce(
      (sum, group) => sum + (group.type === type ? group.count : 0),
      0,
    );
    const canOpen = budgets.every(
      ({ left, use }) => use[type] === 0 || spent(use) + use[type]! <= left,
    );
    const hasSpare = opened < units[type]! * problem.hostsPerUnit[type]!;
    if (canOpen || hasSpare) hosts.push({ kind: 'new', type, free: [...capacityOf(type)] });
  }
  for (let shape = 0; shape < shapeCount; shape++) {
    if (placed[shape]! + plan.unplaced[shape]! !== count[shape])
      faults.push(`shape ${shape} miscounted`);
    if (plan.unplaced[shape] === 0) continue;
    for (const { kind, type, free } of hosts) {
      const allowed = kind === 'new' ? problem.allowed : problem.allowedInRoom;
      if (allowed[shape * typeCount + type] === 0) continue;
      const fits = free.every((amount, k) => need[shape * resourceCount + k]! <= amount);
      if (fits)
        faults.push(`shape ${shape} left out, though a ${kind} host of type ${type} has room`);
    }
  }
  return faults;
}

/** Small problems with everything in them: nothing needed, nothing there, free, limited, in rooms. */
const problems = fc
  .record({
    resourceCount: fc.integer({ min: 0, max: 3 }),
    typeCount: fc.integer({ min: 0, max: 5 }),
  })
  .chain(({ resourceCount, typeCount }) => {
    const vector = (max: number) => {
      return fc.array(fc.integer({ min: 0, max }), {
        minLength: resourceCount,
        maxLength: resourceCount,
      });
    };
    const perType = <T>(value: fc.Arbitrary<T>) => {
      return fc.array(value, { minLength: typeCount, maxLength: typeCount });
    };
    const type = fc.record(
      {
        capacity: vector(12),
        price: fc.integer({ min: 0, max: 9 }),
        hostsPerUnit: fc.integer({ min: 1, max: 3 }),
        max: fc.integer({ min: 0, max: 6 }),
      },
      { requiredKeys: ['capacity', 'price'] },
    );
    const shape = fc.record(
      {
        need: vector(8),
        count: fc.integer({ min: 0, max: 30 }),
        on: fc.uniqueArray(fc.integer({ min: 0, max: Math.max(0, typeCount - 1) })),
      },
      { requiredKeys: ['need', 'count'] },
    );
    const room = fc.record({
      type: fc.integer({ min: 0, max: Math.max(0, typeCount - 1) }),
      free: vector(14),
      count: fc.integer({ min: 0, max: 4 }),
    });
    return fc.record({
      resourceCount: fc.constant(resourceCount),
      types: perType(type),
      shapes: fc.array(shape, { maxLength: 6 }),
      rooms: typeCount === 0 ? fc.constant([]) : fc.array(room, { maxLength: 5 }),
      budgets: fc.array(
        fc.record({
          left: fc.integer({ min: 0, max: 30 }),
          use: perType(fc.integer({ min: 0, max: 4 })),
        }),
        { maxLength: 2 },
      ),
    });
  })
  .map(aProblem);

describe('laws', () => {
  test('no host is overfull, no budget broken, no copy lost, none left out that still fits', () => {
    fc.assert(
      fc.property(problems, (problem) => {
        expect(faultsOf(problem, pack(problem, effort))).toEqual([]);
      }),
      { numRuns: 600 },
    );
  });

  test('quick fillings, for want of effort, hold to the same', () => {
    fc.assert(
      fc.property(problems, fc.integer({ min: 0, max: 50 }), (problem, workMax) => {
        expect(faultsOf(problem, pack(problem, { roundsMax: 2, workMax }))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test('equal problems get equal plans', () => {
    fc.assert(
      fc.property(problems, (problem) => {
        expect(pack(structuredClone(problem), effort)).toEqual(pack(problem, effort));
      }),
      { numRuns: 100 },
    );
  });

  test('no plan costs less than the fluid bound', async () => {
    const solver = createHighsSolver();
    await fc.assert(
      fc.asyncProperty(problems, async (problem) => {
        const plan = pack(problem, effort);
        const outcome = await solver.minimize(fluidProgram(toFluidProblem(problem, plan)));
        expect(outcome.kind).toBe('optimal');
        if (outcome.kind !== 'optimal') return;
        expect(costOf(problem, plan)).toBeGreaterThan(outcome.objective - 1e-6);
      }),
      { numRuns: 200 },
    );
  });
});

/** What the plan placed, for the bound. */
function toFluidProblem(problem: PackProblem, plan: PackPlan): FluidProblem {
  const { resourceCount, shapeCount, typeCount } = problem;
  const pooledRoom = new Float64Array(typeCount * resourceCount);
  for (const { type, free, count } of problem.rooms) {
    free.forEach((amount, k) => (pooledRoom[type * resourceCount + k]! += amount * count));
  }
  // A type counts as allowed where either rule allows it: more freedom only lowers the bound.
  const either = problem.allowed.map((may, pair) => may | problem.allowedInRoom[pair]!);
  return {
    ...problem,
    unitsMin: new Int32Array(typeCount),
    pooledRoom,
    shapes: Array.from({ length: shapeCount }, (_, shape) => ({
      count: problem.count[shape]! - plan.unplaced[shape]!,
      tasks: 1,
      need: problem.need.subarray(shape * resourceCount, (shape + 1) * resourceCount),
      wholeHosts: false,
      allowed: either.subarray(shape * typeCount, (shape + 1) * typeCount),
    })),
  };
}

describe('choices', () => {
  const small: Type = { capacity: [4, 4], price: 10 };
  const large: Type = { capacity: [16, 16], price: 30 };
  const cpuOnly: Type = { capacity: [16, 0], price: 5 };

  // prettier-ignore: a table is read by column
  test.each([
    ['nothing asked, nothing opened', { types: [small], shapes: [] }, [0], 0],
    [
      'no type at all leaves all out',
      { types: [], shapes: [{ need: [1], count: 3 }], resourceCount: 1 },
      [],
      3,
    ],
    [
      'the price of the part used decides, not that of the host',
      { types: [small, large], shapes: [{ need: [1, 1], count: 16 }] },
      [0, 1],
      0,
    ],
    [
      'a small rest goes to a small host',
      { types: [small, large], shapes: [{ need: [1, 1], count: 18 }] },
      [1, 1],
      0,
    ],
    [
      'resources that complement each other share hosts',
      {
        types: [{ capacity: [8, 8], price: 10 }],
        shapes: [
          { need: [6, 2], count: 5 },
          { need: [2, 6], count: 5 },
        ],
      },
      [5],
      0,
    ],
    [
      'what needs no GPU avoids the dear host',
      {
        types: [large, cpuOnly],
        shapes: [
          { need: [4, 4], count: 4 },
          { need: [4, 0], count: 4 },
        ],
      },
      [1, 1],
      0,
    ],
    [
      'a maximum sends the rest elsewhere',
      {
        types: [
          { ...large, max: 1 },
          { ...small, price: 20 },
        ],
        shapes: [{ need: [4, 4], count: 6 }],
      },
      [1, 2],
      0,
    ],
    [
      'a scarce type is kept for what can run nowhere else',
      {
        types: [
          { ...small, max: 2 },
          { ...small, price: 11 },
        ],
        shapes: [
          { need: [4, 4], count: 2 },
          { need: [4, 4], count: 2, on: [0] },
        ],
      },
      [2, 2],
      0,
    ],
    [
      'budgets of 0 open nothing',
      { types: [small], shapes: [{ need: [1, 1], count: 5 }], budgets: [{ left: 0, use: [1] }] },
      [0],
      5,
    ],
    [
      'a shared budget goes where it holds most copies',
      {
        types: [small, large],
        shapes: [{ need: [4, 4], count: 8 }],
        budgets: [{ left: 2, use: [1, 1] }],
      },
      [0, 2],
      0,
    ],
    [
      'short of budget, many small copies before few large ones',
      {
        types: [{ capacity: [8], price: 1, max: 1 }],
        shapes: [
          { need: [8], count: 1 },
          { need: [1], count: 8 },
        ],
      },
      [1],
      1,
    ],
    [
      'free types come first',
      { types: [small, { ...small, price: 0, max: 1 }], shapes: [{ need: [2, 2], count: 3 }] },
      [1, 1],
      0,
    ],
    [
      'units are paid whole',
      { types: [{ ...small, hostsPerUnit: 2 }], shapes: [{ need: [4, 4], count: 5 }] },
      [3],
      0,
    ],
    [
      'hosts of a paid unit come before a cheaper type',
      {
        types: [
          { ...small, hostsPerUnit: 4 },
          { ...small, price: 5 },
        ],
        shapes: [
          { need: [4, 4], count: 1, on: [0] },
          { need: [4, 4], count: 3 },
        ],
      },
      [1, 0],
      0,
    ],
    [
      'tasks that need nothing still need a host',
      { types: [small, { ...small, price: 4 }], shapes: [{ need: [0, 0], count: 1000 }] },
      [0, 1],
      0,
    ],
    [
      'tasks that need nothing ride along',
      {
        types: [small],
        shapes: [
          { need: [0, 0], count: 1000 },
          { need: [4, 4], count: 3 },
        ],
      },
      [3],
      0,
    ],
    [
      'what fits no type is left out alone',
      {
        types: [small],
        shapes: [
          { need: [5, 1], count: 2 },
          { need: [4, 4], count: 1 },
        ],
      },
      [1],
      2,
    ],
    [
      'a type without a resource holds what needs none of it',
      {
        types: [cpuOnly],
        shapes: [
          { need: [16, 0], count: 2 },
          { need: [1, 1], count: 1 },
        ],
      },
      [2],
      1,
    ],
    [
      'amounts near 2^53 fit exactly',
      {
        types: [{ capacity: [Number.MAX_SAFE_INTEGER], price: 1 }],
        shapes: [{ need: [(Number.MAX_SAFE_INTEGER - 1) / 2 + 1], count: 2 }],
      },
      [2],
      0,
    ],
  ] as const)('%s', (_name, table, units, unplaced) => {
    const problem = aProblem(table);
    const plan = pack(problem, effort);
    expect(faultsOf(problem, plan)).toEqual([]);
    expect(unitsOf(problem, plan)).toEqual(units);
    expect(plan.unplaced.reduce((sum, count) => sum + count, 0)).toBe(unplaced);
  });

  // prettier-ignore: a table is read by column
  test.each([
    [
      'take what they can before anything opens',
      [{ need: [2, 2], count: 5 }],
      [{ type: 0, free: [4, 4], count: 2 }],
      [1],
      [4],
    ],
    [
      'take what is dearest elsewhere',
      [
        { need: [4, 0], count: 1 },
        { need: [4, 4], count: 1 },
      ],
      [{ type: 0, free: [4, 4], count: 1 }],
      [0],
      [0, 1],
    ],
    [
      'are left alone where rules forbid',
      [{ need: [1, 1], count: 1, on: [] }],
      [{ type: 0, free: [4, 4], count: 1 }],
      [0],
      [0],
    ],
    [
      'may be larger than an empty host',
      [{ need: [6, 6], count: 2 }],
      [{ type: 0, free: [9, 9], count: 1 }],
      [0],
      [1],
    ],
    [
      'without hosts take nothing',
      [{ need: [1, 1], count: 1 }],
      [{ type: 0, free: [4, 4], count: 0 }],
      [1],
      [0],
    ],
  ] as const)('rooms %s', (_name, shapes, rooms, units, inRooms) => {
    const problem = aProblem({ types: [{ ...small, max: 1 }, cpuOnly], shapes, rooms });
    const plan = pack(problem, effort);
    expect(faultsOf(problem, plan)).toEqual([]);
    expect(unitsOf(problem, plan)[0]).toBe(units[0]);
    const copies = shapes.map((_, shape) => {
      return plan.used.reduce((sum, { count, shapes: inside, copies: each }) => {
        return sum + count * (each[inside.indexOf(shape)] ?? 0);
      }, 0);
    });
    expect(copies).toEqual(inRooms);
  });

  test('types alike are dealt out within the maximum of each', () => {
    const zone: Type = { capacity: [4], price: 3, max: 2 };
    const problem = aProblem({ types: [zone, zone, zone], shapes: [{ need: [4], count: 7 }] });
    const plan = pack(problem, effort);
    expect(unitsOf(problem, plan)).toEqual([2, 2, 2]);
    expect([...plan.unplaced]).toEqual([1]);
  });

  test('worth is the price of one more copy, and 0 for what rooms took', () => {
    const problem = aProblem({
      types: [{ capacity: [4], price: 12 }],
      shapes: [
        { need: [1], count: 8 },
        { need: [3], count: 1, on: [] },
        { need: [2], count: 1 },
      ],
      rooms: [{ type: 0, free: [2], count: 1 }],
    });
    const { worth } = pack(problem, effort);
    expect([...worth].map((price) => Math.round(price))).toEqual([3, 0, 0]);
  });

  test('ten thousand rooms are filled until nothing more fits', () => {
    const rooms = Array.from({ length: 10_000 }, (_, index): Room => {
      return { type: index % 2, free: [index % 5, index % 3], count: 1 };
    });
    const shapes = Array.from({ length: 12 }, (_, index): Shape => {
      return { need: [1 + (index % 3), index % 2], count: 700 };
    });
    const problem = aProblem({ types: [{ ...small, max: 0 }, small], shapes, rooms });
    const plan = pack(problem, effort);
    expect(faultsOf(problem, plan)).toEqual([]);
    expect(plan.used.length).toBeGreaterThan(4_000);
  });

  test('a hundred times the copies take about the same work', () => {
    const shapes = Array.from({ length: 40 }, (_, index): Shape => {
      return { need: [1 + (index % 7), 1 + (index % 5)], count: 100_000 + index };
    });
    const problem = aProblem({ types: [small, large], shapes: [...shapes] });
    const plan = pack(problem, effort);
    expect(faultsOf(problem, plan)).toEqual([]);
    expect(plan.opened.length).toBeLessThan(400);
  });
});

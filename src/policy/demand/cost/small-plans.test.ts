import { expect, test } from 'vitest';
import { type Random, seededRandom } from '../../../support/random.ts';
import type { PackProblem } from './pack-problem.ts';
import { pack } from './pack.ts';

interface Type {
  readonly cpu: number;
  readonly hostsPerUnit: number;
  readonly unitsMax: number;
  readonly price: number;
}

interface Small {
  readonly types: readonly Type[];
  readonly each: number;
  readonly count: number;
  readonly fleetMax: number;
}

const pick = (random: Random, items: readonly number[]): number =>
  items[Math.floor(random() * items.length)] ?? 0;

function aSmallProblem(random: Random): Small {
  const types = Array.from({ length: pick(random, [2, 3]) }, (): Type => {
    const cpu = pick(random, [2, 4, 8, 16, 32]);
    const hostsPerUnit = pick(random, [1, 1, 1, 2]);
    const price = Math.round(cpu * pick(random, [0.8, 0.9, 1, 1.1, 1.3]) * 100) * hostsPerUnit;
    return { cpu, hostsPerUnit, unitsMax: pick(random, [1, 2, 5, 50]), price };
  });
  const count = 1 + Math.floor(random() * pick(random, [4, 12, 60]));
  return { types, each: pick(random, [1, 2, 3, 5]), count, fleetMax: pick(random, [2, 4, 999]) };
}

const only = (length: number, at: number): Float64Array =>
  Float64Array.from({ length }, (_, index) => (index === at ? 1 : 0));

function toProblem({ types, each, count, fleetMax }: Small): PackProblem {
  const fits = Uint8Array.from(types, ({ cpu }) => (cpu >= each ? 1 : 0));
  return {
    resourceCount: 1,
    shapeCount: 1,
    typeCount: types.length,
    need: Float64Array.of(each),
    count: Int32Array.of(count),
    capacity: Float64Array.from(types, ({ cpu }) => cpu),
    hostsPerUnit: Int32Array.from(types, ({ hostsPerUnit }) => hostsPerUnit),
    unitPrice: Float64Array.from(types, ({ price }) => price),
    allowed: fits,
    allowedInRoom: fits,
    budgets: [
      ...types.map(({ unitsMax }, type) => ({ left: unitsMax, use: only(types.length, type) })),
      { left: fleetMax, use: new Float64Array(types.length).fill(1) },
    ],
    rooms: [],
  };
}

interface Answer {
  readonly placed: number;
  readonly cost: number;
}

/** The best answer by trying every number of units of every type. */
function enumerate({ types, each, count, fleetMax }: Small): Answer {
  let best: Answer = { placed: -1, cost: Infinity };
  const go = (at: number, room: number, cost: number, units: number): void => {
    const type = types[at];
    if (type === undefined) {
      const placed = Math.min(room, count);
      const isBetter = placed > best.placed || (placed === best.placed && cost < best.cost);
      if (isBetter) best = { placed, cost };
      return;
    }
    const holds = Math.floor(type.cpu / each) * type.hostsPerUnit;
    for (let n = 0; n <= Math.min(type.unitsMax, fleetMax - units); n++) {
      go(at + 1, room + n * holds, cost + n * type.price, units + n);
      if (holds === 0 || room + n * holds >= count) break;
    }
  };
  go(0, 0, 0, 0);
  return best;
}

function solve(small: Small): Answer {
  const { opened, unplaced } = pack(toProblem(small), { roundsMax: 60, workMax: 1_000_000 });
  const hosts = small.types.map((_, at) =>
    opened.reduce((sum, { type, count }) => sum + (type === at ? count : 0), 0),
  );
  const cost = small.types.reduce((sum, { hostsPerUnit, price }, at) => {
    return sum + Math.ceil((hosts[at] ?? 0) / hostsPerUnit) * price;
  }, 0);
  return { placed: small.count - (unplaced[0] ?? 0), cost };
}

test('small plans place as much as can be placed, for the least money but in rare cases', () => {
  const random = seededRandom(11);
  const problems = Array.from({ length: 800 }, () => aSmallProblem(random));
  const answers = problems.map((small) => ({ ours: solve(small), best: enumerate(small) }));
  expect(answers.filter(({ ours, best }) => ours.placed < best.placed)).toEqual([]);
  const dearer = answers.filter(({ ours, best }) => ours.cost > best.cost);
  expect(dearer.length).toBeLessThanOrEqual(8);
  const total = (read: (answer: (typeof answers)[number]) => number): number =>
    answers.reduce((sum, answer) => sum + read(answer), 0);
  expect(total(({ ours }) => ours.cost) / total(({ best }) => best.cost)).toBeLessThan(1.004);
});

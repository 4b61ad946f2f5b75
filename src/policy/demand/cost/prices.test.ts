import { expect, test } from 'vitest';
import { type LinearRow, toLinearProgram } from '../../../model/linear-program.ts';
import { createHighsSolver } from '../../../solver/highs.ts';
import { type Random, seededRandom } from '../../../support/random.ts';
import type { PriceProgram } from './price-program.ts';
import { solvePrices } from './prices.ts';

// Indices run over the arrays made here, hence the `!`.

const integer = (random: Random, max: number): number => Math.floor(random() * (max + 1));

/** A program with limits tight enough that some of them bind and some copies overflow. */
function randomProgram(random: Random): PriceProgram {
  const resourceCount = 1 + integer(random, 2);
  const typeCount = 1 + integer(random, 5);
  const shapeCount = 1 + integer(random, 11);
  const budgetCount = integer(random, 2);
  const pairStart = new Int32Array(shapeCount + 1);
  const pairShape: number[] = [];
  const pairType: number[] = [];
  const share: number[] = [];
  for (let shape = 0; shape < shapeCount; shape++) {
    for (let type = 0; type < typeCount; type++) {
      if (random() < 0.4) continue;
      pairShape.push(shape);
      pairType.push(type);
      for (let k = 0; k < resourceCount; k++) share.push(random() < 0.2 ? 0 : random());
    }
    pairStart[shape + 1] = pairShape.length;
  }
  const perType = (read: () => number): Float64Array => {
    return Float64Array.from({ length: typeCount }, read);
  };
  return {
    shapeCount,
    typeCount,
    resourceCount,
    count: Float64Array.from({ length: shapeCount }, () => 1 + integer(random, 49)),
    pairCount: pairShape.length,
    pairStart,
    pairShape: Int32Array.from(pairShape),
    pairType: Int32Array.from(pairType),
    share: Float64Array.from(share),
    hostPrice: perType(() => (random() < 0.1 ? 0 : random())),
    hostsMax: perType(() => (random() < 0.5 ? Infinity : integer(random, 30))),
    budgetCount,
    use: Float64Array.from({ length: budgetCount * typeCount }, () => integer(random, 2) / 2),
    left: Float64Array.from({ length: budgetCount }, () => integer(random, 40)),
    overflowPrice: 100,
  };
}

/** The same program in full, with a row per shape. Variables: hosts, pairs, overflow. */
function inFull(program: PriceProgram) {
  const { shapeCount, typeCount, resourceCount, pairCount, pairType, pairShape, share } = program;
  const free = { cost: 0, min: 0, max: Infinity };
  const variables = [
    ...Array.from(program.hostPrice, (cost, type) => ({
      cost,
      min: 0,
      max: program.hostsMax[type]!,
    })),
    ...Array.from({ length: pairCount }, () => free),
    ...Array.from({ length: shapeCount }, () => ({ ...free, cost: program.overflowPrice })),
  ];
  const pairs = [...pairType.keys()];
  const rows: LinearRow[] = [];
  for (let shape = 0; shape < shapeCount; shape++) {
    const own = pairs.filter((pair) => pairShape[pair] === shape);
    const placed = [...own.map((pair) => typeCount + pair), typeCount + pairCount + shape];
    const count = program.count[shape]!;
    rows.push({ min: count, max: count, entries: placed.map((variable) => [variable, 1]) });
  }
  for (let type = 0; type < typeCount; type++) {
    const own = pairs.filter((pair) => pairType[pair] === type);
    for (let k = 0; k < resourceCount; k++) {
      const needs = own.map(
        (pair) => [typeCount + pair, share[pair * resourceCount + k]!] as const,
      );
      rows.push({ min: -Infinity, max: 0, entries: [[type, -1], ...needs] });
    }
  }
  for (let budget = 0; budget < program.budgetCount; budget++) {
    const use = program.use.subarray(budget * typeCount, (budget + 1) * typeCount);
    rows.push({ min: -Infinity, max: program.left[budget]!, entries: [...use.entries()] });
  }
  return toLinearProgram(variables, rows);
}

test('costs, prices and worths agree with a reference solver', async () => {
  const solver = createHighsSolver();
  const random = seededRandom(11);
  for (let round = 0; round < 150; round++) {
    const program = randomProgram(random);
    const prices = solvePrices(program, 10_000);
    const reference = await solver.minimize(inFull(program));
    expect(reference.kind).toBe('optimal');
    if (reference.kind !== 'optimal') continue;
    const overflow = prices.overflow.reduce((sum, copies) => sum + copies, 0);
    const total = prices.cost + program.overflowPrice * overflow;
    expect(total).toBeCloseTo(reference.objective, 2);

    // No pair is cheaper than the shape is worth, and no shape is worth more than leaving it out.
    expect(Math.min(0, ...prices.excess)).toBeGreaterThan(-1e-6);
    expect(Math.max(0, ...prices.worth)).toBeLessThan(program.overflowPrice + 1e-6);
  }
});

test('worths are what one more copy adds to the cost', () => {
  // Two types of one resource: a host at 1 for two copies, at most three hosts; then one at 3.
  const program: PriceProgram = {
    shapeCount: 1,
    typeCount: 2,
    resourceCount: 1,
    count: Float64Array.of(8),
    pairCount: 2,
    pairStart: Int32Array.of(0, 2),
    pairShape: Int32Array.of(0, 0),
    pairType: Int32Array.of(0, 1),
    share: Float64Array.of(0.5, 0.5),
    hostPrice: Float64Array.of(1, 3),
    hostsMax: Float64Array.of(3, Infinity),
    budgetCount: 0,
    use: new Float64Array(0),
    left: new Float64Array(0),
    overflowPrice: 100,
  };
  const prices = solvePrices(program, 100);
  expect(prices.worth[0]).toBeCloseTo(1.5);
  expect(prices.cost).toBeCloseTo(6);
  expect([...prices.hosts].map((hosts) => Math.round(hosts * 1e3) / 1e3)).toEqual([3, 1]);
  expect([...prices.hostWorth]).toEqual([3, 3]); // the limit makes the cheap host worth as much
});

test('pivots that run out still leave numbers to go by', () => {
  const random = seededRandom(5);
  for (let round = 0; round < 30; round++) {
    const prices = solvePrices(randomProgram(random), 3);
    expect([...prices.worth, ...prices.hosts, ...prices.hostWorth].every(Number.isFinite)).toBe(
      true,
    );
  }
});

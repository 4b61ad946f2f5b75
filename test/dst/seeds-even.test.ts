import { expect, test } from 'vitest';
import { runSeed } from '../../src/sim/dst.ts';

// Half of a hundred seeds; the other half runs beside it. Any number more: npm run dst -- --seeds N

const seeds = Array.from({ length: 50 }, (_, n) => n * 2 + 2);

test.each(seeds)('seed %i keeps every promise', async (seed) => {
  const { broken, tickCount } = await runSeed(seed);
  const replay = `npm run dst -- --seeds 1 --from ${seed} --verbose`;
  expect(broken, replay).toEqual([]);
  expect(tickCount).toBeGreaterThan(50);
});

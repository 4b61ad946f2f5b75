import { expect, test } from 'vitest';
import { makeAsks } from './asks.ts';
import { makeCandidate, openCandidateRegistry } from './candidates.ts';
import { openTrial } from './fill.ts';
import type { Demand, Labels, Resources, Selector, UtilizationProblem } from './problem.ts';
import { inPackingOrder, makeLine } from './requests.ts';
import { compareScores, usedWorth } from './score.ts';

const emptyProblem: UtilizationProblem = {
  nodeTypes: [],
  nodes: [],
  demands: [],
  gangs: [],
  constraints: [],
  limits: { maxNodes: null, idleTimeoutS: null, checkConfig: false },
  availability: {},
  recovery: {},
};

const need = (resources: Resources, selectors: readonly Selector[] = []): Demand => ({
  resources,
  selectors,
  count: 1,
});
const accelerator = (value: string): Selector => [{ key: 'acc', op: 'in', values: [value] }];

/** Fills one fresh node and tells what is left over and how it scores. */
function tryNode(total: Resources, demands: readonly Demand[], labels: Labels = {}, free = total) {
  const registry = openCandidateRegistry({ ...emptyProblem, demands });
  const lines = inPackingOrder(demands).map((demand, source) =>
    makeLine(registry, demand, { count: demand.count, source }),
  );
  const asks = makeAsks(lines, registry.columns.size, null);
  const trial = openTrial(makeCandidate(registry, { type: 't', total, free, labels }), asks);
  const takenCount = trial.counts.reduce((sum, count) => sum + count, 0);
  const { preference, gpuOk, kinds, min, mean } = trial.score;
  return { left: asks.leftCount - takenCount, score: [preference, gpuOk, kinds, min, mean] };
}

const implicit = { 'node:__internal_implicit_resource_a': 1 };
const cpuAndGpu = [need({ GPU: 1, CPU: 1 }), need({ GPU: 1 })];
const anyOfThree = need({ CPU: 1 }, [accelerator('TPU'), accelerator('B200'), accelerator('A100')]);

// A table is read by column.
// prettier-ignore
test.each([
  // node                 requests                                left  label gpu kinds min mean
  [{ CPU: 1 },            [need({ CPU: 1 })],                      0,   [0, 1, 1, 1, 1]],
  [{ GPU: 4 },            [need({ GPU: 2 })],                      0,   [0, 1, 1, 0.5, 0.5]],
  [{ GPU: 4 },            [need({ GPU: 1 }), need({ GPU: 1 })],    0,   [0, 1, 1, 0.5, 0.5]],
  [{ GPU: 2 },            [need({ GPU: 2 })],                      0,   [0, 1, 1, 2, 2]],
  [{ GPU: 1 },            cpuAndGpu,                               1,   [0, 1, 1, 1, 1]],
  [{ GPU: 1, CPU: 1 },    cpuAndGpu,                               1,   [0, 1, 2, 1, 1]],
  [{ GPU: 2, TPU: 1 },    [need({ GPU: 2 })],                      0,   [0, 1, 1, 0, 1]],
  [{ CPU: 64 },           [need({ CPU: 64 })],                     0,   [0, 1, 1, 64, 64]],
  [{ CPU: 64 },           [need({ CPU: 32 })],                     0,   [0, 1, 1, 8, 8]],
  [{ CPU: 64 },           [need({ CPU: 16 }), need({ CPU: 16 })],  0,   [0, 1, 1, 8, 8]],
  [{ GPU: 1, CPU: 1 },    [need({ CPU: 1 })],                      0,   [0, 0, 1, 0, 0.5]],
  [{ GPU: 1, CPU: 1 },    [need({ GPU: 1 })],                      0,   [0, 1, 1, 0, 0.5]],
  [{ CPU: 0, custom: 1 }, [need({ custom: 1 })],                   0,   [0, 1, 1, 1, 1]],
  [{ CPU: 0, custom: 1 }, [need({ CPU: 1 })],                      1,   [0, 1, 0, 0, 0]],
  [{ CPU: 1 },            [need(implicit), need(implicit)],        1,   [0, 1, 0, 0, 0]],
  [{},                    [need({})],                              0,   [0, 1, 0, 0, 0]],
] as const)('a node of %j given %j', (total, demands, left, score) => {
  expect(tryNode(total, demands)).toEqual({ left, score });
});

test('the earlier of the alternatives that hold scores higher', () => {
  const [third, first, none] = ['A100', 'TPU', 'L4'].map((label) =>
    tryNode({ CPU: 1 }, [anyOfThree], { acc: label }),
  );
  expect(third).toEqual({ left: 0, score: [1, 1, 1, 1, 1] });
  expect(first).toEqual({ left: 0, score: [3, 1, 1, 1, 1] });
  expect(none).toEqual({ left: 1, score: [0, 1, 0, 0, 0] });
});

test('a zero of GPU is enough to name it', () => {
  expect(tryNode({ GPU: 1, CPU: 1 }, [need({ CPU: 1, GPU: 0 })]).score).toEqual([0, 1, 1, 0, 0.5]);
});

test('a resource whose free amount is not reported does not count', () => {
  const used = { CPU: 4, memory: 8 };
  const asked = [need({ CPU: 2 })];
  expect(tryNode(used, asked, {}, { CPU: 4, memory: 0 }).score).toEqual([0, 1, 1, 0.5, 4.25]);
  expect(tryNode(used, asked, {}, { CPU: 4 }).score).toEqual([0, 1, 1, 0.5, 0.5]);
});

test('half of a large node is worth more than all of a small one', () => {
  expect(usedWorth(64, 31)).toBeGreaterThan(usedWorth(2, 0));
  expect(usedWorth(64, 44)).toBeLessThan(usedWorth(2, 0));
});

test('terms are compared in order', () => {
  const tie = { preference: 1, gpuOk: 1, kinds: 1, min: 1, mean: 1, rank: 1 };
  expect(compareScores(tie, { ...tie })).toBe(0);
  const terms = ['preference', 'gpuOk', 'kinds', 'min', 'mean', 'rank'] as const;
  for (const [i, term] of terms.entries()) {
    const later = Object.fromEntries(terms.slice(i + 1).map((name) => [name, 9]));
    expect(compareScores({ ...tie, [term]: 2 }, { ...tie, ...later })).toBeGreaterThan(0);
  }
});

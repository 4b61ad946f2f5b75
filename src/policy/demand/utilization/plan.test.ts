import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { UtilizationPlan } from './outcome.ts';
import { planUtilization } from './plan.ts';
import type { ClusterNode, Demand, Gang, NodeType, UtilizationProblem } from './problem.ts';

/** Answers of the original planner. The files are ours and have the shape that is read here. */
interface GoldenCase {
  readonly id: string;
  readonly given: UtilizationProblem;
  readonly expect: Pick<UtilizationPlan, 'launch' | 'terminate' | 'infeasible'>;
}

function readGolden(name: string): readonly GoldenCase[] {
  const url = new URL(`../../../../test/cases/${name}.json`, import.meta.url);
  // Shape: see GoldenCase.
  return (JSON.parse(readFileSync(url, 'utf8')) as { cases: readonly GoldenCase[] }).cases;
}

describe.each(['utilization', 'utilization-rows'])('golden answers of %s', (name) => {
  test.each(readGolden(name).map((golden) => [golden.id, golden] as const))('%s', (_id, golden) => {
    const { launch, terminate, infeasible } = planUtilization(golden.given);
    expect({ launch, terminate, infeasible }).toEqual(golden.expect);
  });
});

const aType = (over: Partial<NodeType> = {}): NodeType => ({
  name: 'a',
  resources: { CPU: 4 },
  min: 0,
  max: 10,
  labels: {},
  priority: 0,
  idleTimeoutS: null,
  configHash: '',
  ...over,
});

const aNode = (over: Partial<ClusterNode> = {}): ClusterNode => ({
  id: 'n1',
  type: 'a',
  kind: 'worker',
  state: 'running',
  total: { CPU: 4 },
  available: { CPU: 4 },
  labels: {},
  idleMs: 0,
  configHash: '',
  ...over,
});

const cpus = (quantity: number, count: number): Demand => ({
  resources: { CPU: quantity },
  selectors: [],
  count,
});

const aGang = (strategy: Gang['strategy'], bundleCount: number): Gang => ({
  id: 'g',
  strategy,
  bundles: Array.from({ length: bundleCount }, () => ({ resources: { CPU: 2 }, selectors: [] })),
});

const aProblem = (over: Partial<UtilizationProblem> = {}): UtilizationProblem => ({
  nodeTypes: [aType()],
  nodes: [],
  demands: [],
  gangs: [],
  constraints: [],
  limits: { maxNodes: null, idleTimeoutS: null, checkConfig: false },
  availability: {},
  recovery: {},
  ...over,
});

test('an empty problem has an empty plan', () => {
  expect(planUtilization(aProblem({ nodeTypes: [] }))).toEqual({
    launch: {},
    terminate: {},
    infeasible: { demands: [], gangs: [], constraints: false },
    launched: [],
    terminated: [],
    placements: { constraints: [], demands: [], gangs: [] },
  });
});

describe('placements', () => {
  test('tell where each demand goes, nodes before launches', () => {
    const plan = planUtilization(aProblem({ nodes: [aNode()], demands: [cpus(1, 2), cpus(3, 2)] }));
    const node = { kind: 'node', id: 'n1' };
    const launch = { kind: 'launch', type: 'a', index: 0 };
    expect(plan.placements.demands).toEqual([
      [
        { where: node, count: 1 },
        { where: launch, count: 1 },
      ],
      [
        { where: node, count: 1 },
        { where: launch, count: 1 },
      ],
    ]);
    expect(plan.launched).toEqual([
      {
        type: 'a',
        index: 0,
        cause: 'demand',
        hosts: [
          { kind: 'demand', demand: 1, count: 1 },
          { kind: 'demand', demand: 0, count: 1 },
        ],
      },
    ]);
  });

  test('tell where each bundle goes', () => {
    const { placements } = planUtilization(aProblem({ gangs: [aGang('STRICT_SPREAD', 2)] }));
    const bundles = [0, 1].map((index) => ({ kind: 'launch', type: 'a', index }));
    expect(placements.gangs).toEqual([{ kind: 'placed', id: 'g', bundles }]);
  });

  test('put all bundles of a STRICT_PACK gang on one node', () => {
    const { placements } = planUtilization(aProblem({ gangs: [aGang('STRICT_PACK', 2)] }));
    const where = { kind: 'launch', type: 'a', index: 0 };
    expect(placements.gangs).toEqual([{ kind: 'placed', id: 'g', bundles: [where, where] }]);
  });

  test('leave no trace of a gang that does not fit', () => {
    const plan = planUtilization(aProblem({ gangs: [aGang('STRICT_PACK', 3)] }));
    expect(plan.placements.gangs).toEqual([{ kind: 'unplaced', id: 'g' }]);
    expect(plan.launched).toEqual([]);
  });

  test('name the nodes that make up the floor', () => {
    const plan = planUtilization(
      aProblem({ nodes: [aNode({ available: {} })], constraints: [cpus(4, 2)] }),
    );
    expect(plan.placements.constraints).toEqual([
      [
        { where: { kind: 'node', id: 'n1' }, count: 1 },
        { where: { kind: 'launch', type: 'a', index: 0 }, count: 1 },
      ],
    ]);
    expect(plan.launched[0]).toMatchObject({ cause: 'constraint' });
  });
});

describe('budgets', () => {
  const small = aType({ name: 'small', resources: { CPU: 1 } });

  test('stop launches when one of them is used up', () => {
    const budgets = [
      { left: 100, use: { a: 1 } },
      { left: 5, use: { a: 2 } },
    ];
    const plan = planUtilization(aProblem({ demands: [cpus(4, 4)], budgets }));
    expect(plan.launch).toEqual({ a: 2 });
    expect(plan.infeasible.demands).toEqual([cpus(4, 2)]);
  });

  test('turn to a type that is still affordable', () => {
    const nodeTypes = [aType(), small];
    const budgets = [{ left: 1, use: { a: 1 } }];
    const plan = planUtilization(aProblem({ nodeTypes, demands: [cpus(1, 8)], budgets }));
    expect(plan.launch).toEqual({ a: 1, small: 4 });
  });

  test('that are overdrawn stop only the types that draw on them', () => {
    const nodeTypes = [aType(), small];
    const budgets = [{ left: -1, use: { a: 1 } }];
    const plan = planUtilization(aProblem({ nodeTypes, demands: [cpus(1, 2)], budgets }));
    expect(plan.launch).toEqual({ small: 2 });
  });

  test('bound the minimum too, and are not spent by a gang that fails', () => {
    const nodeTypes = [aType({ min: 3 })];
    const budgets = [{ left: 2, use: { a: 1 } }];
    expect(planUtilization(aProblem({ nodeTypes, budgets })).launch).toEqual({ a: 2 });
    const gangs = [aGang('STRICT_SPREAD', 3)];
    const plan = planUtilization(aProblem({ gangs, demands: [cpus(4, 2)], budgets }));
    expect([plan.launch, plan.infeasible.gangs]).toEqual([{ a: 2 }, ['g']]);
  });
});

describe('where the original fails', () => {
  test('a running node of an unknown type is left alone and may work', () => {
    const plan = planUtilization(
      aProblem({ nodes: [aNode({ type: 'gone' })], demands: [cpus(4, 1)] }),
    );
    expect([plan.launch, plan.terminate]).toEqual([{}, {}]);
  });

  test('minimums above maxNodes are cut, and nothing that does not exist is ended', () => {
    const nodeTypes = [aType({ min: 2 }), aType({ name: 'b', min: 2 })];
    const limits = { maxNodes: 3, idleTimeoutS: null, checkConfig: false };
    const plan = planUtilization(aProblem({ nodeTypes, limits }));
    expect([plan.launch, plan.terminate]).toEqual([{ a: 1, b: 2 }, {}]);
    expect(plan.launched.map(({ type, index }) => `${type}${index}`)).toEqual(['a0', 'b0', 'b1']);
  });
});

test('equal demands that were not placed are reported as one', () => {
  const demands = [cpus(8, 1), cpus(9, 1), cpus(8, 2)];
  const { infeasible } = planUtilization(aProblem({ demands }));
  expect(infeasible.demands).toEqual([cpus(8, 3), cpus(9, 1)]);
});

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Placement, Where } from './outcome.ts';
import { planUtilization } from './plan.ts';
import type {
  ClusterNode,
  Demand,
  Gang,
  Labels,
  NodeState,
  NodeType,
  Request,
  Resources,
  UtilizationProblem,
} from './problem.ts';

// Long: a second planner. It takes the rules literally: one request at a time, every node copied and
// tried again for every pick, nothing remembered. Slow and plain on purpose; ours must agree with it.

type Ledger = 'free' | 'total';

/** One request, never grouped. `tags` say what it stands for. */
interface Item extends Request {
  readonly tags: readonly string[];
  readonly mark: string | null;
}

interface Node {
  /** Its id, or for a launch `type#index`. */
  name: string;
  readonly type: string;
  readonly isHead: boolean;
  readonly isRunning: boolean;
  readonly idleMs: number;
  readonly hash: string;
  readonly resources: Resources;
  labels: Record<string, string>;
  readonly left: Record<Ledger, Record<string, number>>;
  readonly items: Record<Ledger, Item[]>;
  status: 'kept' | 'launch' | 'outdated' | 'maxPerType' | 'maxTotal' | 'idle';
}

const isEnded = (node: Node): boolean => node.status !== 'kept' && node.status !== 'launch';

function literalNode(
  name: string,
  type: Pick<NodeType, 'name' | 'resources' | 'labels'>,
  over: Partial<Node> = {},
  available: Resources = type.resources,
): Node {
  return {
    name,
    type: type.name,
    isHead: false,
    isRunning: false,
    idleMs: 0,
    hash: '',
    resources: type.resources,
    labels: { ...type.labels },
    left: { free: { ...available }, total: { ...type.resources } },
    items: { free: [], total: [] },
    status: 'kept',
    ...over,
  };
}

const freshNode = (type: NodeType): Node => literalNode('', type, { status: 'launch' });

function literalNodes(problem: UtilizationProblem): Node[] {
  const nodes: Node[] = [];
  for (const node of problem.nodes) {
    const type = problem.nodeTypes.find(({ name }) => name === node.type);
    const isHead = node.kind === 'head';
    if (node.state === 'running') {
      const { total = {}, available = {}, labels = {}, idleMs = 0, configHash = '' } = node;
      const own = { name: node.type, resources: total, labels };
      const over = { isHead, isRunning: true, idleMs, hash: configHash };
      nodes.push(literalNode(node.id, own, over, available));
    } else if (
      !['queued', 'requested', 'allocated', 'installing', 'stopRequested'].includes(node.state)
    ) {
      continue;
    } else if (type !== undefined) {
      nodes.push(literalNode(node.id, type, { isHead }));
    } else if (problem.limits.checkConfig) {
      const own = { name: node.type, resources: {}, labels: {} };
      nodes.push(literalNode(node.id, own, { status: 'outdated' }));
    }
  }
  return nodes;
}

const copyOf = (node: Node): Node => ({
  ...node,
  labels: { ...node.labels },
  left: { free: { ...node.left.free }, total: { ...node.left.total } },
  items: { free: [...node.items.free], total: [...node.items.total] },
});

function literalPreference({ selectors }: Request, labels: Labels): number {
  for (const [i, selector] of selectors.entries()) {
    const isMatch = selector.every(({ key, op, values }) => {
      const isIn = values.includes(labels[key] ?? 'no such value');
      return op === 'in' ? isIn : !isIn;
    });
    if (isMatch) return selectors.length - i;
  }
  return 0;
}

function place(node: Node, item: Item, ledger: Ledger): boolean {
  const left = node.left[ledger];
  if (item.selectors.length > 0 && literalPreference(item, node.labels) === 0) return false;
  if (item.mark !== null && item.mark in node.labels) return false;
  if (Object.entries(item.resources).some(([name, need]) => need > (left[name] ?? 0))) return false;
  for (const [name, need] of Object.entries(item.resources)) {
    if (need > 0) left[name] = (left[name] ?? 0) - need;
  }
  node.items[ledger].push(item);
  if (item.mark !== null) node.labels[item.mark] = '';
  return true;
}

function literalScore(problem: UtilizationProblem, node: Node, ledger: Ledger): number[] {
  const items = node.items[ledger];
  const asked = new Set(
    items.flatMap(({ resources }) =>
      Object.keys(resources).filter((name) => resources[name] !== 0),
    ),
  );
  const worths = Object.entries(node.resources)
    .filter(([name, total]) => total !== 0 && name in node.left[ledger])
    .map(([name, total]) => total * ((total - (node.left[ledger][name] ?? 0)) / total) ** 3);
  const isGpu = (node.resources['GPU'] ?? 0) > 0;
  return [
    items.map((item) => literalPreference(item, node.labels)).find((score) => score > 0) ?? 0,
    isGpu && !items.some(({ resources }) => 'GPU' in resources) ? 0 : 1,
    [...asked].filter((name) => name in node.resources).length,
    worths.length === 0 ? 0 : Math.min(...worths),
    worths.length === 0 ? 0 : worths.reduce((sum, worth) => sum + worth) / worths.length,
    problem.recovery[node.type] ?? 1,
    problem.nodeTypes.find(({ name }) => name === node.type)?.priority ?? 0,
    problem.availability[node.type] ?? 1,
  ];
}

/** The first difference decides; a list that is the other's beginning is less. */
function compareLists(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  for (const [i, value] of a.entries()) {
    const other = b[i];
    if (other === undefined) return 1;
    if (value !== other) return value < other ? -1 : 1;
  }
  return a.length - b.length;
}

/** Takes the best candidate out of the list and gives it what it can take of the items. */
function takeBest(
  problem: UtilizationProblem,
  nodes: Node[],
  items: readonly Item[],
  ledger: Ledger,
) {
  let best: { node: Node; rest: Item[]; score: number[]; at: number } | null = null;
  for (const [at, candidate] of nodes.entries()) {
    const node = copyOf(candidate);
    const rest = items.filter((item) => !place(node, item, ledger));
    if (rest.length === items.length) continue;
    const score = literalScore(problem, node, ledger);
    if (best === null || compareLists(score, best.score) > 0) best = { node, rest, score, at };
  }
  if (best !== null) nodes.splice(best.at, 1);
  return best;
}

function launchable(problem: UtilizationProblem, nodes: readonly Node[], type: NodeType): boolean {
  const launches = nodes.filter(({ status }) => status === 'launch');
  return (problem.budgets ?? []).every(({ left, use }) => {
    const spent = launches.reduce((sum, launch) => sum + (use[launch.type] ?? 0), 0);
    return spent + (use[type.name] ?? 0) <= left;
  });
}

const sortKey = ({ resources, selectors }: Request): (number | string)[] => [
  selectors[0]?.length ?? 0,
  Object.keys(resources).length,
  Object.values(resources).reduce((sum, quantity) => sum + quantity, 0),
  ...Object.entries(resources)
    .sort((a, b) => compareLists(a, b))
    .flat(),
];

function literalPack(
  problem: UtilizationProblem,
  nodes: readonly Node[],
  items: readonly Item[],
  ledger: Ledger,
): { nodes: Node[]; rest: readonly Item[] } {
  const waiting = [...nodes];
  const packed: Node[] = [];
  let rest: readonly Item[] = [...items].sort((a, b) => compareLists(sortKey(b), sortKey(a)));
  for (let best; (best = takeBest(problem, waiting, rest, ledger)) !== null; { rest } = best) {
    packed.push(best.node);
  }
  packed.push(...waiting);
  let types = problem.nodeTypes;
  for (;;) {
    if (packed.length >= (problem.limits.maxNodes ?? Number.POSITIVE_INFINITY)) break;
    types = types.filter(
      (type) =>
        packed.filter((node) => node.type === type.name).length < type.max &&
        launchable(problem, packed, type),
    );
    const best = takeBest(problem, types.map(freshNode), rest, ledger);
    if (best === null) break;
    const used = types.filter(({ name }) => name === best.node.type);
    types = [...types.filter(({ name }) => name !== best.node.type), ...used];
    const index = packed.filter(
      ({ status, type }) => status === 'launch' && type === best.node.type,
    ).length;
    best.node.name = `${best.node.type}#${index}`;
    packed.push(best.node);
    ({ rest } = best);
  }
  return { nodes: packed, rest };
}

/** Ends `excess` nodes; the list comes back with those first. Launches in excess just vanish. */
function endExcess(nodes: readonly Node[], excess: number, cause: Node['status']): Node[] {
  if (excess <= 0) return [...nodes];
  const key = ({ isRunning, idleMs, resources, left }: Node): number[] => {
    const totals = Object.entries(resources).filter(([, total]) => total > 0);
    const ratios = totals.map(([name, total]) => (total - (left.free[name] ?? 0)) / total);
    const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / Math.max(1, ratios.length);
    return [Number(isRunning), -idleMs, mean];
  };
  const sorted = [...nodes].sort((a, b) => compareLists(key(a), key(b)));
  const head = sorted.findIndex(({ isHead }) => isHead);
  const heads = head < 0 ? [] : sorted.splice(head, 1);
  const ended = sorted.splice(0, excess).filter(({ status }) => status !== 'launch');
  for (const node of ended) node.status = cause;
  return [...ended, ...sorted, ...heads];
}

function literalLimits(problem: UtilizationProblem): Node[] {
  const { nodeTypes, limits } = problem;
  const nodes = literalNodes(problem);
  for (const node of nodes) {
    const type = nodeTypes.find(({ name }) => name === node.type);
    const isFine = type !== undefined && (type.configHash === '' || type.configHash === node.hash);
    if (limits.checkConfig && !node.isHead && !isFine) node.status = 'outdated';
  }
  const launches: Node[] = [];
  for (const type of nodeTypes) {
    const have = nodes.filter((node) => node.type === type.name && !isEnded(node)).length;
    for (let i = have; i < type.min && launchable(problem, launches, type); i++) {
      launches.push(freshNode(type));
    }
  }
  const ended = nodes.filter(isEnded);
  const alive = [...launches, ...nodes].filter((node) => !isEnded(node));
  const byType = [...new Set(alive.map(({ type }) => type))].flatMap((name) => {
    const max = nodeTypes.find((type) => type.name === name)?.max ?? Number.POSITIVE_INFINITY;
    const ofType = alive.filter(({ type }) => type === name);
    return endExcess(ofType, ofType.length - max, 'maxPerType');
  });
  const kept = byType.filter((node) => !isEnded(node));
  const excess = limits.maxNodes ? kept.length - limits.maxNodes : 0;
  const limited = [...ended, ...byType.filter(isEnded), ...endExcess(kept, excess, 'maxTotal')];
  const kinds: Record<string, number> = {};
  for (const node of limited.filter(({ status }) => status === 'launch')) {
    const index = kinds[node.type] ?? 0;
    kinds[node.type] = index + 1;
    node.name = `${node.type}#${index}`;
  }
  return limited;
}

function itemsOf(demands: readonly Demand[], kind: string): Item[] {
  return demands.flatMap(({ resources, selectors, count }, i) =>
    Array.from({ length: count }, () => ({
      resources,
      selectors,
      tags: [`${kind}${i}`],
      mark: null,
    })),
  );
}

function itemsOfGang(gang: Gang): Item[] {
  const mark = gang.strategy === 'STRICT_SPREAD' ? `_PG_${gang.id}` : null;
  const items = gang.bundles.map((bundle, i) => ({ ...bundle, tags: [`${gang.id}.${i}`], mark }));
  if (gang.strategy !== 'STRICT_PACK') return items;
  const sums = new Map<string, Item>();
  for (const item of items) {
    const key = JSON.stringify(item.selectors);
    const before = sums.get(key);
    const sum: Record<string, number> = { ...before?.resources };
    for (const [name, quantity] of Object.entries(item.resources)) {
      sum[name] = (sum[name] ?? 0) + quantity;
    }
    sums.set(key, { ...item, resources: sum, tags: [...(before?.tags ?? []), ...item.tags] });
  }
  return [...sums.values()];
}

function literalIdle(problem: UtilizationProblem, nodes: readonly Node[]): void {
  for (const node of nodes) {
    const type = problem.nodeTypes.find(({ name }) => name === node.type);
    const timeoutS = type?.idleTimeoutS ?? problem.limits.idleTimeoutS;
    const count = nodes.filter((other) => other.type === node.type && !isEnded(other)).length;
    const isIdle =
      node.status === 'kept' &&
      !node.isHead &&
      timeoutS !== null &&
      node.idleMs > timeoutS * 1000 &&
      node.items.free.length === 0 &&
      node.items.total.length === 0 &&
      count > (type?.min ?? 0);
    if (isIdle) node.status = 'idle';
  }
}

/** Everything that can be told apart, in plain text. */
interface Answer {
  readonly launched: readonly string[];
  readonly ended: readonly string[];
  readonly unplaced: readonly string[];
  readonly hosted: Readonly<Record<string, readonly string[]>>;
}

const strictness = ({ strategy, bundles }: Gang): number[] => [
  strategy.startsWith('STRICT') ? bundles.length : 0,
  bundles.length,
];

function literalPlan(problem: UtilizationProblem): Answer {
  let nodes = literalLimits(problem);
  const unplaced: string[] = [];
  const floor = literalPack(problem, nodes, itemsOf(problem.constraints, 'constraint'), 'total');
  if (floor.rest.length === 0) ({ nodes } = floor);
  else unplaced.push('constraint');
  const gangs = [...problem.gangs].sort((a, b) => compareLists(strictness(b), strictness(a)));
  for (const gang of gangs) {
    const packed = literalPack(problem, nodes, itemsOfGang(gang), 'free');
    if (packed.rest.length === 0) ({ nodes } = packed);
    else unplaced.push(gang.id);
  }
  const packed = literalPack(problem, nodes, itemsOf(problem.demands, 'demand'), 'free');
  ({ nodes } = packed);
  literalIdle(problem, nodes);
  unplaced.push(...packed.rest.flatMap(({ tags }) => tags));
  const hosts = nodes.map((node) => {
    const tags = [...node.items.total, ...node.items.free].flatMap((item) => item.tags);
    return [node.name, tags.sort()] as const;
  });
  return {
    launched: nodes
      .filter(({ status }) => status === 'launch')
      .map(({ name }) => name)
      .sort(),
    ended: nodes.filter(isEnded).map(({ name, type, status }) => `${name} ${type} ${status}`),
    unplaced: unplaced.sort(),
    hosted: Object.fromEntries(hosts.filter(([, tags]) => tags.length > 0)),
  };
}

/** The planner's own answer, in the same text. */
function answerOf(problem: UtilizationProblem): Answer {
  const { launched, terminated, infeasible, placements } = planUtilization(problem);
  const unplaced = infeasible.constraints ? ['constraint'] : [];
  const hosted: Record<string, string[]> = {};
  const host = (where: Where, tag: string, count = 1): void => {
    const name = where.kind === 'node' ? where.id : `${where.type}#${where.index}`;
    (hosted[name] ??= []).push(...Array.from({ length: count }, () => tag));
  };
  const hostAll = (placed: readonly Placement[], tag: string): number => {
    for (const { where, count } of placed) host(where, tag, count);
    return placed.reduce((sum, { count }) => sum + count, 0);
  };
  for (const [i, placed] of placements.constraints.entries()) hostAll(placed, `constraint${i}`);
  for (const [i, { count }] of problem.demands.entries()) {
    const placedCount = hostAll(placements.demands[i] ?? [], `demand${i}`);
    unplaced.push(...Array.from({ length: count - placedCount }, () => `demand${i}`));
  }
  for (const gang of placements.gangs) {
    if (gang.kind === 'unplaced') unplaced.push(gang.id);
    else for (const [i, where] of gang.bundles.entries()) host(where, `${gang.id}.${i}`);
  }
  for (const tags of Object.values(hosted)) tags.sort();
  return {
    launched: launched.map(({ type, index }) => `${type}#${index}`).sort(),
    ended: terminated.map(({ id, type, cause }) => `${id} ${type} ${cause}`),
    unplaced: unplaced.sort(),
    hosted,
  };
}

// Quantities are powers of two, so that sums and ratios are exact whatever the order of adding.
const quantity = fc.constantFrom(0.25, 0.5, 1, 1, 2, 4, 8);
const named = fc.constantFrom('CPU', 'CPU', 'GPU', 'memory', 'disk');
const resources = fc.dictionary(named, fc.oneof(quantity, fc.constant(0)), { maxKeys: 3 });
const total = fc.dictionary(named, fc.constantFrom(0, 1, 2, 4, 8, 16), { minKeys: 1, maxKeys: 4 });
const label = fc.constantFrom('a', 'b');
const labels = fc.dictionary(fc.constantFrom('zone', 'pool'), label, { maxKeys: 2 });
const condition = fc.record({
  key: fc.constantFrom('zone', 'pool'),
  op: fc.constantFrom('in' as const, 'notIn' as const),
  values: fc.array(label, { minLength: 1, maxLength: 2 }),
});
const selectors = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  {
    weight: 1,
    arbitrary: fc.array(fc.array(condition, { maxLength: 2 }), { minLength: 1, maxLength: 2 }),
  },
);
const request = fc.record({ resources, selectors });
const demand = fc.record({ resources, selectors, count: fc.integer({ min: 1, max: 9 }) });
const ratio = fc.constantFrom(0.25, 0.5, 1);
const typeName = fc.constantFrom('t0', 't1', 't2', 't3');
const gangId = fc.constantFrom('g0', 'g1', 'g2');

const nodeType = fc.record({
  resources: total,
  min: fc.constantFrom(0, 0, 0, 1, 2),
  max: fc.constantFrom(2, 3, 9),
  labels,
  priority: fc.constantFrom(0, 0, 5),
  idleTimeoutS: fc.constantFrom(null, null, 1),
  configHash: fc.constantFrom('', 'h'),
});

const node = fc
  .record({
    type: fc.oneof(
      { weight: 9, arbitrary: typeName },
      { weight: 1, arbitrary: fc.constant('gone') },
    ),
    state: fc.constantFrom<NodeState[]>('running', 'running', 'queued', 'stopRequested', 'stopped'),
    total,
    freeRatios: fc.dictionary(named, fc.constantFrom(0, 0.25, 0.5, 1, 1)),
    labels,
    mark: fc.option(gangId),
    idleMs: fc.constantFrom(0, 500, 1500, 5000),
    configHash: fc.constantFrom('', 'h', 'old'),
  })
  .map(({ freeRatios, mark, ...rest }) => {
    const available: Record<string, number> = {};
    for (const [name, free] of Object.entries(freeRatios)) {
      const has = rest.total[name];
      if (has !== undefined) available[name] = has * free;
    }
    const marks = mark === null ? {} : { [`_PG_${mark}`]: '' };
    return Object.assign({}, rest, { available, labels: { ...rest.labels, ...marks } });
  });

const problem = fc
  .record({
    nodeTypes: fc.array(nodeType, { minLength: 1, maxLength: 4 }),
    nodes: fc.array(node, { maxLength: 7 }),
    hasHead: fc.boolean(),
    demands: fc.array(demand, { maxLength: 5 }),
    gangs: fc.array(
      fc.record({
        strategy: fc.constantFrom<Gang['strategy'][]>('PACK', 'STRICT_PACK', 'STRICT_SPREAD'),
        bundles: fc.array(request, { maxLength: 4 }),
      }),
      { maxLength: 3 },
    ),
    constraints: fc.array(demand, { maxLength: 2 }),
    limits: fc.record({
      maxNodes: fc.constantFrom(null, null, 0, 3, 6, 10),
      idleTimeoutS: fc.constantFrom(null, 0, 2),
      checkConfig: fc.boolean(),
    }),
    availability: fc.dictionary(typeName, ratio, { maxKeys: 2 }),
    recovery: fc.dictionary(typeName, ratio, { maxKeys: 2 }),
    budgets: fc.array(
      fc.record({
        left: fc.integer({ min: 0, max: 9 }),
        use: fc.dictionary(typeName, fc.constantFrom(0, 1, 2)),
      }),
      { maxLength: 2 },
    ),
  })
  .map(({ hasHead, ...drawn }): UtilizationProblem =>
    Object.assign({}, drawn, {
      nodeTypes: drawn.nodeTypes.map((type, i) => Object.assign({}, type, { name: `t${i}` })),
      nodes: drawn.nodes.map((one, i): ClusterNode =>
        Object.assign({}, one, {
          id: `n${i}`,
          kind: hasHead && i === 0 ? 'head' : 'worker',
        } as const),
      ),
      gangs: drawn.gangs.map((gang, i) => Object.assign({}, gang, { id: `g${i}` })),
    }),
  );

test('agrees with the rules taken literally, down to every placement', () => {
  fc.assert(
    fc.property(problem, (given) => {
      expect(answerOf(given)).toEqual(literalPlan(given));
    }),
    { numRuns: 3000 },
  );
});

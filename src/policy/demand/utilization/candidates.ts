import { byFirst, byNumber } from '../../../support/order.ts';
import type { Fill } from './fill.ts';
import {
  type Alternatives,
  type LabelRegistry,
  type LabelSet,
  labelSet,
  openLabelRegistry,
} from './labels.ts';
import type { Labels, Resources, UtilizationProblem } from './problem.ts';
import { usedWorth } from './score.ts';

// Indices: vectors have one element per column of the registry, and loops run over columns.

/** Every node has one of each resource with this prefix, without saying so. */
const IMPLICIT_PREFIX = 'node:__internal_implicit_resource_';

/** What does not change about a node while it is planned. */
interface Traits {
  /** Order of its type by recovery, priority and availability: the last terms of the score. */
  readonly rank: number;
  readonly isGpu: boolean;
  /** By column. */
  readonly total: Float64Array;
  /**
   * By column: the total, but zero where the node does not report what is free. Such a resource is
   * used up, yet counts in the score as if the node did not have it.
   */
  readonly scored: Float64Array;
  /** Scored resources that nothing asks for: they count in the score, but never change. */
  readonly otherCount: number;
  readonly otherMin: number;
  readonly otherSum: number;
}

/**
 * All that decides what a node would take and how that scores. Immutable and shared: equal
 * candidates are one object, so a packing step looks at each kind of node once, however many
 * there are.
 */
export interface Candidate extends Traits {
  /** By column. */
  readonly free: Float64Array;
  readonly labels: LabelSet;
  /** What was placed on the node in earlier steps counts in its score, too. */
  readonly given: Given;
}

interface Given {
  /** By column: 1 where something placed asks for the resource. */
  readonly asked: Uint8Array;
  readonly isGpuNamed: boolean;
  /** Of the requests placed, in order, each once. */
  readonly alternatives: readonly Alternatives[];
}

/** Hands out candidates; lives as long as one planning pass. */
export interface CandidateRegistry {
  /** A column for each resource that something asks for. */
  readonly columns: ReadonlyMap<string, number>;
  readonly ranks: ReadonlyMap<string, number>;
  readonly labels: LabelRegistry;
  readonly shared: Map<string, Candidate>;
}

export function openCandidateRegistry(problem: UtilizationProblem): CandidateRegistry {
  const columns = new Map<string, number>();
  const bundles = problem.gangs.flatMap((gang) => gang.bundles);
  for (const { resources } of [...problem.demands, ...problem.constraints, ...bundles]) {
    for (const [name, quantity] of Object.entries(resources)) {
      if (quantity > 0 && !columns.has(name)) columns.set(name, columns.size);
    }
  }
  return {
    columns,
    ranks: rankTypes(problem),
    labels: openLabelRegistry(),
    shared: new Map(),
  };
}

/** The last three terms of the score depend on the type alone: they are compared once, here. */
function rankTypes(problem: UtilizationProblem): Map<string, number> {
  const priorities = new Map(problem.nodeTypes.map((type) => [type.name, type.priority]));
  const names = new Set([...priorities.keys(), ...problem.nodes.map((node) => node.type)]);
  const terms = [...names].map((name) => ({
    name,
    recovery: problem.recovery[name] ?? 1,
    priority: priorities.get(name) ?? 0,
    availability: problem.availability[name] ?? 1,
  }));
  const compare = byFirst<(typeof terms)[number]>(
    byNumber((term) => term.recovery),
    byNumber((term) => term.priority),
    byNumber((term) => term.availability),
  );
  terms.sort(compare);
  const ranks = new Map<string, number>();
  let rank = 0;
  for (const [i, term] of terms.entries()) {
    const before = terms[i - 1];
    if (before !== undefined && compare(before, term) !== 0) rank++;
    ranks.set(term.name, rank);
  }
  return ranks;
}

/** A node to which nothing was given yet. */
export function makeCandidate(
  registry: CandidateRegistry,
  node: {
    readonly type: string;
    readonly total: Resources;
    readonly free: Resources;
    readonly labels: Labels;
  },
): Candidate {
  const width = registry.columns.size;
  const total = new Float64Array(width);
  const scored = new Float64Array(width);
  const free = new Float64Array(width);
  for (const [name, column] of registry.columns) {
    const reported = node.free[name];
    const has = node.total[name] ?? 0;
    total[column] = has;
    scored[column] = reported === undefined ? 0 : has;
    free[column] = reported ?? (name.startsWith(IMPLICIT_PREFIX) ? 1 : 0);
  }
  let otherCount = 0;
  let otherMin = Number.POSITIVE_INFINITY;
  let otherSum = 0;
  for (const [name, has] of Object.entries(node.total)) {
    const reported = node.free[name];
    if (has === 0 || reported === undefined || registry.columns.has(name)) continue;
    const worth = usedWorth(has, reported);
    otherCount++;
    otherMin = Math.min(otherMin, worth);
    otherSum += worth;
  }
  return share(registry, {
    rank: registry.ranks.get(node.type) ?? 0,
    isGpu: (node.total['GPU'] ?? 0) > 0,
    total,
    scored,
    otherCount,
    otherMin,
    otherSum,
    free,
    labels: labelSet(registry.labels, node.labels),
    given: { asked: new Uint8Array(width), isGpuNamed: false, alternatives: [] },
  });
}

/** The candidate that a node becomes by taking `fill`. */
export function afterFill(
  registry: CandidateRegistry,
  candidate: Candidate,
  fill: Fill,
  mark: string | null,
): Candidate {
  const free = candidate.free.slice();
  const asked = candidate.given.asked.slice();
  const alternatives = new Set(candidate.given.alternatives);
  let { isGpuNamed } = candidate.given;
  for (const { line, count } of fill) {
    for (const column of line.columns) {
      free[column]! -= line.needs[column]! * count;
      asked[column] = 1;
    }
    if (line.alternatives !== null) alternatives.add(line.alternatives);
    isGpuNamed ||= line.isGpuNamed;
  }
  const labels =
    mark === null
      ? candidate.labels
      : labelSet(registry.labels, { ...candidate.labels.labels, [mark]: '' });
  const given = { asked, isGpuNamed, alternatives: [...alternatives] };
  return share(registry, { ...candidate, free, labels, given });
}

function share(registry: CandidateRegistry, candidate: Candidate): Candidate {
  const { given } = candidate;
  const key = [
    candidate.rank,
    candidate.isGpu,
    candidate.total.join(),
    candidate.scored.join(),
    candidate.otherCount,
    candidate.otherMin,
    candidate.otherSum,
    candidate.free.join(),
    candidate.labels.id,
    given.asked.join(),
    given.isGpuNamed,
    given.alternatives.map((one) => one.id).join(),
  ].join(';');
  const known = registry.shared.get(key);
  if (known !== undefined) return known;
  registry.shared.set(key, candidate);
  return candidate;
}

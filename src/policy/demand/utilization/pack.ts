import { type Asks, take } from './asks.ts';
import { canAfford, spend } from './budgets.ts';
import { type Candidate, makeCandidate } from './candidates.ts';
import type { Cluster } from './cluster.ts';
import { type Fill, type Trial, isCurrent, openTrial, tryFill } from './fill.ts';
import { type Ledger, type PlannedNode, candidateOf, countByType } from './nodes.ts';
import type { NodeType } from './problem.ts';
import { compareScores } from './score.ts';

// Indices: `lines` and `counts` of a trial grow together; places are indices into the nodes.

export type Choice =
  | { readonly kind: 'node'; readonly node: PlannedNode; readonly fill: Fill }
  | { readonly kind: 'launch'; readonly type: NodeType; readonly fill: Fill };

/** What a packing step would do. The cluster is as it was until `commit`. */
export interface Packing {
  readonly ledger: Ledger;
  readonly asks: Asks;
  readonly choices: readonly Choice[];
}

/**
 * Places what is asked: first on nodes that are there or coming, then on launches. Each round choices
 * the one node that scores best for all that is left, gives it its fill and goes on without it; a
 * node is picked once per step. What could not be placed is what the asks have left.
 */
export function pack(cluster: Cluster, asks: Asks, ledger: Ledger): Packing {
  const choices: Choice[] = [];
  if (asks.leftCount > 0) for (const one of packNodes(cluster, asks, ledger)) choices.push(one);
  if (asks.leftCount > 0) for (const one of packLaunches(cluster, asks)) choices.push(one);
  return { ledger, asks, choices };
}

/** Something that may be picked; of equal scores the lower position wins. */
interface Contender {
  readonly trial: Trial;
  position: number;
}

/** Nodes that look alike, by place in the list of nodes, ascending. The first is next. */
interface NodeStack extends Contender {
  readonly places: number[];
}

function packNodes({ nodes, registry }: Cluster, asks: Asks, ledger: Ledger): Choice[] {
  const alike = new Map<Candidate, number[]>();
  for (const [place, node] of nodes.entries()) {
    const candidate = candidateOf(registry, node, ledger);
    const places = alike.get(candidate);
    if (places === undefined) alike.set(candidate, [place]);
    else places.push(place);
  }
  let stacks: NodeStack[] = [];
  for (const [candidate, places] of alike) {
    stacks.push({ trial: openTrial(candidate, asks), places, position: places[0]! });
  }

  const choices: Choice[] = [];
  while (asks.leftCount > 0) {
    stacks = stillTaking(stacks, asks);
    const best = bestOf(stacks);
    if (best === null) break;
    const fill = takeFill(best.trial, asks);
    choices.push({ kind: 'node', node: nodes[best.position]!, fill });
    best.places.shift();
    if (best.places.length === 0) stacks.splice(stacks.indexOf(best), 1);
    else best.position = best.places[0]!;
  }
  return choices;
}

/** A type that may be launched `slots` times more. */
interface TypeStack extends Contender {
  readonly type: NodeType;
  slots: number;
}

function packLaunches(cluster: Cluster, asks: Asks): Choice[] {
  const { nodes, maxNodes, registry } = cluster;
  const counts = countByType(nodes);
  let stacks: TypeStack[] = [];
  for (const type of cluster.types.values()) {
    const slots = type.max - (counts.get(type.name) ?? 0);
    if (slots <= 0) continue;
    const { name, resources: total, labels } = type;
    const candidate = makeCandidate(registry, { type: name, total, free: total, labels });
    stacks.push({ trial: openTrial(candidate, asks), type, slots, position: stacks.length });
  }

  const choices: Choice[] = [];
  let { spending } = cluster;
  let nextPosition = stacks.length;
  const room = maxNodes === null ? Number.POSITIVE_INFINITY : maxNodes - nodes.length;
  while (asks.leftCount > 0 && choices.length < room) {
    stacks = stillTaking(stacks, asks).filter(
      ({ slots, type }) => slots > 0 && canAfford(spending, type.name),
    );
    const best = bestOf(stacks);
    if (best === null) break;
    choices.push({ kind: 'launch', type: best.type, fill: takeFill(best.trial, asks) });
    spending = spend(spending, best.type.name);
    best.slots--;
    // A type just used goes to the back, so that equal types take turns.
    best.position = nextPosition++;
  }
  return choices;
}

/**
 * Renews the trials that no longer hold, and leaves out those that take nothing: as less and less
 * is left, they never will again.
 */
function stillTaking<T extends Contender>(contenders: readonly T[], asks: Asks): T[] {
  return contenders.filter(({ trial }) => {
    if (!isCurrent(trial, asks)) tryFill(trial, asks);
    return trial.lines.length > 0;
  });
}

function bestOf<T extends Contender>(contenders: readonly T[]): T | null {
  let best: T | null = null;
  for (const one of contenders) {
    const order = best === null ? 1 : compareScores(one.trial.score, best.trial.score);
    if (best === null || order > 0 || (order === 0 && one.position < best.position)) best = one;
  }
  return best;
}

function takeFill({ lines, counts }: Trial, asks: Asks): Fill {
  return lines.map((at, i) => {
    const count = counts[i]!;
    take(asks, at, count);
    return { line: asks.lines[at]!, count };
  });
}

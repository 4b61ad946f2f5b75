import { must } from '../../../support/assert.ts';
import { byFirst, byNumber } from '../../../support/order.ts';
import { makeAsks } from './asks.ts';
import type { CandidateRegistry } from './candidates.ts';
import { type Cluster, commit } from './cluster.ts';
import { type Alternatives, alternativesOf, spreadMark } from './labels.ts';
import { whereOf } from './nodes.ts';
import type { GangPlacement, Where } from './outcome.ts';
import { pack } from './pack.ts';
import type { Gang, Request } from './problem.ts';
import { type Line, inPackingOrder, makeLine } from './requests.ts';

/**
 * Places each gang whole or not at all; one that does not fit leaves no trace. The one with the most
 * constrained bundles goes first, then the largest. The answer is in the order given.
 */
export function placeGangs(cluster: Cluster, gangs: readonly Gang[]): readonly GangPlacement[] {
  const order = gangs.map((gang, index) => ({ gang, index }));
  order.sort(
    byFirst(
      byNumber(({ gang }) => (isStrict(gang) ? -gang.bundles.length : 0)),
      byNumber(({ gang }) => -gang.bundles.length),
    ),
  );
  const placements: GangPlacement[] = [];
  for (const { gang, index } of order) placements[index] = placeGang(cluster, gang, index);
  return placements;
}

/** Strict gangs put one constraint on each of their bundles, the others none. */
const isStrict = ({ strategy }: Gang): boolean =>
  strategy === 'STRICT_PACK' || strategy === 'STRICT_SPREAD';

function placeGang(cluster: Cluster, gang: Gang, index: number): GangPlacement {
  const { registry } = cluster;
  const runs = toRuns(registry, inPackingOrder(toParcels(registry, gang)));
  const lines = runs.map(({ line, parcels }, source) => ({
    ...line,
    count: parcels.length,
    source,
  }));
  const mark = gang.strategy === 'STRICT_SPREAD' ? spreadMark(gang.id) : null;
  const packing = pack(cluster, makeAsks(lines, registry.columns.size, mark), 'free');
  if (packing.asks.leftCount > 0) return { kind: 'unplaced', id: gang.id };

  const bundles: Where[] = [];
  for (const { node, fill } of commit(cluster, packing, 'gang')) {
    const where = whereOf(node);
    for (const { line, count } of fill) {
      const { parcels } = must(runs[line.source], 'the run that a line was made of');
      for (const bundle of parcels.splice(0, count).flatMap((parcel) => parcel.bundles)) {
        bundles[bundle] = where;
        node.hosts.push({ kind: 'bundle', gang: index, bundle });
      }
    }
  }
  return { kind: 'placed', id: gang.id, bundles };
}

/** Bundles that go to one node as one request. */
interface Parcel extends Request {
  readonly bundles: readonly number[];
}

/**
 * A STRICT_PACK gang is added up to one request, or to one per distinct selector, which may then
 * land on different nodes: so does the original. Of other gangs each bundle is for itself.
 */
function toParcels(registry: CandidateRegistry, gang: Gang): readonly Parcel[] {
  if (gang.strategy !== 'STRICT_PACK') {
    return gang.bundles.map((bundle, i) => ({ ...bundle, bundles: [i] }));
  }
  const parcels = new Map<Alternatives | null, Parcel>();
  for (const [i, { resources, selectors }] of gang.bundles.entries()) {
    const key = alternativesOf(registry.labels, selectors);
    const before = parcels.get(key);
    const sums: Record<string, number> = { ...before?.resources };
    for (const [name, quantity] of Object.entries(resources)) {
      sums[name] = (sums[name] ?? 0) + quantity;
    }
    parcels.set(key, { resources: sums, selectors, bundles: [...(before?.bundles ?? []), i] });
  }
  return [...parcels.values()];
}

/** Equal parcels that follow each other, to be packed as one line. */
interface Run {
  readonly line: Line;
  readonly parcels: Parcel[];
}

function toRuns(registry: CandidateRegistry, parcels: readonly Parcel[]): readonly Run[] {
  const runs: Run[] = [];
  for (const parcel of parcels) {
    const line = makeLine(registry, parcel, { count: 1, source: 0 });
    const last = runs.at(-1);
    if (last !== undefined && isAlike(last.line, line)) last.parcels.push(parcel);
    else runs.push({ line, parcels: [parcel] });
  }
  return runs;
}

const isAlike = (a: Line, b: Line): boolean =>
  a.alternatives === b.alternatives &&
  a.isGpuNamed === b.isGpuNamed &&
  a.needs.every((need, column) => need === b.needs[column]);

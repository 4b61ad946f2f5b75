import type { Cluster } from './cluster.ts';
import { countByType, isCondemned } from './nodes.ts';

/**
 * Condemns workers that were idle for longer than their timeout and were given nothing in this
 * pass, in list order, as long as their type stays above its minimum. Nodes that are coming and
 * launches count towards that minimum.
 */
export function condemnIdle(cluster: Cluster, clusterTimeoutS: number | null): void {
  const counts = countByType(cluster.nodes.filter((node) => !isCondemned(node)));
  for (const node of cluster.nodes) {
    if (node.standing.kind !== 'kept' || node.isHead || node.hosts.length > 0) continue;
    const type = cluster.types.get(node.type);
    const timeoutS = type?.idleTimeoutS ?? clusterTimeoutS;
    if (timeoutS === null || node.idleMs <= timeoutS * 1000) continue;
    const count = counts.get(node.type) ?? 0;
    if (count <= (type?.min ?? 0)) continue;
    node.standing = { kind: 'condemned', cause: 'idle' };
    counts.set(node.type, count - 1);
  }
}

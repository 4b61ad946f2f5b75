import type { DemandDecision } from '../model/decision.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { idsOf, listRoster } from '../policy/demand/roster.ts';

const MICRO = 1_000_000;

/** A decision in the words of a case: slices to launch, entries by group, unmet entries with codes. */
export interface DemandResult {
  readonly launch: Readonly<Record<string, number>>;
  readonly routed: Readonly<Record<string, readonly string[]>>;
  readonly unmet: readonly { readonly id: string; readonly code: string }[];
  readonly costPerHour: number;
}

export function toDemandResult(snapshot: Snapshot, decision: DemandDecision): DemandResult {
  const launch: Record<string, number> = {};
  for (const report of decision.groups) {
    if (report.launch > 0) launch[report.group] = report.launch;
  }
  const routed: Record<string, string[]> = {};
  const unmet: { id: string; code: string }[] = [];
  for (const row of listRoster(snapshot, decision)) {
    const { outcome } = row;
    if (outcome.kind === 'unmet') {
      for (const id of idsOf(row)) unmet.push({ id, code: outcome.unmet.code });
      continue;
    }
    for (const group of new Set(outcome.placement.spots.map((spot) => spot.group))) {
      const list = (routed[group] ??= []);
      for (const id of idsOf(row)) list.push(id);
    }
  }
  return { launch, routed, unmet, costPerHour: decision.costMicroUsdPerHour / MICRO };
}

import type { DemandDecision } from '../model/decision.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { BoundOutcome } from '../controller/bound.ts';
import { type RosterRow, listRoster } from '../policy/demand/roster.ts';

/** All that `bellows plan` knows of one snapshot; text and JSON are drawn from it. */
export interface PlanReport {
  readonly file: string;
  readonly snapshot: Snapshot;
  readonly decision: DemandDecision;
  readonly bound: BoundOutcome | null;
  readonly roster: readonly RosterRow[];
}

export function createReport(
  file: string,
  snapshot: Snapshot,
  decision: DemandDecision,
  bound: BoundOutcome | null,
): PlanReport {
  return { file, snapshot, decision, bound, roster: listRoster(snapshot, decision) };
}

export interface EntryCounts {
  readonly total: number;
  readonly placed: number;
  readonly unmet: number;
}

export function countEntries({ snapshot, decision }: PlanReport): EntryCounts {
  const total = snapshot.demand.reduce((sum, { count }) => sum + count, 0);
  const unmet = decision.classes.reduce((sum, { unmetCount }) => sum + unmetCount, 0);
  return { total, placed: total - unmet, unmet };
}

export const countLaunches = ({ decision }: PlanReport): number =>
  decision.groups.reduce((sum, { launch }) => sum + launch, 0);

/** Entries with at least one task in a group, by group. */
export function countByGroup({ decision }: PlanReport): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { placed } of decision.classes) {
    for (const { count, spots } of placed) {
      for (const group of new Set(spots.map((spot) => spot.group))) {
        counts.set(group, (counts.get(group) ?? 0) + count);
      }
    }
  }
  return counts;
}

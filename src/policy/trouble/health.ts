import { type EpochMs, epochMs, type GroupName } from '../../model/ids.ts';
import type { GroupHealth, Trouble } from '../../model/trouble.ts';

// A score for churn: machines that fail to boot or are taken away soon after launch. Separate from
// refusals, which say something about stock and quota, not about machines.

const DECAY = 0.7;
/** The least a score can be; from here it takes an hour to recover. */
const FLOOR = 0.03125;
const RECOVERY_MS = 3_600_000;
/** Below this a group is hostile: nothing is launched before it has recovered so far. */
const HOSTILE = 0.2;
/** A loss after this age is the way of preemptible machines and says nothing. */
export const YOUNG_MS = 15 * 60_000;

const labels = [
  [0.8, 'healthy'],
  [0.5, 'suspect'],
  [0.2, 'churning'],
] as const;
export type HealthLabel = (typeof labels)[number][1] | 'hostile';

export const labelOf = (score: number): HealthLabel =>
  labels.find(([least]) => score >= least)?.[1] ?? 'hostile';

/** The score now: linear recovery, from the floor to 1 in an hour. */
export function scoreAt(health: GroupHealth | undefined, nowMs: EpochMs): number {
  if (health === undefined) return 1;
  const gainedMs = Math.max(0, nowMs - health.asOfMs);
  return Math.min(1, health.score + (gainedMs * (1 - FLOOR)) / RECOVERY_MS);
}

/** The score after one more failure. */
export function worsenHealth(
  before: GroupHealth | undefined,
  group: GroupName,
  nowMs: EpochMs,
): GroupHealth {
  return { group, score: Math.max(FLOOR, scoreAt(before, nowMs) * DECAY), asOfMs: nowMs };
}

/** The trouble that a hostile group is in, with its end; null for any better one. */
export function churnOf(health: GroupHealth, nowMs: EpochMs): Trouble | null {
  const score = scoreAt(health, nowMs);
  if (score >= HOSTILE) return null;
  const waitMs = Math.ceil(((HOSTILE - score) * RECOVERY_MS) / (1 - FLOOR));
  return {
    scope: { kind: 'group', name: health.group },
    kind: 'churn',
    attempts: Math.round(Math.log(score) / Math.log(DECAY)),
    sinceMs: nowMs,
    untilMs: epochMs(nowMs + waitMs),
    detail: `machines of this group fail or vanish soon after launch (health ${score.toFixed(2)})`,
  };
}

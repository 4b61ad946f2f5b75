import type { FleetEvent } from '../model/event.ts';
import type { EpochMs } from '../model/ids.ts';
import type { Refusal } from '../model/refusal.ts';
import { isWithin, type Scoped, troubleId } from '../model/trouble.ts';
import { isOver, scopeOf, worsen } from '../policy/trouble/backoff.ts';
import { churnOf, worsenHealth } from '../policy/trouble/health.ts';
import type { Memory } from './memory.ts';

type Tell = (event: FleetEvent) => void;

/** A launch was refused, or nobody answered. */
export function noteRefusal(
  memory: Memory,
  refusal: Refusal,
  at: { readonly group: Scoped; readonly nowMs: EpochMs; readonly tell: Tell },
): void {
  const scope = scopeOf(refusal, at.group);
  const id = troubleId({ scope, kind: refusal.kind });
  const before = memory.troubles.get(id);
  const trouble = worsen(before, refusal, { scope, nowMs: at.nowMs });
  memory.troubles.put(id, trouble);
  if (before === undefined || trouble.untilMs !== before.untilMs) {
    at.tell({ kind: 'backoff-started', trouble });
  }
}

/**
 * Machines came: whatever stood in the way of launching here does not any more. Those that were asked
 * for before the refusal, of the same batch for one, say nothing about what is left.
 */
export function noteSuccess(
  memory: Memory,
  group: Scoped,
  {
    event,
    requestedAtMs,
    tell,
  }: {
    readonly event: 'machines-seen' | 'hosts-ready';
    readonly requestedAtMs: EpochMs | null;
    readonly tell: Tell;
  },
): void {
  for (const [id, trouble] of memory.troubles.entries()) {
    // That machines come says that they can be had; that they come up says that they last.
    const isOfBooting = trouble.kind === 'churn';
    if (isOfBooting !== (event === 'hosts-ready') || !isWithin(trouble.scope, group)) continue;
    // `unknown` may be this very launch, unanswered: that it came is the answer.
    const isAnswer = trouble.kind === 'unknown' || (requestedAtMs ?? 0) >= trouble.untilMs;
    if (!isAnswer) continue;
    memory.troubles.remove(id);
    tell({ kind: 'backoff-ended', trouble, why: 'success' });
  }
}

/** A machine failed to come up, or went soon after it came. */
export function noteFailure(
  memory: Memory,
  group: Scoped,
  at: { readonly nowMs: EpochMs; readonly tell: Tell },
): void {
  const health = worsenHealth(memory.health.get(group.name), group.name, at.nowMs);
  memory.health.put(group.name, health);
  const churn = churnOf(health, at.nowMs);
  if (churn === null) return;
  memory.troubles.put(troubleId(churn), churn);
  at.tell({ kind: 'backoff-started', trouble: churn });
}

/** Forgets what has long ended. */
export function endTroubles(memory: Memory, nowMs: EpochMs, tell: Tell): void {
  for (const [id, trouble] of memory.troubles.entries()) {
    if (!isOver(trouble, nowMs)) continue;
    memory.troubles.remove(id);
    tell({ kind: 'backoff-ended', trouble, why: 'time' });
  }
}

import { type EpochMs, epochMs } from '../../model/ids.ts';
import type { Refusal, RefusalKind } from '../../model/refusal.ts';
import type { Scoped, Trouble, TroubleScope } from '../../model/trouble.ts';
import { unreachable } from '../../support/assert.ts';

/** The first wait after a refusal and the longest one; each further refusal in a row doubles it. */
export const backoffs: Readonly<
  Record<RefusalKind, { readonly firstMs: number; readonly ceilingMs: number }>
> = {
  // Stock comes back at any time: ask again soon, but leave a barren zone alone.
  stockout: { firstMs: 30_000, ceilingMs: 10 * 60_000 },
  // Quota moves when somebody raises it or releases machines.
  'quota-exceeded': { firstMs: 5 * 60_000, ceilingMs: 30 * 60_000 },
  throttled: { firstMs: 5_000, ceilingMs: 2 * 60_000 },
  // Somebody must repair something; still, we look again.
  permanent: { firstMs: 5 * 60_000, ceilingMs: 60 * 60_000 },
  unknown: { firstMs: 10_000, ceilingMs: 5 * 60_000 },
};

/** After churn, unless a slice has become ready before. */
const CHURN_PROBED_MS = 30 * 60_000;
/** The longest words of a provider that are kept. */
const DETAIL_MAX = 300;

/** How far a refusal reaches: a quota is shared, a throttle is the whole provider's. */
export function scopeOf(refusal: Refusal, group: Scoped): TroubleScope {
  switch (refusal.kind) {
    case 'throttled':
      return { kind: 'provider', name: group.provider };
    case 'quota-exceeded':
      return group.quotaPool === null
        ? { kind: 'group', name: group.name }
        : { kind: 'quota-pool', name: group.quotaPool };
    case 'stockout':
    case 'permanent':
    case 'unknown':
      return { kind: 'group', name: group.name };
    default:
      return unreachable(refusal);
  }
}

/**
 * The trouble after one more refusal. Refusals that were already under way when the last one came
 * teach nothing new: only one that was asked after the wait ended makes it longer.
 */
export function worsen(
  before: Trouble | undefined,
  refusal: Refusal,
  at: { readonly scope: TroubleScope; readonly nowMs: EpochMs },
): Trouble {
  const isWithin = before !== undefined && at.nowMs < before.untilMs;
  const attempts = (before?.attempts ?? 0) + (isWithin ? 0 : 1);
  const { firstMs, ceilingMs } = backoffs[refusal.kind];
  const doubled = Math.min(ceilingMs, firstMs * 2 ** Math.min(30, attempts - 1));
  const asked = refusal.kind === 'throttled' ? refusal.retryAfterMs : null;
  // A provider's word, perhaps ill read: a wait that is no number would never end.
  const told = asked !== null && Number.isFinite(asked) ? Math.ceil(asked) : 0;
  const waitMs = Math.min(ceilingMs, Math.max(doubled, told));
  const untilMs = isWithin ? before.untilMs : epochMs(at.nowMs + waitMs);
  return {
    scope: at.scope,
    kind: refusal.kind,
    attempts,
    sinceMs: before?.sinceMs ?? at.nowMs,
    untilMs,
    detail: refusal.detail.slice(0, DETAIL_MAX),
  };
}

/** Forgotten when nothing was refused for as long as the longest wait after its end. */
export function isOver(trouble: Trouble, nowMs: EpochMs): boolean {
  // A group that churned is probed with one launch at a time for a while.
  const ceilingMs = trouble.kind === 'churn' ? CHURN_PROBED_MS : backoffs[trouble.kind].ceilingMs;
  return nowMs >= trouble.untilMs + ceilingMs;
}

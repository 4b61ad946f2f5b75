import type { Entry } from '../model/demand.ts';
import type { EntryId } from '../model/ids.ts';
import type { DemandPush } from '../model/push.ts';

/** A push as it arrives: the whole set, or what changed since an earlier one. */
export interface ArrivingPush {
  readonly push: DemandPush;
  /** Set: `push.entries` are added to, or replace, those of that generation. */
  readonly delta?: { readonly baseGeneration: number; readonly removedIds: readonly EntryId[] };
  /** Entries whose scheduler gave no time: they keep the one at which they were first pushed. */
  readonly undated?: ReadonlySet<EntryId>;
}

export type PushOutcome =
  | { readonly kind: 'taken'; readonly push: DemandPush }
  | { readonly kind: 'stale-generation'; readonly generation: number }
  /** This generation was pushed before, with another content. */
  | { readonly kind: 'generation-reused'; readonly generation: number }
  /** A delta on something else than what is there; null where nothing is. */
  | { readonly kind: 'wrong-base'; readonly generation: number | null };

/**
 * What a source's demand becomes. A push that comes twice, because its answer was lost, is told by its
 * digest and changes nothing but its expiry.
 */
export function takePush(before: DemandPush | undefined, arriving: ArrivingPush): PushOutcome {
  const { push, delta, undated } = arriving;
  if (before !== undefined && push.generation < before.generation) {
    return { kind: 'stale-generation', generation: before.generation };
  }
  if (before !== undefined && push.generation === before.generation && push.digest !== undefined) {
    return push.digest === before.digest
      ? { kind: 'taken', push: { ...before, expiresAtMs: push.expiresAtMs } }
      : { kind: 'generation-reused', generation: before.generation };
  }
  if (delta !== undefined && delta.baseGeneration !== before?.generation) {
    return { kind: 'wrong-base', generation: before?.generation ?? null };
  }
  const known = before?.entries ?? [];
  const entries = keepTimes(push.entries, known, undated);
  if (delta === undefined) return { kind: 'taken', push: { ...push, entries } };
  return { kind: 'taken', push: { ...push, entries: merge(known, entries, delta.removedIds) } };
}

/** In the order of the first push of each. */
function merge(
  known: readonly Entry[],
  changed: readonly Entry[],
  removedIds: readonly EntryId[],
): readonly Entry[] {
  // An empty delta only refreshes: the same list means the same classes.
  if (changed.length === 0 && removedIds.length === 0) return known;
  const byId = new Map<EntryId, Entry>();
  for (const entry of known) byId.set(entry.id, entry);
  for (const id of removedIds) byId.delete(id);
  for (const entry of changed) byId.set(entry.id, entry);
  return [...byId.values()];
}

function keepTimes(
  entries: readonly Entry[],
  known: readonly Entry[],
  undated: ReadonlySet<EntryId> = new Set(),
): readonly Entry[] {
  if (undated.size === 0 || known.length === 0) return entries;
  const times = new Map<EntryId, Entry['submittedAtMs']>();
  for (const { id, submittedAtMs } of known) if (undated.has(id)) times.set(id, submittedAtMs);
  if (times.size === 0) return entries;
  return entries.map((entry) => {
    const submittedAtMs = times.get(entry.id);
    return submittedAtMs === undefined ? entry : { ...entry, submittedAtMs };
  });
}

import type { Entry } from '../model/demand.ts';
import type { EntryId } from '../model/ids.ts';
import type { DemandPush } from '../model/push.ts';
import { runThrough, type Turns } from '../support/turns.ts';

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
export const takePush = (before: DemandPush | undefined, arriving: ArrivingPush): PushOutcome =>
  runThrough(takePushInTurns(before, arriving));

/** As `takePush`, with a stop after every few thousand entries. */
export function* takePushInTurns(
  before: DemandPush | undefined,
  arriving: ArrivingPush,
): Turns<PushOutcome> {
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
  const entries = yield* keepTimes(push.entries, known, undated);
  if (delta === undefined) return { kind: 'taken', push: { ...push, entries } };
  const merged = yield* merge(known, entries, delta.removedIds);
  return { kind: 'taken', push: { ...push, entries: merged } };
}

/** Entries looked at in one go: a few milliseconds' worth. */
const ENTRIES_PER_TURN = 5_000;

function* inTurns(entries: readonly Entry[], look: (entry: Entry) => void): Turns<void> {
  for (const [index, entry] of entries.entries()) {
    if (index > 0 && index % ENTRIES_PER_TURN === 0) yield;
    look(entry);
  }
}

/** In the order of the first push of each. */
function* merge(
  known: readonly Entry[],
  changed: readonly Entry[],
  removedIds: readonly EntryId[],
): Turns<readonly Entry[]> {
  // An empty delta only refreshes: the same list means the same classes.
  if (changed.length === 0 && removedIds.length === 0) return known;
  const byId = new Map<EntryId, Entry>();
  yield* inTurns(known, (entry) => byId.set(entry.id, entry));
  for (const id of removedIds) byId.delete(id);
  yield* inTurns(changed, (entry) => byId.set(entry.id, entry));
  return [...byId.values()];
}

function* keepTimes(
  entries: readonly Entry[],
  known: readonly Entry[],
  undated: ReadonlySet<EntryId> = new Set(),
): Turns<readonly Entry[]> {
  if (undated.size === 0 || known.length === 0) return entries;
  const times = new Map<EntryId, Entry['submittedAtMs']>();
  yield* inTurns(known, ({ id, submittedAtMs }) => {
    if (undated.has(id)) times.set(id, submittedAtMs);
  });
  if (times.size === 0) return entries;
  const kept: Entry[] = [];
  yield* inTurns(entries, (entry) => {
    const submittedAtMs = times.get(entry.id);
    kept.push(submittedAtMs === undefined ? entry : { ...entry, submittedAtMs });
  });
  return kept;
}

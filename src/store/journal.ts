import { type Commit, StoreError } from '../ports/store.ts';

/** How much of the journal is kept. */
export interface JournalCaps {
  /** In bytes, as the store counts what it keeps. */
  readonly journalSizeMax: number;
  /** Counted back from the newest row, so that a stopped controller loses nothing. */
  readonly journalAgeMaxMs: number;
}

/** What a row takes beside its text: keys, index entries, page headers. A round figure. */
export const ROW_BYTES = 64;

/** Rows dropped by a commit beyond those it adds: lowered caps are reached step by step. */
const DROPS_PER_COMMIT = 64;

interface Row {
  readonly atMs: number;
  /** The latest of its sort is never dropped: the next one must come after it. */
  readonly isLatest: boolean;
}

/** The two ends of the journal that can be cut. */
export interface OldestRows {
  readonly tick: Row | null;
  readonly event: Row | null;
}

/** Which row goes next: the older of the two ends, while the journal is too old or too large. */
export function chooseDrop(
  oldest: OldestRows,
  state: { readonly bytes: number; readonly newestAtMs: number },
  caps: JournalCaps,
): 'tick' | 'event' | null {
  const tick = oldest.tick !== null && !oldest.tick.isLatest ? oldest.tick : null;
  const event = oldest.event !== null && !oldest.event.isLatest ? oldest.event : null;
  const first = tick === null || (event !== null && event.atMs < tick.atMs) ? event : tick;
  if (first === null) return null;
  const isTooOld = first.atMs < state.newestAtMs - caps.journalAgeMaxMs;
  if (!isTooOld && state.bytes <= caps.journalSizeMax) return null;
  return first === tick ? 'tick' : 'event';
}

/** Bounded, but always more than the commit adds: the journal shrinks while it is over its caps. */
export const dropsMax = (commit: Commit): number =>
  DROPS_PER_COMMIT + 2 * ((commit.tick === null ? 0 : 1) + commit.events.length);

/** What counts as now for the age of the journal; null when the commit adds nothing to it. */
export const newestAtMs = (commit: Commit): number | null =>
  commit.tick?.atMs ?? commit.events.at(-1)?.atMs ?? null;

/** Places rise: readers page by them. `last` is -1 in an empty journal. */
export function checkPlaces(commit: Commit, last: { tick: number; event: number }): void {
  const { tick } = commit;
  if (tick !== null && !(tick.seq > last.tick)) throw notAfter('tick', tick.seq, last.tick);
  let before = last.event;
  for (const { seq } of commit.events) {
    if (!(seq > before)) throw notAfter('event', seq, before);
    before = seq;
  }
}

const notAfter = (sort: string, seq: number, last: number): StoreError =>
  new StoreError(
    'corrupt',
    `${sort} ${seq} does not come after ${sort} ${last}, the last one in the journal; ` +
      'load again and go on from there',
  );

/** Asked of a part that comes without its text and is not here. */
export const missingPart = (tickSeq: number, name: string, hash: string): StoreError =>
  new StoreError(
    'corrupt',
    `tick ${tickSeq} refers to a part "${name}" that the journal does not hold (${hash}); ` +
      'record the tick with its text',
  );

export const fenced = (epoch: number, current: { epoch: number; holder: string | null }) =>
  new StoreError(
    'fenced',
    `a write of epoch ${epoch} was refused: ` +
      (current.holder === null
        ? `nobody holds the lease since epoch ${current.epoch}`
        : `${current.holder} holds the lease with epoch ${current.epoch}`) +
      '; take the lease again before writing',
  );

export const closed = (): StoreError => new StoreError('unavailable', 'the store is closed');

import { epochMs } from '../model/ids.ts';
import type { LeaseAnswer, LeaseAsk } from '../ports/store.ts';

/** Who may write, as a store remembers it. The epoch outlives its holder: it never repeats. */
export interface Lease {
  readonly epoch: number;
  /** Null when it was given back, or never taken. */
  readonly holder: string | null;
  readonly untilMs: number;
}

export const noLease: Lease = { epoch: 0, holder: null, untilMs: 0 };

/** The rule of the lease, for every store: what to remember, and what to answer. */
export function answerLease(was: Lease, ask: LeaseAsk): { lease: Lease; answer: LeaseAnswer } {
  // A lease of ours that ran out and that nobody took is still ours: no other has written since.
  const isOurs = isCurrent(was, ask.epoch);
  if (!isOurs && was.holder !== null && ask.nowMs < was.untilMs) {
    const { holder, untilMs } = was;
    return { lease: was, answer: { kind: 'held', holder, untilMs: epochMs(untilMs) } };
  }
  // Asking with an epoch that was lost takes the lease anew; the answer's epoch tells the asker so.
  const epoch = isOurs ? was.epoch : was.epoch + 1;
  const lease = { epoch, holder: ask.holder, untilMs: ask.nowMs + ask.ttlMs };
  return { lease, answer: { kind: 'granted', epoch } };
}

/** Given back, if it is that of `epoch`; else as it was. */
export const releaseLease = (was: Lease, epoch: number): Lease =>
  isCurrent(was, epoch) ? { ...was, holder: null } : was;

/** May the holder of this epoch write? */
export const isCurrent = (lease: Lease, epoch: number | null): boolean =>
  lease.holder !== null && lease.epoch === epoch;

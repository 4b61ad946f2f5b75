/**
 * What goes wrong by itself, and how often; 0 is never. Ratios are 0 to 1. All chance comes from
 * the seed.
 */
export interface Faults {
  // Per call.
  /** Never arrives: no effect, and an error. */
  readonly lostRequestRatio: number;
  /** Takes effect, and the caller gets a timeout. */
  readonly lostReplyRatio: number;
  /** Takes effect, and is answered after any sensible deadline. */
  readonly lateReplyRatio: number;
  /** Takes effect, and the answer cannot be read. */
  readonly garbledReplyRatio: number;
  /** Arrives twice, the second time a little later. */
  readonly duplicateRequestRatio: number;
  /** Is never answered; in half of the cases it takes effect. */
  readonly hangRatio: number;
  /** An error; of a launch also, half as often, a refusal of a single slice. */
  readonly throttledRatio: number;

  // Per launch.
  /** Fails with an error, and takes effect minutes later. */
  readonly lateCreateRatio: number;
  /** Of late creates whose slice was released meanwhile: how many come all the same. */
  readonly createAfterTerminateRatio: number;
  /** Of launches whose slice exists: how many make it a second time. Models a broken cloud. */
  readonly nonIdempotentRatio: number;
  readonly stockoutRatio: number;
  readonly refusedUnknownRatio: number;
  /** Of slices with several hosts: some never come, or die young. */
  readonly partialSliceRatio: number;

  // Per host.
  /** Stays on its way for good, or dies on it. */
  readonly bootFailedRatio: number;
  readonly failuresPerHour: number;

  // Per preemptible slice.
  readonly preemptionsPerHour: number;
  readonly preemptedWithoutNoticeRatio: number;

  // Per list.
  /** Of lists: rows are up to `listLagMs` old, each by its own amount. */
  readonly listStaleRatio: number;
  /** Of rows: not shown, though never for longer than `listLagMs` after it was last shown. */
  readonly listMissingRatio: number;
  /** Of lists: has rows that are malformed, doubled, or about nothing. */
  readonly garbageRowRatio: number;

  // Per slice to be terminated.
  /** Accepted, and forgotten. */
  readonly terminateLostRatio: number;
  readonly terminateSlowRatio: number;
}

export const noFaults: Faults = {
  lostRequestRatio: 0,
  lostReplyRatio: 0,
  lateReplyRatio: 0,
  garbledReplyRatio: 0,
  duplicateRequestRatio: 0,
  hangRatio: 0,
  throttledRatio: 0,
  lateCreateRatio: 0,
  createAfterTerminateRatio: 0,
  nonIdempotentRatio: 0,
  stockoutRatio: 0,
  refusedUnknownRatio: 0,
  partialSliceRatio: 0,
  bootFailedRatio: 0,
  failuresPerHour: 0,
  preemptionsPerHour: 0,
  preemptedWithoutNoticeRatio: 0,
  listStaleRatio: 0,
  listMissingRatio: 0,
  garbageRowRatio: 0,
  terminateLostRatio: 0,
  terminateSlowRatio: 0,
};

/** A bad week in an hour: everything goes wrong, often enough to be met in a short simulation. */
export const hostileFaults: Faults = {
  lostRequestRatio: 0.05,
  lostReplyRatio: 0.05,
  lateReplyRatio: 0.03,
  garbledReplyRatio: 0.02,
  duplicateRequestRatio: 0.05,
  hangRatio: 0.02,
  throttledRatio: 0.05,
  lateCreateRatio: 0.05,
  createAfterTerminateRatio: 0.3,
  // A cloud that breaks idempotency breaks its contract: asked for by name only.
  nonIdempotentRatio: 0,
  stockoutRatio: 0.15,
  refusedUnknownRatio: 0.03,
  partialSliceRatio: 0.1,
  bootFailedRatio: 0.03,
  failuresPerHour: 0.05,
  preemptionsPerHour: 0.5,
  preemptedWithoutNoticeRatio: 0.3,
  listStaleRatio: 0.3,
  listMissingRatio: 0.02,
  garbageRowRatio: 0.1,
  terminateLostRatio: 0.05,
  terminateSlowRatio: 0.1,
};

/** What is counted when it happens, by chance or by a lever. */
export const faultKinds = [
  'lost-request',
  'lost-reply',
  'late-reply',
  'garbled-reply',
  'duplicate-request',
  'hang',
  'throttled',
  'late-create',
  'create-after-terminate',
  'non-idempotent',
  'stockout',
  'quota-exceeded',
  'refused-unknown',
  'refused-permanent',
  'partial-slice',
  'boot-failed',
  'host-failed',
  'preempted',
  'preempted-without-notice',
  'list-stale',
  'list-missing',
  'list-resurrected',
  'garbage-row',
  'terminate-lost',
  'terminate-slow',
] as const;
export type FaultKind = (typeof faultKinds)[number];
export type FaultCounts = Readonly<Record<FaultKind, number>>;

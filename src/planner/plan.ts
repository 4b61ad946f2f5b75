import type { DemandDecision } from '../model/decision.ts';
import type { GroupName, SliceId } from '../model/ids.ts';
import type { TrackedSlice } from '../model/slice-record.ts';
import type { PlanStep, SliceVerdict, TickInput, TickOutput } from '../model/tick.ts';
import { assert } from '../support/assert.ts';
import { troublesOf } from './conditions.ts';
import { planLaunches } from './launches.ts';
import { createTerminationCheck, type Prepared } from './prepare.ts';
import { planSending, type Sending, type Waiting } from './rates.ts';
import { type Allowance, planRelease } from './release.ts';

const MINUTE_MS = 60_000;

export interface Decided {
  readonly prepared: Prepared;
  readonly decision: DemandDecision;
  /** Had every provider been willing; null when all were, or nothing is launched. */
  readonly untroubled: DemandDecision | null;
}

/**
 * Turns a decision into steps in the lives of slices: what is launched, sent, given up, drained,
 * called back; and says of every slice why it stays or goes. Pure.
 */
export function makePlan(input: TickInput, decided: Decided): TickOutput {
  const { prepared, decision, untroubled } = decided;
  const launches = planLaunches(input, decision, untroubled);
  const { steps: released, verdicts } = planRelease({
    input,
    prepared,
    reports: decision.groups,
    roomsUsed: findRoomsUsed(decision),
    allowance: createAllowance(input, decided),
  });
  const givenUp = new Set<SliceId>();
  for (const step of [...prepared.steps, ...released]) {
    if (step.kind === 'cancel') givenUp.add(step.sliceId);
  }
  const sending = planSending(input, listWaiting(input, launches, givenUp));
  const steps = [...prepared.steps, ...released, ...launches, ...sending.steps];
  for (const step of prepared.steps) {
    if (step.kind === 'cancel') {
      verdicts.set(step.sliceId, { kind: 'cancelled', why: step.why });
    }
  }
  return {
    decision,
    steps,
    deferrals: sending.deferrals,
    verdicts: gather(input, verdicts, sending),
  };
}

/** Groups with reported room that a want of this tick is to use. */
function findRoomsUsed({ classes }: DemandDecision): ReadonlySet<GroupName> {
  const used = new Set<GroupName>();
  for (const { placed } of classes) {
    for (const { spots } of placed) {
      for (const { room, group } of spots) if (room === 'free-room') used.add(group);
    }
  }
  return used;
}

/** Launches that wait to be sent: those of earlier ticks, and those planned now. */
function listWaiting(
  input: TickInput,
  launches: readonly Extract<PlanStep, { kind: 'launch' }>[],
  givenUp: ReadonlySet<SliceId>,
): readonly Waiting[] {
  const indexes = new Map(input.control.fleet.groups.map(({ name }, index) => [name, index]));
  const waiting: Waiting[] = [];
  for (const { status, id, group, statusSinceMs, reservedFor } of input.slices) {
    if (status !== 'queued' || givenUp.has(id)) continue;
    const groupIndex = indexes.get(group);
    if (groupIndex === undefined) continue;
    waiting.push({ sliceId: id, groupIndex, sinceMs: statusSinceMs, gang: reservedFor });
  }
  for (const { sliceId, group, reservedFor } of launches) {
    const groupIndex = indexes.get(group);
    if (groupIndex === undefined) continue;
    waiting.push({ sliceId, groupIndex, sinceMs: input.atMs, gang: reservedFor });
  }
  return waiting;
}

/** What scale-down may do: pauses and the limits on giving back. */
function createAllowance(input: TickInput, { prepared }: Decided): Allowance {
  const { terminationsPerMinute, drainingRatio } = input.control.blastRadius;
  const count = (status: TrackedSlice['status']): number =>
    input.slices.filter((slice) => slice.status === status).length;
  const draining = count('draining');
  const recent = input.releasedAtMs.filter((atMs) => atMs > input.atMs - MINUTE_MS).length;
  let left = Math.min(
    (terminationsPerMinute ?? Infinity) - recent,
    drainingRatio === null
      ? Infinity
      : Math.max(1, Math.ceil((count('ready') + draining) * drainingRatio)) - draining,
  );
  const mayTerminate = createTerminationCheck(input);
  const groups = new Map(input.control.fleet.groups.map((group) => [group.name, group]));
  const blocked = new Set(prepared.conditions.map(({ group }) => group));
  return {
    take({ name }) {
      if (!mayTerminate(name)) return 'paused';
      if (left <= 0) return 'blast-radius';
      left--;
      return 'granted';
    },
    hasRecovered: ({ fallbackFor }) =>
      fallbackFor.every((name) => {
        const group = groups.get(name);
        // A trouble whose wait is over is not gone before a launch has succeeded.
        return group !== undefined && !blocked.has(name) && troublesOf(input, group).length === 0;
      }),
  };
}

/** Verdicts by equal words, in order of the first slice of each. */
function gather(
  { slices }: TickInput,
  verdicts: ReadonlyMap<SliceId, SliceVerdict>,
  { deferred }: Sending,
): TickOutput['verdicts'] {
  const rows = new Map<string, { verdict: SliceVerdict; sliceIds: SliceId[] }>();
  // Most verdicts are shared objects: their words are made once.
  const known = new Map<SliceVerdict, { verdict: SliceVerdict; sliceIds: SliceId[] }>();
  for (const { id } of slices) {
    const late = deferred.get(id);
    const verdict = late === undefined ? verdicts.get(id) : { kind: 'deferred' as const, ...late };
    assert(verdict !== undefined, 'every live slice has a verdict');
    let row = known.get(verdict);
    if (row === undefined) {
      const key = JSON.stringify(verdict);
      row = rows.get(key) ?? { verdict, sliceIds: [] };
      rows.set(key, row);
      known.set(verdict, row);
    }
    row.sliceIds.push(id);
  }
  return [...rows.values()];
}

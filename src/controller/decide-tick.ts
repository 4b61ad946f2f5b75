import type { Group } from '../model/group.ts';
import type { SliceId } from '../model/ids.ts';
import type { TickInput, TickOutput } from '../model/tick.ts';
import { isOfProvider } from '../planner/conditions.ts';
import { makePlan } from '../planner/plan.ts';
import { decideDemandInTurns } from '../policy/demand/decide.ts';
import type { TickWrite } from '../ports/store.ts';
import { assert } from '../support/assert.ts';
import { runThrough, type Turns } from '../support/turns.ts';
import { groundsOf } from './decision-snapshot.ts';

/**
 * All that one tick concludes from what it was given: decide, then plan. Pure: run again on the
 * recorded input it gives the same output, byte for byte.
 */
export function decideTick(given: TickInput): TickOutput {
  return runThrough(decideInTurns(given));
}

/** As `decideTick`, with a stop between its long stretches. */
export function* decideInTurns(given: TickInput): Turns<TickOutput> {
  const { input, prepared, snapshot } = groundsOf(given);
  const decision = yield* decideDemandInTurns(snapshot);
  yield;
  const willing = prepared.conditions.filter((condition) => !isOfProvider(condition));
  const isTroubled = willing.length < prepared.conditions.length;
  const isLaunching = decision.groups.some(({ causes }) => causes.demand > 0);
  const untroubled =
    isTroubled && isLaunching
      ? yield* decideDemandInTurns({ ...snapshot, conditions: willing })
      : null;
  if (untroubled !== null) yield;
  const output = makePlan(input, { prepared, decision, untroubled });
  checkBounds(input, output);
  return output;
}

/** A tick with what the journal keeps of it. */
export interface Tick {
  readonly input: TickInput;
  readonly output: TickOutput;
  readonly write: TickWrite;
}

/** The last check: the allocation knew the bounds, so nothing here can be wrong but by a bug. */
function checkBounds({ control, slices }: TickInput, { decision, steps }: TickOutput): void {
  const given = new Set<SliceId>();
  for (const step of steps) if (step.kind === 'cancel') given.add(step.sliceId);
  const queued = slices.filter(({ status, id }) => status === 'queued' && given.has(id)).length;
  const launched = decision.groups.reduce((sum, { launch }) => sum + launch, 0);
  const { slicesMax } = control.fleet.limits;
  assert(
    launched === 0 || slicesMax === null || slices.length - queued + launched <= slicesMax,
    'no plan goes beyond maxSlices',
  );
  const { groups, limits, quotaPools } = control.fleet;
  decision.groups.forEach(({ launch, total, group }, index) => {
    const max = groups[index]?.max ?? 0;
    assert(launch === 0 || total + launch <= max, `no plan goes beyond the max of ${group}`);
  });
  /** What all slices use of a shared bound; null when no launch draws on it. */
  const useOf = (each: (group: Group) => number): number | null => {
    let isDrawn = false;
    const use = groups.reduce((sum, group, index) => {
      const { total = 0, launch = 0 } = decision.groups[index] ?? {};
      isDrawn ||= launch > 0 && each(group) > 0;
      return sum + (total + launch) * each(group);
    }, 0);
    return isDrawn ? use : null;
  };
  const spend = useOf((group) => group.priceMicroUsdPerHour ?? 0);
  assert((spend ?? 0) <= (limits.spendMaxMicroUsdPerHour ?? Infinity), 'no plan spends too much');
  for (const { name, limits: units } of quotaPools) {
    for (const [resource, most] of Object.entries(units)) {
      const use = useOf(({ quotaPool, host, hostsPerSlice }) =>
        quotaPool === name ? (host[resource] ?? 0) * hostsPerSlice : 0,
      );
      assert((use ?? 0) <= most, `no plan goes beyond the quota pool ${name}`);
    }
  }
}

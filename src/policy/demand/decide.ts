import type { ClassVerdict, DemandDecision, GroupReport } from '../../model/decision.ts';
import type { Strategy } from '../../model/fleet.ts';
import type { GroupName } from '../../model/ids.ts';
import type { Exclusion, GroupAvailability, GroupVerdict } from '../../model/reason.ts';
import { onItsWay } from '../../model/slice.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { must } from '../../support/assert.ts';
import { runThrough, type Turns } from '../../support/turns.ts';
import type { AllocateDemand, Allocation } from './allocation.ts';
import { allocateByCost } from './cost/allocate.ts';
import type { Block } from './budgets.ts';
import { type Evidence, countRiders, createExclusionLists, explainClass } from './explain.ts';
import { type Floors, holdFloors } from './floors.ts';
import { createGate } from './gate.ts';
import { isOfCapacity } from './judge.ts';
import { openMinimum } from './minimum.ts';
import { allocateByPriority } from './priority.ts';
import { type DemandProblem, type Ledger, createProblem } from './problem.ts';
import { allocateByUtilization } from './utilization/allocate.ts';

const allocators: Readonly<Record<Strategy, AllocateDemand>> = {
  priority: allocateByPriority,
  utilization: allocateByUtilization,
  cost: allocateByCost,
};

/**
 * Which slices to launch for the snapshot's demand, and why, for every class and every group.
 * Pure: the same snapshot gives the same decision, byte for byte.
 */
export function decideDemand(snapshot: Snapshot): DemandDecision {
  return runThrough(decideDemandInTurns(snapshot));
}

/** As `decideDemand`, with a stop between its long stretches. */
export function* decideDemandInTurns(snapshot: Snapshot): Turns<DemandDecision> {
  const problem = createProblem(snapshot);
  yield;
  const { allocation, floors } = yield* allocateInTurns(problem);
  yield;
  return yield* explain(problem, allocation, floors);
}

/** Serves all wants in turn: demand by the fleet's strategy, floors, min, spare. */
export function allocate(problem: DemandProblem): Allocated {
  return runThrough(allocateInTurns(problem));
}

interface Allocated {
  readonly allocation: Allocation;
  readonly floors: Floors;
}

function* allocateInTurns(problem: DemandProblem): Turns<Allocated> {
  const allocation = yield* allocators[problem.snapshot.fleet.strategy](problem);
  const floors = holdFloors(problem, allocation);
  openMinimum(problem, allocation);
  keepSpare(problem, allocation);
  return { allocation, floors };
}

/** Launches idle slices up to `spare`, counting those there and those coming that nobody uses. */
function keepSpare({ groups }: DemandProblem, allocation: Allocation): void {
  const { budgets, rooms } = allocation.ledger;
  groups.forEach((group, index) => {
    if (group.spare === 0) return;
    const missing = group.spare - rooms.wholeSlices(index);
    const slices = Math.min(missing, budgets.openable(index));
    if (slices > 0) allocation.open(index, slices, 'spare');
  });
}

/** Classes explained between two stops: those that wait take a look at every group. */
const CLASSES_PER_TURN = 150;

function* explain(
  problem: DemandProblem,
  allocation: Allocation,
  floors: Floors,
): Turns<DemandDecision> {
  const { snapshot } = problem;
  const { budgets } = allocation.ledger;
  const evidence: Evidence = {
    problem,
    allocation,
    couldEverRun: createGate(problem),
    ridersOf: countRiders(problem, allocation),
    listExclusions: createExclusionLists(problem),
    isOpenable: Uint8Array.from(problem.groups, (_, group) =>
      budgets.openable(group) > 0 ? 1 : 0,
    ),
  };
  const wants = new Map(problem.wants.map((want) => [want.index, want]));
  const classes: ClassVerdict[] = [];
  for (const demand of snapshot.demand) {
    classes.push(explainClass(evidence, demand, wants.get(classes.length)));
    if (classes.length % CLASSES_PER_TURN === 0) yield;
  }
  const groups = reportGroups(problem, allocation, {
    barriers: findBarriers(problem, classes),
    heldBy: floors.heldBy,
  });
  return {
    strategy: snapshot.fleet.strategy,
    groups,
    classes,
    floors: floors.verdicts,
    costMicroUsdPerHour: groups.reduce((sum, group) => sum + (group.costMicroUsdPerHour ?? 0), 0),
  };
}

/** By group, the bound that keeps out work which the group admits; null when no such work waits. */
function findBarriers(
  { groups }: DemandProblem,
  classes: readonly ClassVerdict[],
): readonly (Exclusion | null)[] {
  const barriers: (Exclusion | null)[] = groups.map(() => null);
  const lists = new Set(classes.flatMap(({ unmet }) => (unmet === null ? [] : [unmet.groups])));
  for (const list of lists) {
    list.forEach(({ exclusion }, group) => {
      if (isOfCapacity(exclusion)) barriers[group] ??= exclusion;
    });
  }
  return barriers;
}

function reportGroups(
  problem: DemandProblem,
  { opened, ledger }: Allocation,
  {
    barriers,
    heldBy,
  }: { readonly barriers: readonly (Exclusion | null)[]; readonly heldBy: readonly number[] },
): readonly GroupReport[] {
  const { groups, snapshot, totals } = problem;
  const coming = new Set<GroupName>();
  for (const slice of snapshot.slices) if (onItsWay.has(slice.status)) coming.add(slice.group);
  return groups.map((group, index): GroupReport => {
    const total = totals[index] ?? 0;
    const causes = {
      demand: opened.demand[index] ?? 0,
      min: opened.min[index] ?? 0,
      spare: opened.spare[index] ?? 0,
      floor: opened.floor[index] ?? 0,
    };
    const launch = causes.demand + causes.min + causes.spare + causes.floor;
    const block = ledger.budgets.blockOf(index);
    const isFull = total + launch >= group.max;
    const price = group.priceMicroUsdPerHour;
    return {
      group: group.name,
      availability: availabilityOf(block, isFull, coming.has(group.name)),
      verdict: verdictOn(launch, block ?? barriers[index] ?? null, isFull, {
        total,
        max: group.max,
      }),
      total,
      launch,
      causes,
      costMicroUsdPerHour: price === null ? null : price * launch,
      unused: ledger.rooms.unused(index),
      held: heldBy[index] ?? 0,
      shortfall: findShortfall(problem, ledger, index),
    };
  });
}

function availabilityOf(
  block: Block | null,
  isFull: boolean,
  isComing: boolean,
): GroupAvailability {
  if (block !== null) return block.kind === 'draining-group' ? 'draining' : block.kind;
  if (isFull) return 'at-max';
  return isComing ? 'requesting' : 'available';
}

function verdictOn(
  launch: number,
  barrier: Exclusion | null,
  isFull: boolean,
  slices: { readonly total: number; readonly max: number },
): GroupVerdict {
  if (launch > 0) return { kind: 'selected' };
  if (isFull && (barrier === null || barrier.kind === 'at-max'))
    return { kind: 'at-max', ...slices };
  return barrier === null ? { kind: 'idle' } : { kind: 'blocked', by: barrier };
}

/** What keeps a group below its min or spare; null when nothing does. */
function findShortfall(
  { groups }: DemandProblem,
  { budgets, rooms }: Ledger,
  index: number,
): GroupReport['shortfall'] {
  const group = must(groups[index], 'a group index');
  const belowMin = group.min - (budgets.total[index] ?? 0);
  const belowSpare = group.spare === 0 ? 0 : group.spare - rooms.wholeSlices(index);
  const slices = Math.max(belowMin, belowSpare, 0);
  if (slices === 0) return null;
  const [by] = budgets.forbids(index, slices);
  return by === undefined ? null : { slices, by };
}

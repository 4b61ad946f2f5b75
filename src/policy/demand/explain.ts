import type { ClassVerdict, Placement } from '../../model/decision.ts';
import type { DemandClass } from '../../model/demand.ts';
import type {
  Exclusion,
  GroupExclusion,
  InvalidDemand,
  PlacedWhy,
  RunnerUp,
  Unmet,
} from '../../model/reason.ts';
import { assert, must } from '../../support/assert.ts';
import type { Allocation, Berth, Berthing, Stuck } from './allocation.ts';
import { type Waiting, findNearest, findRemedy, listHurdles } from './remedies.ts';
import type { Gate } from './gate.ts';
import { findHints } from './hints.ts';
import { codeOf } from './judge.ts';
import { byRank, placeEntries } from './place.ts';
import { type DemandProblem, type Ledger, type Want, invalidOf } from './problem.ts';
import { entryShare } from './shares.ts';

/** Everything a verdict is drawn from: the problem, and the books after the plan. */
export interface Evidence {
  readonly problem: DemandProblem;
  readonly allocation: Allocation;
  /** Whether the fleet could take an entry if it were empty and untroubled. */
  readonly couldEverRun: Gate;
  /** By group: 1 where a slice could still be opened after the plan. */
  readonly isOpenable: Uint8Array;
  /** By group: how many classes got room on its new slices. */
  readonly ridersOf: Int32Array;
  readonly listExclusions: ListExclusions;
}

/** Every group with the rule against it. */
export type ListExclusions = (rules: readonly Exclusion[]) => readonly GroupExclusion[];

/** Lists told apart by the objects in them: more than so many are not looked through. */
const LISTS_MAX = 64;

/**
 * Classes that wait mostly wait for the same reasons: the same rules in every group give the same
 * list, which then is kept, shown and recorded once.
 */
export function createExclusionLists({ groups }: DemandProblem): ListExclusions {
  const known: { rules: readonly Exclusion[]; list: readonly GroupExclusion[] }[] = [];
  return (rules) => {
    const before = known.find((one) => rules.every((rule, index) => rule === one.rules[index]));
    if (before !== undefined) return before.list;
    const list = groups.map((group, index) => {
      return { group: group.name, exclusion: must(rules[index], 'one rule per group') };
    });
    if (known.length < LISTS_MAX) known.push({ rules, list });
    return list;
  };
}

/** By group, the classes with room on new slices. */
export function countRiders({ groups }: DemandProblem, { berthings }: Allocation): Int32Array {
  const riders = new Int32Array(groups.length);
  for (const list of berthings) {
    const homes = new Set<number>();
    for (const { berths } of list) {
      for (const { group, room } of berths) if (room === 'new') homes.add(group);
    }
    for (const group of homes) riders[group] = (riders[group] ?? 0) + 1;
  }
  return riders;
}

/** The verdict on one class: where its entries go and why, or why they wait. */
export function explainClass(
  evidence: Evidence,
  demand: DemandClass,
  want: Want | undefined,
): ClassVerdict {
  const { problem, allocation } = evidence;
  if (want === undefined) {
    const invalid = invalidOf(demand, problem.snapshot.fleet.strategy);
    const unmet = explainInvalid(must(invalid, 'only invalid classes have no want'));
    return { placed: [], unmetCount: demand.count, unmet };
  }
  const berthings = must(allocation.berthings[want.index], 'one list per class');
  const homes = berthings.length === 0 ? null : rankHomes(problem, want, evidence.isOpenable);
  const placed = berthings.map((berthing) =>
    explainPlaced(evidence, want, berthing, must(homes, 'ranked where anything is placed')),
  );
  const unmetCount = demand.count - placed.reduce((sum, { count }) => sum + count, 0);
  assert(unmetCount >= 0, 'no strategy places more entries than there are');
  if (unmetCount === 0) return { placed, unmetCount, unmet: null };
  const stuck = tryBundlesAgain(problem, allocation, want);
  // A part that no group admits is the first thing to tell, whoever else found no place.
  const hopeless = want.parts.find(({ ranked }) => ranked.length === 0);
  const part = hopeless ?? stuck?.part ?? must(want.parts[0], 'a class has a part');
  const isEverAdmitted = hopeless === undefined && evidence.couldEverRun(want);
  const rules = stuck !== undefined && stuck.part === part ? stuck.rules : null;
  const waiting = { part, count: unmetCount, isEverAdmitted, rules, want };
  const unmet = explainUnmet(problem, allocation.ledger, waiting, evidence.listExclusions);
  return { placed, unmetCount, unmet: { ...unmet, part: want.parts.indexOf(part) } };
}

/** Bundles that wait are tried once more, to tell what keeps them out now and not earlier. */
function tryBundlesAgain(
  problem: DemandProblem,
  allocation: Allocation,
  want: Want,
): Stuck | undefined {
  if (want.form.kind !== 'bundles' || want.parts.length === 1) return undefined;
  allocation.attempt(() => {
    const placed = placeEntries(problem, allocation, want, { count: 1, order: byRank });
    assert(placed === 0, 'what could still be placed does not wait');
    return false;
  });
  return allocation.stuck.get(want.index);
}

function explainInvalid(invalid: InvalidDemand): Unmet {
  return {
    code: 'invalid-demand',
    invalid,
    part: 0,
    groups: [],
    isEverAdmitted: false,
    change: null,
    changeAdmits: 0,
    nearest: null,
    hints: [],
  };
}

/** Why nothing takes the part: for every group, the first rule that excluded it. */
export function explainUnmet(
  problem: DemandProblem,
  ledger: Ledger,
  waiting: Waiting & { readonly isEverAdmitted: boolean },
  listExclusions: ListExclusions,
): Unmet {
  const hurdles = listHurdles(problem, ledger, waiting);
  const rules = hurdles.map((hurdle) => must(hurdle, 'a rule that keeps waiting work out').rule);
  const code = codeOf(rules);
  const remedy = findRemedy(problem, ledger, waiting, hurdles);
  return {
    code,
    invalid: null,
    part: 0,
    groups: listExclusions(rules),
    isEverAdmitted: waiting.isEverAdmitted,
    change: remedy?.change ?? null,
    changeAdmits: remedy?.admits ?? 0,
    nearest: remedy === null ? findNearest(problem, ledger, waiting) : null,
    hints: code === 'no-matching-group' ? findHints(waiting.part.asks, problem.groups) : [],
  };
}

function explainPlaced(
  evidence: Evidence,
  want: Want,
  { count, berths }: Berthing,
  homes: readonly Home[],
): Placement {
  const { problem } = evidence;
  const spots = berths.map(({ group, room, tasks }) => {
    return { group: must(problem.groups[group], 'a group index').name, room, tasks };
  });
  const home = must(berths.at(-1), 'a placed entry has a berth').group;
  const isNew = berths.some(({ room }) => room === 'new');
  return {
    count,
    spots,
    why: isNew ? whyNew(evidence, want, berths, homes) : { kind: 'room-there' },
    runnerUp: toRunnerUp(problem, homes.find(({ group }) => group !== home) ?? null),
  };
}

function whyNew(
  { problem, allocation, ridersOf }: Evidence,
  want: Want,
  berths: readonly Berth[],
  homes: readonly Home[],
): PlacedWhy {
  const home = must(berths.at(-1), 'a placed entry has a berth').group;
  const { strategy } = problem.snapshot.fleet;
  if (strategy === 'priority') {
    return {
      kind: 'first-by-rank',
      priority: must(problem.groups[home], 'a group index').priority,
    };
  }
  if (strategy === 'utilization') return { kind: 'best-utilization' };
  const share = entryShare(problem, want, home) ?? 0;
  const [best] = homes;
  // Another group that could still be had is cheaper by its own share and as well liked: so this
  // one rides on a slice that others pay for, or fills its own better than it would the other's.
  const soft = want.parts[0]?.soft;
  const isAsGood = best !== undefined && (soft?.[best.group] ?? 0) >= (soft?.[home] ?? 0);
  const isRiding = want.form.kind === 'single' && isAsGood && share > (best?.share ?? Infinity);
  if (isRiding && (ridersOf[home] ?? 0) > 1) return { kind: 'fills-up' };
  if (isRiding) {
    const price = must(problem.groups[home], 'a group index').priceMicroUsdPerHour ?? 0;
    const slices = allocation.opened.demand[home] ?? 0;
    return { kind: 'whole-slices', costMicroUsdPerHour: slices * price };
  }
  const tasks = berths.reduce((sum, berth) => sum + berth.tasks, 0);
  const paid = berths.reduce((sum, berth) => sum + (berth.room === 'new' ? berth.tasks : 0), 0);
  return { kind: 'least-cost', shareMicroUsdPerHour: Math.round((share * paid) / tasks) };
}

interface Home {
  readonly group: number;
  readonly share: number | null;
}

/**
 * The two best groups that could take an entry after the plan: the runner-up is the better one that
 * it did not get. Best is what satisfies most soft constraints and then is cheapest under the cost
 * strategy; next by rank under the others.
 */
function rankHomes(problem: DemandProblem, want: Want, isOpenable: Uint8Array): readonly Home[] {
  const byCost = problem.snapshot.fleet.strategy === 'cost';
  const { ranked, soft } = must(want.parts[0], 'a class has a part');
  const isSingle = want.parts.length === 1;
  let [first, firstPrice, second, secondPrice] = [-1, Infinity, -1, Infinity];
  for (const group of ranked) {
    if (isOpenable[group] === 0) continue;
    if (!isSingle && !want.parts.every((part) => part.admitted[group] === 1)) continue;
    // Groups come by soft constraints: once one satisfies fewer, it is behind those before it.
    const isLess = second >= 0 && (soft[group] ?? 0) < (soft[second] ?? 0);
    if (isLess || (!byCost && second >= 0)) break;
    const price = byCost ? (entryShare(problem, want, group) ?? Infinity) : 0;
    const isLiked = first >= 0 && (soft[group] ?? 0) === (soft[first] ?? 0);
    if (first < 0 || (isLiked && price < firstPrice)) {
      second = first;
      secondPrice = firstPrice;
      first = group;
      firstPrice = price;
    } else if (second < 0 || price < secondPrice) {
      second = group;
      secondPrice = price;
    }
  }
  return [first, second].flatMap((group) =>
    group < 0 ? [] : [{ group, share: entryShare(problem, want, group) }],
  );
}

function toRunnerUp({ groups }: DemandProblem, home: Home | null): RunnerUp | null {
  if (home === null) return null;
  const { name } = must(groups[home.group], 'a group index');
  return { group: name, shareMicroUsdPerHour: home.share };
}

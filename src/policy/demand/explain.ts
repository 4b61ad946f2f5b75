import type { ClassVerdict, Placement } from '../../model/decision.ts';
import type { DemandClass } from '../../model/demand.ts';
import type { InvalidDemand, PlacedWhy, RunnerUp, Unmet } from '../../model/reason.ts';
import { assert, must } from '../../support/assert.ts';
import type { Allocation, Berthing } from './allocation.ts';
import { type Waiting, findRemedy, rulesAgainst } from './changes.ts';
import { findHints } from './hints.ts';
import { codeOf } from './judge.ts';
import { type DemandProblem, type Ledger, type Want, invalidOf } from './problem.ts';
import { entryShare } from './shares.ts';

/** Everything a verdict is drawn from: the problem, and the books after the plan. */
export interface Evidence {
  readonly problem: DemandProblem;
  readonly allocation: Allocation;
  /** Whether the fleet could take an entry if it were empty and untroubled. */
  readonly couldEverRun: (want: Want) => boolean;
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
  const placed = berthings.map((berthing) => explainPlaced(problem, want, berthing));
  const unmetCount = demand.count - placed.reduce((sum, { count }) => sum + count, 0);
  assert(unmetCount >= 0, 'no strategy places more entries than there are');
  if (unmetCount === 0) return { placed, unmetCount, unmet: null };
  const stuck = allocation.stuck.get(want.index);
  // A part that no group admits is the first thing to tell, whoever else found no place.
  const hopeless = want.parts.find(({ ranked }) => ranked.length === 0);
  const part = hopeless ?? stuck?.part ?? must(want.parts[0], 'a class has a part');
  const isEverAdmitted = hopeless === undefined && evidence.couldEverRun(want);
  const rules = stuck !== undefined && stuck.part === part ? stuck.rules : null;
  const waiting = { part, count: unmetCount, isEverAdmitted, rules, want };
  const unmet = explainUnmet(problem, allocation.ledger, waiting);
  return { placed, unmetCount, unmet: { ...unmet, part: want.parts.indexOf(part) } };
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
    hints: [],
  };
}

/** Why nothing takes the part: for every group, the first rule that excluded it. */
export function explainUnmet(
  problem: DemandProblem,
  ledger: Ledger,
  waiting: Waiting & { readonly isEverAdmitted: boolean },
): Unmet {
  const { groups } = problem;
  const rules = rulesAgainst(problem, ledger, waiting, 1).map((all, index) => {
    const name = groups[index]?.name;
    return must(all[0], `a rule that keeps waiting work out of ${name}`);
  });
  const code = codeOf(rules);
  const remedy = findRemedy(problem, ledger, waiting);
  return {
    code,
    invalid: null,
    part: 0,
    groups: groups.map((group, index) => {
      return { group: group.name, exclusion: must(rules[index], 'one rule per group') };
    }),
    isEverAdmitted: waiting.isEverAdmitted,
    change: remedy?.change ?? null,
    changeAdmits: remedy?.admits ?? 0,
    hints: code === 'no-matching-group' ? findHints(waiting.part.asks, groups) : [],
  };
}

function explainPlaced(problem: DemandProblem, want: Want, berthing: Berthing): Placement {
  const { groups, snapshot } = problem;
  const { count, berths } = berthing;
  const spots = berths.map(({ group, room, tasks }) => {
    return { group: must(groups[group], 'a group index').name, room, tasks };
  });
  const home = must(berths.at(-1), 'a placed entry has a berth').group;
  const isNew = berths.some(({ room }) => room === 'new');
  return {
    count,
    spots,
    why: isNew ? whyNew(problem, want, home) : { kind: 'room-there' },
    runnerUp: findRunnerUp(problem, want, home, snapshot.fleet.strategy === 'cost'),
  };
}

function whyNew(problem: DemandProblem, want: Want, home: number): PlacedWhy {
  const group = must(problem.groups[home], 'a group index');
  const { strategy } = problem.snapshot.fleet;
  if (strategy === 'priority') return { kind: 'first-by-rank', priority: group.priority };
  if (strategy === 'utilization') return { kind: 'best-utilization' };
  return { kind: 'least-cost', shareMicroUsdPerHour: entryShare(problem, want, home) ?? 0 };
}

/** The best other group that admits the entry: the cheapest, or the next by rank. */
function findRunnerUp(
  problem: DemandProblem,
  want: Want,
  home: number,
  byCost: boolean,
): RunnerUp | null {
  const first = must(want.parts[0], 'a class has a part');
  const others = first.ranked.filter(
    (group) => group !== home && want.parts.every((part) => part.admitted[group] === 1),
  );
  let best: { readonly group: number; readonly share: number | null } | null = null;
  for (const group of others) {
    const share = entryShare(problem, want, group);
    if (best === null || (byCost && (share ?? Infinity) < (best.share ?? Infinity))) {
      best = { group, share };
    }
    if (!byCost) break;
  }
  if (best === null) return null;
  const { name } = must(problem.groups[best.group], 'a group index');
  return { group: name, shareMicroUsdPerHour: best.share };
}

import type { Fleet } from '../../model/fleet.ts';
import type { Group } from '../../model/group.ts';
import type { Bound, Exclusion } from '../../model/reason.ts';
import type { GroupCondition } from '../../model/snapshot.ts';
import { assert, must } from '../../support/assert.ts';

interface Amounts {
  readonly need: number;
  readonly have: number;
  readonly max: number;
  readonly owed: number;
}

/** A bound on new slices that several groups share: opening one in a group draws `use[group]`. */
export interface SharedBudget {
  readonly use: Float64Array;
  readonly max: number;
  left: number;
  /** The bound as a reason, for a need. */
  readonly describe: (amounts: Amounts) => Bound;
}

/** A condition of a group as the rule by which it excludes. */
export type Block = Extract<
  Exclusion,
  { kind: 'backoff' | 'stockout' | 'quota-exceeded' | 'paused' | 'draining-group' }
>;

interface BudgetInput {
  readonly fleet: Fleet;
  /** Slices of each group that count against its max. */
  readonly totals: readonly number[];
  readonly conditions: readonly GroupCondition[];
}

/**
 * What may still be opened, over one decision. Bounds are inputs: a strategy asks before it opens,
 * so no plan needs correcting and every reason is true.
 */
export class Budgets {
  /** Slices that count against the group's max, those opened in this decision included. */
  readonly total: Int32Array;
  readonly shared: readonly SharedBudget[];
  /** Slices set aside for each group's min and not opened yet. */
  readonly reserved: Int32Array;
  readonly #groups: readonly Group[];
  readonly #blocked: readonly (Block | null)[];
  /** What min had set aside at first, and what has been opened since: the first of it comes from that. */
  readonly #reservedAtFirst: Int32Array;
  readonly #opened: Int32Array;
  /** Rules told before, until anything is drawn: hundreds of classes ask the same of a group. */
  #told: (Map<number, readonly Exclusion[]> | undefined)[] = [];

  constructor({ fleet, totals, conditions }: BudgetInput) {
    this.#groups = fleet.groups;
    this.total = Int32Array.from(totals);
    this.shared = createShared(fleet, totals);
    this.#blocked = fleet.groups.map((group) => findBlock(group, conditions));
    this.reserved = reserveMinimum(fleet.groups, this.total, this.shared, this.#blocked);
    this.#reservedAtFirst = this.reserved.slice();
    this.#opened = new Int32Array(fleet.groups.length);
  }

  /** How many slices the group may still open within every bound; 0 while it is blocked. */
  openable(group: number): number {
    let shared = Infinity;
    for (const { use, left } of this.shared) {
      const each = use[group] ?? 0;
      if (each > 0) shared = Math.min(shared, wholeTimes(left, each));
    }
    return Math.min(this.headroom(group), (this.reserved[group] ?? 0) + shared);
  }

  /** The same by the group's own max and condition alone, whatever the shared bounds say. */
  headroom(group: number): number {
    if (this.#blocked[group]) return 0;
    return Math.max(0, this.#groupAt(group).max - (this.total[group] ?? 0));
  }

  open(group: number, slices: number): void {
    assert(slices <= this.openable(group), 'a strategy asks before it opens');
    this.#draw(group, slices);
  }

  /** Takes back what was opened last, after a trial that failed. */
  close(group: number, slices: number): void {
    assert(slices <= (this.#opened[group] ?? 0), 'only what was opened can be closed');
    this.#draw(group, -slices);
  }

  /** Whether every group has, or has set aside, what its min asks for. */
  isMinKept(): boolean {
    return this.#groups.every((_, group) => this.#lacking(group) === 0);
  }

  /** What blocks the group whatever its bounds; null when nothing does. */
  blockOf(group: number): Block | null {
    return this.#blocked[group] ?? null;
  }

  /** Every rule that forbids `slices` more in the group, in the order of the closed list. */
  forbids(group: number, slices: number): readonly Exclusion[] {
    const known = (this.#told[group] ??= new Map<number, readonly Exclusion[]>());
    let rules = known.get(slices);
    if (rules === undefined) known.set(slices, (rules = this.#findForbidding(group, slices)));
    return rules;
  }

  #findForbidding(group: number, slices: number): readonly Exclusion[] {
    const rules: Exclusion[] = [];
    const { max } = this.#groupAt(group);
    const have = Math.max(0, max - (this.total[group] ?? 0));
    if (slices > have) rules.push({ kind: 'at-max', need: slices, have, max });
    const fresh = Math.max(0, slices - (this.reserved[group] ?? 0));
    for (const budget of this.shared) {
      const need = fresh * (budget.use[group] ?? 0);
      if (need <= budget.left) continue;
      const left = Math.max(0, budget.left);
      const owed = this.#owedFrom(budget);
      rules.push(budget.describe({ need, have: left, max: budget.max, owed }));
    }
    const block = this.#blocked[group];
    if (block) rules.push(block);
    return rules;
  }

  #draw(group: number, slices: number): void {
    const atFirst = this.#reservedAtFirst[group] ?? 0;
    const before = Math.min(this.#opened[group] ?? 0, atFirst);
    this.#opened[group] = (this.#opened[group] ?? 0) + slices;
    const after = Math.min(this.#opened[group] ?? 0, atFirst);
    this.reserved[group] = atFirst - after;
    this.total[group] = (this.total[group] ?? 0) + slices;
    const fresh = slices - (after - before);
    for (const budget of this.shared) budget.left -= fresh * (budget.use[group] ?? 0);
    this.#told = [];
  }

  /** What groups below their min would draw of a budget first. */
  #owedFrom(budget: SharedBudget): number {
    return this.#groups.reduce((sum, _, group) => {
      return sum + this.#lacking(group) * (budget.use[group] ?? 0);
    }, 0);
  }

  #lacking(group: number): number {
    if (this.#blocked[group]) return 0;
    const { min, max } = this.#groupAt(group);
    const kept = (this.total[group] ?? 0) + (this.reserved[group] ?? 0);
    return Math.max(0, Math.min(min, max) - kept);
  }

  #groupAt(group: number): Group {
    return must(this.#groups[group], 'a group index');
  }
}

/** Quota pools, then the spend cap, then the fleet maximum: the order in which reasons name them. */
function createShared(fleet: Fleet, totals: readonly number[]): SharedBudget[] {
  const { groups, quotaPools, limits } = fleet;
  const budgets: SharedBudget[] = [];
  const add = (
    max: number,
    useOf: (group: Group) => number,
    describe: SharedBudget['describe'],
  ): void => {
    const use = new Float64Array(groups.length);
    let left = max;
    groups.forEach((group, index) => {
      use[index] = useOf(group);
      left -= (use[index] ?? 0) * (totals[index] ?? 0);
    });
    budgets.push({ use, max, left, describe });
  };
  for (const pool of quotaPools) {
    for (const [resource, max] of Object.entries(pool.limits)) {
      const useOf = (group: Group): number =>
        group.quotaPool === pool.name ? group.hostsPerSlice * (group.host[resource] ?? 0) : 0;
      add(max, useOf, (amounts) => {
        return { kind: 'quota-pool', pool: pool.name, resource, ...amounts };
      });
    }
  }
  const { spendMaxMicroUsdPerHour: spendMax, slicesMax } = limits;
  if (spendMax !== null) {
    add(
      spendMax,
      (group) => group.priceMicroUsdPerHour ?? 0,
      (amounts) => ({ kind: 'spend-cap', ...amounts }),
    );
  }
  if (slicesMax !== null) {
    add(
      slicesMax,
      () => 1,
      (amounts) => ({ kind: 'fleet-max', ...amounts }),
    );
  }
  return budgets;
}

function findBlock(group: Group, conditions: readonly GroupCondition[]): Block | null {
  const condition = conditions.find((candidate) => candidate.group === group.name);
  if (condition === undefined) return null;
  if (condition.kind === 'draining') return { kind: 'draining-group' };
  return { kind: condition.kind, untilMs: condition.untilMs };
}

/** Sets aside, group by group, what its min still lacks, as far as the shared bounds reach. */
function reserveMinimum(
  groups: readonly Group[],
  total: Int32Array,
  shared: readonly SharedBudget[],
  blocked: readonly (Block | null)[],
): Int32Array {
  return Int32Array.from(groups, (group, index) => {
    if (blocked[index]) return 0;
    let slices = Math.max(0, Math.min(group.min, group.max) - (total[index] ?? 0));
    for (const budget of shared) {
      const use = budget.use[index] ?? 0;
      if (use > 0) slices = Math.min(slices, wholeTimes(budget.left, use));
    }
    for (const budget of shared) budget.left -= slices * (budget.use[index] ?? 0);
    return slices;
  });
}

/** How often `use` fits into `left`, exactly: a quotient rounded up by the division is taken back. */
export function wholeTimes(left: number, use: number): number {
  if (left <= 0) return 0;
  const times = Math.floor(left / use);
  return times * use > left ? times - 1 : times;
}

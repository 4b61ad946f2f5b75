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

/**
 * What may still be opened, over one decision. Bounds are inputs: a strategy asks before it opens,
 * so no plan needs correcting and every reason is true.
 */
export interface Budgets {
  /** Slices that count against the group's max, those opened in this decision included. */
  readonly total: Int32Array;
  readonly shared: readonly SharedBudget[];
  /** Slices set aside for each group's min and not opened yet. */
  readonly reserved: Int32Array;
  /** How many slices the group may still open within every bound; 0 while it is blocked. */
  openable(group: number): number;
  /** The same by the group's own max and condition alone, whatever the shared bounds say. */
  headroom(group: number): number;
  open(group: number, slices: number): void;
  /** Takes back what was opened last, after a trial that failed. */
  close(group: number, slices: number): void;
  /** What blocks the group whatever its bounds; null when nothing does. */
  blockOf(group: number): Block | null;
  /** Every rule that forbids `slices` more in the group, in the order of the closed list. */
  forbids(group: number, slices: number): readonly Exclusion[];
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

export function createBudgets({ fleet, totals, conditions }: BudgetInput): Budgets {
  const { groups } = fleet;
  const total = Int32Array.from(totals);
  const shared = createShared(fleet, totals);
  const blocked = groups.map((group) => findBlock(group, conditions));
  const reserved = reserveMinimum(groups, total, shared, blocked);
  /** Of each reservation, what this decision has opened: taken back first when closing. */
  const opened = new Int32Array(groups.length);

  const sharedOpenable = (group: number): number => {
    let most = Infinity;
    for (const budget of shared) {
      const use = budget.use[group] ?? 0;
      if (use > 0) most = Math.min(most, wholeTimes(budget.left, use));
    }
    return most;
  };
  const headroom = (group: number): number => {
    if (blocked[group]) return 0;
    return Math.max(0, must(groups[group], 'a group index').max - (total[group] ?? 0));
  };
  const reservedAt = new Int32Array(reserved);

  const draw = (group: number, slices: number): void => {
    // The first slices a group opens are those its min had set aside.
    const before = Math.min(opened[group] ?? 0, reservedAt[group] ?? 0);
    opened[group] = (opened[group] ?? 0) + slices;
    const after = Math.min(opened[group] ?? 0, reservedAt[group] ?? 0);
    reserved[group] = (reservedAt[group] ?? 0) - after;
    total[group] = (total[group] ?? 0) + slices;
    const fresh = slices - (after - before);
    for (const budget of shared) budget.left -= fresh * (budget.use[group] ?? 0);
  };

  const owedFrom = (budget: SharedBudget): number =>
    groups.reduce((sum, { min, max }, group) => {
      const lacking = Math.min(min, max) - (total[group] ?? 0) - (reserved[group] ?? 0);
      return blocked[group] || lacking <= 0 ? sum : sum + lacking * (budget.use[group] ?? 0);
    }, 0);

  return {
    total,
    shared,
    reserved,
    headroom,
    openable: (group) => Math.min(headroom(group), (reserved[group] ?? 0) + sharedOpenable(group)),
    open(group, slices) {
      assert(slices <= this.openable(group), 'a strategy asks before it opens');
      draw(group, slices);
    },
    close(group, slices) {
      assert(slices <= (opened[group] ?? 0), 'only what was opened can be closed');
      draw(group, -slices);
    },
    blockOf: (group) => blocked[group] ?? null,
    forbids(group, slices) {
      const rules: Exclusion[] = [];
      const { max } = must(groups[group], 'a group index');
      const have = Math.max(0, max - (total[group] ?? 0));
      if (slices > have) rules.push({ kind: 'at-max', need: slices, have, max });
      const fresh = Math.max(0, slices - (reserved[group] ?? 0));
      for (const budget of shared) {
        const need = fresh * (budget.use[group] ?? 0);
        if (need <= budget.left) continue;
        const have = Math.max(0, budget.left);
        rules.push(budget.describe({ need, have, max: budget.max, owed: owedFrom(budget) }));
      }
      const block = blocked[group];
      if (block) rules.push(block);
      return rules;
    },
  };
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
    const use = Float64Array.from(groups, useOf);
    const used = use.reduce((sum, each, group) => sum + each * (totals[group] ?? 0), 0);
    budgets.push({ use, max, left: max - used, describe });
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

import type { Budget } from './problem.ts';

/** Budgets being spent: `left` is by index of the budget. */
export interface Spending {
  readonly budgets: readonly Budget[];
  readonly left: readonly number[];
}

export const openSpending = (budgets: readonly Budget[]): Spending => ({
  budgets,
  left: budgets.map((budget) => budget.left),
});

/** Whether every budget that the type draws on has enough left for one more node. */
export function canAfford({ budgets, left }: Spending, type: string): boolean {
  return budgets.every((budget, i) => {
    const use = budget.use[type] ?? 0;
    return use === 0 || use <= (left[i] ?? 0);
  });
}

export function spend({ budgets, left }: Spending, type: string): Spending {
  return { budgets, left: left.map((amount, i) => amount - (budgets[i]?.use[type] ?? 0)) };
}

import type { Allocation } from './allocation.ts';
import type { DemandProblem } from './problem.ts';

/** Launches what min set aside and no work has opened yet. */
export function openMinimum({ groups }: DemandProblem, allocation: Allocation): void {
  const { budgets } = allocation.ledger;
  groups.forEach((_, group) => {
    const slices = Math.min(budgets.reserved[group] ?? 0, budgets.openable(group));
    if (slices > 0) allocation.open(group, slices, 'min');
  });
}

import type { GroupName } from '../../model/ids.ts';
import type { Exclusion } from '../../model/reason.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { must } from '../../support/assert.ts';
import { judge, slicesNeeded } from './judge.ts';
import { createProblem, openLedger } from './problem.ts';
import { entryShare } from './shares.ts';

/** Whether a group would have done for an entry, before anything was placed. */
export type Alternative =
  | {
      readonly kind: 'would-do';
      readonly group: GroupName;
      readonly shareMicroUsdPerHour: number | null;
      /** Slices it would have had to open. */
      readonly slices: number;
    }
  | { readonly kind: 'excluded'; readonly group: GroupName; readonly exclusion: Exclusion };

/** Every group as a home for one entry of a class, in config order; none for invalid demand. */
export function listAlternatives(snapshot: Snapshot, classIndex: number): readonly Alternative[] {
  const problem = createProblem(snapshot);
  const want = problem.wants.find(({ index }) => index === classIndex);
  if (want === undefined) return [];
  const ledger = openLedger(problem);
  return problem.groups.map((group, index): Alternative => {
    const part =
      want.parts.find(({ admitted }) => admitted[index] === 0) ?? must(want.parts[0], 'a part');
    const slices =
      part.admitted[index] === 1
        ? slicesNeeded(problem, ledger, part, { group: index, copies: 1 })
        : 1;
    const [exclusion] = judge(part, { group: index, slices }, ledger.budgets);
    if (exclusion !== undefined) return { kind: 'excluded', group: group.name, exclusion };
    const shareMicroUsdPerHour = entryShare(problem, want, index);
    return { kind: 'would-do', group: group.name, shareMicroUsdPerHour, slices };
  });
}

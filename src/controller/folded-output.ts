import type { ClassVerdict, DemandDecision, FloorVerdict } from '../model/decision.ts';
import type { SliceId } from '../model/ids.ts';
import type { GroupExclusion, Unmet } from '../model/reason.ts';
import type { PlanStep, TickOutput } from '../model/tick.ts';
import { must } from '../support/assert.ts';

type Launch = Extract<PlanStep, { kind: 'launch' }>;

/** What keeps work out of every group, by its place among the lists. */
type Folded<V extends { readonly unmet: Unmet | null }> = Omit<V, 'unmet'> & {
  readonly unmet: (Omit<Unmet, 'groups'> & { readonly groups: number }) | null;
};

/** Launches next to each other that differ in their ids alone. */
type FoldedStep = PlanStep | (Omit<Launch, 'sliceId'> & { readonly sliceIds: readonly SliceId[] });

/**
 * The output of a tick as the journal has it: what is said many times over is written once. Of a
 * large fleet it is a quarter of the text, and every tick waits for its text to be on disk.
 */
interface FoldedOutput extends Omit<TickOutput, 'decision' | 'steps'> {
  readonly decision: Omit<DemandDecision, 'classes' | 'floors'> & {
    readonly classes: readonly Folded<ClassVerdict>[];
    readonly floors: readonly Folded<FloorVerdict>[];
  };
  readonly steps: readonly FoldedStep[];
  readonly exclusions: readonly (readonly GroupExclusion[])[];
}

/** Lists that are the same object are one list: whoever explains shares them. */
export function foldOutput(output: TickOutput): FoldedOutput {
  const { decision, steps } = output;
  const lists = new Map<readonly GroupExclusion[], number>();
  const fold = <V extends { readonly unmet: Unmet | null }>(verdict: V): Folded<V> => {
    const { unmet } = verdict;
    if (unmet === null) return { ...verdict, unmet };
    let groups = lists.get(unmet.groups);
    if (groups === undefined) lists.set(unmet.groups, (groups = lists.size));
    return { ...verdict, unmet: { ...unmet, groups } };
  };
  const classes = decision.classes.map(fold);
  const floors = decision.floors.map(fold);
  return {
    ...output,
    decision: { ...decision, classes, floors },
    steps: foldSteps(steps),
    exclusions: [...lists.keys()],
  };
}

function foldSteps(steps: readonly PlanStep[]): readonly FoldedStep[] {
  const folded: FoldedStep[] = [];
  let open: { readonly like: Launch; readonly sliceIds: SliceId[] } | null = null;
  for (const step of steps) {
    if (step.kind !== 'launch') {
      open = null;
      folded.push(step);
    } else if (open !== null && isAlike(open.like, step)) {
      open.sliceIds.push(step.sliceId);
    } else {
      const { kind, sliceId, ...rest } = step;
      open = { like: step, sliceIds: [sliceId] };
      folded.push({ kind, sliceIds: open.sliceIds, ...rest });
    }
  }
  return folded;
}

const isAlike = (a: Launch, b: Launch): boolean =>
  a.group === b.group &&
  a.why === b.why &&
  a.reservedFor === b.reservedFor &&
  a.fallbackFor.length === b.fallbackFor.length &&
  a.fallbackFor.every((group, index) => group === b.fallbackFor[index]);

/** The output, its fields in the order in which they were. Journals that were never folded pass. */
export function unfoldOutput(folded: FoldedOutput | TickOutput): TickOutput {
  if (!('exclusions' in folded)) return folded;
  const { exclusions, ...rest } = folded;
  const { decision, steps } = rest;
  const unfold = <V extends Folded<{ readonly unmet: Unmet | null }>>(verdict: V) => {
    const { unmet } = verdict;
    if (unmet === null) return { ...verdict, unmet };
    const groups = must(exclusions[unmet.groups], 'a list of exclusions');
    return { ...verdict, unmet: { ...unmet, groups } };
  };
  return {
    ...rest,
    decision: {
      ...decision,
      classes: decision.classes.map(unfold),
      floors: decision.floors.map(unfold),
    },
    steps: steps.flatMap((step): readonly PlanStep[] => {
      if (!('sliceIds' in step)) return [step];
      const { kind, sliceIds, ...launch } = step;
      return sliceIds.map((sliceId) => ({ kind, sliceId, ...launch }));
    }),
  };
}

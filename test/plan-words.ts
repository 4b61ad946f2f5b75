import { decideTick } from '../src/controller/decide-tick.ts';
import type { PlanStep, TickInput } from '../src/model/tick.ts';

// A plan in words that a table of cases can hold.

const wordsOf = (why: unknown): string =>
  typeof why === 'object' && why !== null && 'kind' in why ? ` ${String(why.kind)}` : '';

const tellStep = (step: PlanStep): string =>
  step.kind === 'launch'
    ? `launch ${step.group} ${step.why}`
    : `${step.kind} ${step.sliceId}${'why' in step ? wordsOf(step.why) : ''}`;

/** The steps of a tick, those of sending left out: `drain s1 idle`, `launch group demand`. */
export const tellSteps = (input: TickInput): readonly string[] =>
  decideTick(input)
    .steps.filter(({ kind }) => kind !== 'send')
    .map(tellStep);

/** The verdict on every slice by its id: `s1 busy`. */
export const tellVerdicts = (input: TickInput): readonly string[] =>
  decideTick(input)
    .verdicts.flatMap(({ verdict, sliceIds }) => sliceIds.map((id) => `${id} ${verdict.kind}`))
    .sort();

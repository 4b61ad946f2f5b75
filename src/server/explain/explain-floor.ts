import { formText } from '../../api/demand-text.ts';
import { plural } from '../../api/format.ts';
import type { FloorVerdict } from '../../model/decision.ts';
import type { HeldFloor } from '../../model/push.ts';
import { type Answer, decisionLink, holds, inOrder } from './answer.ts';
import type { FleetView } from './fleet-view.ts';
import { nextLook } from './next-look.ts';
import { optionsFor } from './options.ts';
import { answerUnmet } from './unmet-answer.ts';

/** How much of a floor is held, and why not all. */
export function explainFloor(view: FleetView, floor: HeldFloor): Answer {
  const { id, ask, count, owner, expiresAtMs } = floor;
  const form = { kind: 'single', ask } as const;
  const asked = holds(
    'floor',
    `asked for by ${owner}: ${plural(count, 'copy', 'copies')} of (${formText(form)})`,
  );
  const expiry = { untilMs: expiresAtMs, text: 'the floor ends, unless it is asked for again' };
  const common = { kind: 'floor', subject: id } as const;
  const verdict = verdictOn(view, floor);
  if (verdict === null) {
    return {
      ...common,
      summary: `floor ${id} is not decided on yet`,
      chain: [asked, holds('undecided', 'it came or changed after the last decision')],
      options: [],
      remedy: '',
      nextLook: nextLook(view, [expiry], 'the first decision on it'),
    };
  }
  const { heldCount, unmet } = verdict;
  const held = `${heldCount} of ${plural(count, 'copy', 'copies')} held, with hosts that are there or coming`;
  const decided = view.last === null ? [] : [decisionLink(view.last)];
  const chain = [...decided, asked, holds('held', held)];
  if (unmet === null) {
    // One copy stands for the floor: which groups could hold it.
    const batch = { id, count: 1, submittedAtMs: view.nowMs, order: 0, owner, taskIds: [] };
    const lone = {
      form,
      priority: 0,
      invalid: null,
      isReserved: false,
      batches: [batch],
      count: 1,
    };
    return {
      ...common,
      summary: `floor ${id} is held: ${held}`,
      chain,
      options: optionsFor(view, lone, null),
      remedy: '',
      nextLook: nextLook(view, [expiry]),
    };
  }
  const why = answerUnmet(view, unmet, count - heldCount);
  return {
    ...common,
    summary: `floor ${id} lacks ${plural(count - heldCount, 'copy', 'copies')} of ${count} (${unmet.code})`,
    chain: inOrder([...chain, ...why.chain]),
    options: why.options,
    remedy: why.remedy,
    nextLook: nextLook(view, [...why.awaited, expiry]),
  };
}

/** Null where the last decision did not know it, or knew it otherwise. */
function verdictOn({ last }: FleetView, floor: HeldFloor): FloorVerdict | null {
  if (last === null) return null;
  const index = last.input.floors.findIndex(
    ({ id, ask, count }) => id === floor.id && ask === floor.ask && count === floor.count,
  );
  return last.output.decision.floors[index] ?? null;
}

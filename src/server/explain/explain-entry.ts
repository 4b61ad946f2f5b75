import { formText } from '../../api/demand-text.ts';
import { plural } from '../../api/format.ts';
import { eventText } from '../../api/event-text.ts';
import { invalidText } from '../../api/reason-text.ts';
import type { Placement } from '../../model/decision.ts';
import type { DemandClass } from '../../model/demand.ts';
import type { EntryId } from '../../model/ids.ts';
import { type Answer, decisionLink, happened, holds, inOrder, type Link } from './answer.ts';
import type { DecidedEntry, FoundEntry, Outcome } from './entry-lookup.ts';
import { answerPlaced } from './entry-placed.ts';
import type { FleetView } from './fleet-view.ts';
import { nextLook } from './next-look.ts';
import { optionsFor } from './options.ts';
import { leftText } from './phrases.ts';
import { answerUnmet, waitText } from './unmet-answer.ts';

type Body = Omit<Answer, 'kind' | 'subject'>;

/** Why a piece of pending work has, or has not, a place. */
export function explainEntry(view: FleetView, entry: FoundEntry): Answer {
  const { chain, ...body } = bodyOf(view, entry);
  const about = [...originOf(view, entry), ...rollbacksOf(view, entry), ...chain];
  return { kind: 'entry', subject: entry.id, chain: inOrder(about), ...body };
}

function bodyOf(view: FleetView, entry: FoundEntry): Body {
  if (entry.decided === null) return undecided(view, entry);
  const { outcome, demand } = entry.decided;
  const body =
    outcome.kind === 'unmet'
      ? unmetBody(view, entry.id, outcome)
      : placedBody(view, entry.id, { demand, placement: outcome.placement });
  if (entry.push !== null) return body;
  const text = 'its scheduler no longer has it pending: it was started, taken back or let expire';
  return {
    ...body,
    summary: `${entry.id} is not pending any more; this is what was last decided on it`,
    chain: [...body.chain, holds('withdrawn', text)],
    remedy: '',
    nextLook: nextLook(view, [], 'nothing: the next decision forgets it'),
  };
}

/** Who asked, when, for what; and its place among the others. */
function originOf(view: FleetView, entry: FoundEntry): readonly Link[] {
  const { nowMs, last } = view;
  const { batch, push, by, decided } = entry;
  const who = batch.owner === null ? '' : `by ${batch.owner}: `;
  const links = [happened(batch.submittedAtMs, 'submitted', `${who}${formText(entry.form)}`)];
  if (last !== null) links.push(decisionLink(last));
  if (push !== null) {
    const { source, generation, expiresAtMs } = push;
    const until = `kept for ${leftText(expiresAtMs, nowMs)} more unless pushed again`;
    links.push(holds('pushed', `pushed by ${source} (generation ${generation}), ${until}`));
  }
  if (by.kind === 'task') {
    const tasks = plural(by.taskCount, 'task');
    links.push(holds('task', `${by.taskId} is one of the ${tasks} of gang ${entry.id}`));
  }
  if (by.kind === 'batch') {
    const fates = `${by.placedCount} of them have a place, ${by.unmetCount} wait`;
    const told = decided === null ? 'not decided on yet' : fates;
    links.push(holds('batch', `one of the ${batch.count} entries of ${batch.id}: ${told}`));
  }
  if (decided !== null) links.push(holds('order', orderText(decided, last?.input.demand ?? [])));
  return links;
}

/** Its place in service order. */
function orderText({ demand, place }: DecidedEntry, all: readonly DemandClass[]): string {
  const before = all.reduce(
    (sum, { priority, count }) => (priority > demand.priority ? sum + count : sum),
    0,
  );
  const turn =
    demand.count === 1
      ? 'the only one of its kind'
      : `number ${place + 1} of ${demand.count} alike`;
  const ahead = before === 0 ? 'no entry has' : plural(before, 'entry has', 'entries have');
  return `${turn}; priority ${demand.priority}, ${ahead} a higher one`;
}

/** What became of earlier attempts to bring a gang together. */
const rollbacksOf = ({ recentEvents }: FleetView, { id }: FoundEntry): readonly Link[] =>
  recentEvents.flatMap((one) =>
    one.event.kind === 'gang-rolled-back' && one.event.gang === id
      ? [happened(one.atMs, one.event.kind, eventText(one))]
      : [],
  );

function unmetBody(
  view: FleetView,
  id: EntryId,
  { unmet, count }: Extract<Outcome, { kind: 'unmet' }>,
): Body {
  const { chain, options, remedy, awaited } = answerUnmet(view, unmet, count);
  return {
    summary: `${id} ${waitText(unmet)}`,
    chain,
    options,
    remedy,
    nextLook: nextLook(view, awaited),
  };
}

function placedBody(
  view: FleetView,
  id: EntryId,
  { demand, placement }: { readonly demand: DemandClass; readonly placement: Placement },
): Body {
  const { summary, chain, awaited, hope, remedy } = answerPlaced(view, id, placement);
  return {
    summary,
    chain,
    options: optionsFor(view, demand, placement),
    remedy,
    nextLook: nextLook(view, awaited, hope),
  };
}

/** Pushed since the last decision: nothing has been concluded, but groups can be judged. */
function undecided(view: FleetView, entry: FoundEntry): Body {
  const { id, form, priority, invalid, batch } = entry;
  const lone = { ...batch, order: 0, taskIds: [] };
  const demand = {
    form,
    priority,
    invalid,
    isReserved: false,
    batches: [lone],
    count: batch.count,
  };
  const came =
    view.last === null ? 'no decision was made since the start' : 'it came after the last decision';
  const judged = view.last === null ? '' : '; groups are judged as of then';
  const wrong =
    invalid === null
      ? []
      : [holds(invalid.kind, `the request itself is wrong: ${invalidText(invalid)}`)];
  return {
    summary: `${id} is not decided on yet: ${came}`,
    chain: [holds('undecided', `${came}${judged}`), ...wrong],
    options: optionsFor(view, demand, null),
    remedy: invalid === null ? '' : 'correct the request and push it again',
    nextLook: nextLook(view, [], 'the first decision on it'),
  };
}

import { alternativeText } from '../../api/alternative-text.ts';
import { formText } from '../../api/demand-text.ts';
import { formatDuration, plural } from '../../api/format.ts';
import { placedText } from '../../api/reason-text.ts';
import { entryIdAt } from '../../model/demand.ts';
import { listAlternatives } from '../../policy/demand/alternatives.ts';
import type { RosterRow } from '../../policy/demand/roster.ts';
import { nearestName } from '../../support/nearest.ts';
import type { PlanReport } from '../plan-report.ts';
import { toUnmetJson } from './plan-json.ts';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';
import { renderWhyNot } from './unmet-text.ts';

/** Names searched for the one that was meant. */
const NAMES_COMPARED = 10_000;

type Found =
  | { readonly kind: 'found'; readonly row: RosterRow; readonly id: string }
  | { readonly kind: 'unknown'; readonly message: string };

type FoundEntry = Pick<Extract<Found, { kind: 'found' }>, 'row' | 'id'>;

/** The row of an entry, by its id, by the id of a task of a gang, or by the id of its batch. */
export function findEntry({ roster }: PlanReport, id: string): Found {
  const row = roster.find(
    ({ batch, from, to }) =>
      batch.id === id ||
      batch.taskIds.includes(id) ||
      (id.startsWith(`${batch.id}/`) && isBetween(id.slice(batch.id.length + 1), from, to)),
  );
  if (row !== undefined) {
    const isBatch = row.batch.id === id || row.batch.taskIds.includes(id);
    return { kind: 'found', row, id: isBatch ? entryIdAt(row.batch, row.from) : id };
  }
  const compared = roster.slice(0, NAMES_COMPARED);
  const names = [
    ...compared.map(({ batch }) => batch.id),
    ...compared.map(({ batch, from }) => entryIdAt(batch, from)),
  ];
  const nearest = nearestName(id, names);
  const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
  return { kind: 'unknown', message: `--explain: no entry is called "${id}"${hint}` };
}

const isBetween = (text: string, from: number, to: number): boolean =>
  /^\d+$/.test(text) && Number(text) >= from && Number(text) < to;

export function renderEntry(report: PlanReport, { row, id }: FoundEntry, style: Style): string {
  const { snapshot } = report;
  const { demand, batch, from, to, outcome } = row;
  const waits = formatDuration(Math.max(0, snapshot.atMs - batch.submittedAtMs));
  const facts = [
    `priority ${demand.priority}`,
    `waiting ${waits}`,
    ...(batch.owner === null ? [] : [`owner ${batch.owner}`]),
    ...(to - from > 1 ? [`with ${plural(to - from - 1, 'equal entry', 'equal entries')}`] : []),
  ];
  const waiting = report.roster.filter((other) => other.batch === batch && other !== row);
  facts.push(...waiting.flatMap(waitingText));
  const head = `${style.bold(id)}  ${formText(demand.form)}\n  ${facts.join(', ')}\n\n`;
  if (outcome.kind === 'unmet') {
    const { atMs } = snapshot;
    const why = renderWhyNot(outcome.unmet, { count: to - from, atMs, style, isWhole: true });
    return `${head}  ${style.bad('UNMET')}\n${why}`;
  }
  const { placement } = outcome;
  const spots = placement.spots.map(({ group, room, tasks }) => {
    const where =
      room === 'new' ? 'a new slice' : room === 'on-its-way' ? 'capacity on its way' : 'free room';
    return `${plural(tasks, 'task')} on ${where} of ${group}`;
  });
  const why = placedText(placement.why, placement.runnerUp);
  const homes = new Set<string>(placement.spots.map(({ group }) => group));
  const alternatives = listAlternatives(snapshot, snapshot.demand.indexOf(demand));
  const rows = alternatives.map((one) => [
    one.group,
    homes.has(one.group) ? 'chosen' : '',
    alternativeText(one, snapshot.atMs),
  ]);
  const table = renderTable(
    [{ title: 'group' }, { title: '' }, { title: 'for this entry' }],
    rows,
    style.dim,
  );
  return `${head}  ${style.good('PLACED')}  ${spots.join(', ')}\n          ${why}\n\n${table}`;
}

/** Entries of the same batch that wait, so that one which is placed does not hide them. */
function waitingText({ batch, from, to, outcome }: RosterRow): readonly string[] {
  if (outcome.kind === 'placed') return [];
  const first = entryIdAt(batch, from);
  const name = to - from === 1 ? first : `${first} to ${entryIdAt(batch, to - 1)}`;
  return [`${name} unmet (${outcome.unmet.code})`];
}

export function toEntryJson(report: PlanReport, { row, id }: FoundEntry): unknown {
  const { snapshot } = report;
  const { demand, batch, from, to, outcome } = row;
  const alternatives = listAlternatives(snapshot, snapshot.demand.indexOf(demand));
  return {
    format: 'bellows-entry-report/1',
    id,
    equalEntries: to - from,
    asks: formText(demand.form),
    priority: demand.priority,
    owner: batch.owner,
    waitingMs: snapshot.atMs - batch.submittedAtMs,
    outcome:
      outcome.kind === 'placed'
        ? {
            kind: 'placed',
            ...outcome.placement,
            text: placedText(outcome.placement.why, outcome.placement.runnerUp),
          }
        : { kind: 'unmet', ...toUnmetJson(outcome.unmet, snapshot.atMs) },
    alternatives: alternatives.map((one) => ({
      ...one,
      text: alternativeText(one, snapshot.atMs),
    })),
  };
}

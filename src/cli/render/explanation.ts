import type {
  Alternative,
  ExplainResponse,
  ExplanationStep,
} from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import { fitLast } from './fit.ts';
import type { Moments } from './moment.ts';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';
import { joinWords, oneLine } from './words.ts';

/** How an explanation is shown. */
export interface ExplanationView {
  readonly style: Style;
  readonly moments: Moments;
  /** Of the screen; Infinity where nothing needs to be cut. */
  readonly columns: number;
}

/** Why something is as it is: in one sentence, step by step, what else there was, what would help. */
export function renderExplanation(answer: ExplainResponse, view: ExplanationView): string {
  const { kind, subject, summary, chain, alternatives, also } = answer;
  const { style } = view;
  const head = `${style.bold(kind.toUpperCase())}  ${oneLine(subject)}\n  ${oneLine(summary)}\n`;
  const sections = [
    head,
    renderChain(chain, view),
    renderAlternatives(alternatives, view),
    renderOutlook(answer, view),
    also.length === 0 ? '' : `also called so: ${also.map(oneLine).join(', ')}\n`,
  ];
  return sections.filter((section) => section !== '').join('\n');
}

/** From the first cause to what holds now. */
function renderChain(
  chain: readonly ExplanationStep[],
  { style, moments }: ExplanationView,
): string {
  if (chain.length === 0) return '';
  const rows = chain.map(({ at, reason }) => [
    at === undefined ? 'now' : moments.full(at),
    oneLine(reason?.kind ?? ''),
    oneLine(reason?.text ?? ''),
  ]);
  const titles = [{ title: '' }, { title: '' }, { title: '' }];
  return `${style.bold('HOW IT CAME')}\n${renderTable(titles, rows)}`;
}

function renderAlternatives(alternatives: readonly Alternative[], view: ExplanationView): string {
  if (alternatives.length === 0) return '';
  const { style, columns } = view;
  const titles = [{ title: 'group' }, { title: 'outcome' }, { title: 'why' }];
  const rows = alternatives.map(({ group, reason }) => [
    oneLine(group),
    oneLine(reason?.kind ?? ''),
    oneLine(reason?.text ?? ''),
  ]);
  const table = renderTable(titles, fitLast(titles, rows, columns), style.dim);
  return `${style.bold('GROUPS CONSIDERED')}\n${table}`;
}

/** What would change it, and when it is looked at again. */
function renderOutlook(answer: ExplainResponse, { style, moments }: ExplanationView): string {
  const { remedy, nextLookAt, nextLook } = answer;
  const when = nextLookAt === undefined ? null : `by ${moments.full(nextLookAt)}`;
  const next = joinWords([when, oneLine(nextLook)], ': ');
  return [
    remedy === '' ? '' : `${style.good('remedy')}     ${oneLine(remedy)}\n`,
    next === '' ? '' : `${style.bold('next look')}  ${next}\n`,
  ].join('');
}

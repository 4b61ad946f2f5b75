import { formatDuration, formatUsdRounded } from '../../api/format.ts';
import type { Comparison, Course } from '../../replay/compare.ts';
import { byText } from '../../support/order.ts';
import { formatTime, toIso } from './replay-identity.ts';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';

const MICRO = 1_000_000;
/** A model that is further from the record than this, in cost or launches, is said to be so. */
const ERROR_MAX = 0.2;

interface Shown {
  readonly journal: string;
  readonly fleet: string;
  readonly config: string;
  readonly comparison: Comparison;
}

/** One line of a table: a number in each of the three courses. */
interface Row {
  readonly name: string;
  readonly of: (course: Course) => number;
  readonly show: (value: number) => string;
}

const count = (value: number): string => String(value);
const hours = (value: number): string => value.toFixed(2);
const usd = (micro: number): string => formatUsdRounded(micro);
const seconds = (ms: number): string => formatDuration(Math.round(ms / 1_000) * 1_000);

const totals: readonly Row[] = [
  { name: 'launches', of: ({ launches }) => launches, show: count },
  { name: 'slice-hours', of: ({ sliceHours }) => sliceHours, show: hours },
  { name: 'cost', of: ({ costMicroUsd }) => costMicroUsd, show: usd },
  { name: 'peak per hour', of: ({ peakMicroUsdPerHour }) => peakMicroUsdPerHour, show: usd },
  { name: 'waiting, mean', of: ({ waiting }) => waiting.meanMs, show: seconds },
  { name: 'waiting, p95', of: ({ waiting }) => waiting.p95Ms, show: seconds },
  { name: 'waiting, longest', of: ({ waiting }) => waiting.maxMs, show: seconds },
  { name: 'waiting at the end', of: ({ waiting }) => waiting.unstarted, show: count },
];

/** What another configuration would have changed, to be read and to be pasted. */
export function renderComparison(shown: Shown, style: Style): string {
  const { journal, fleet, config, comparison } = shown;
  const { ticks, firstMs, lastMs } = comparison;
  const span = `${formatTime(firstMs)} to ${formatTime(lastMs)}, ${seconds(lastMs - firstMs)}`;
  const sections = [
    `${style.bold('REPLAY')}  ${fleet}, ${journal}, ${ticks} ticks\n        ${span}\n`,
    `${style.bold('WITH')}    ${config}\n\n`,
    table('', totals, shown, style),
    '\n',
    table('launches', groupRows(comparison, 'launches', count), shown, style),
    '\n',
    table('slice-hours', groupRows(comparison, 'sliceHours', hours), shown, style),
    '\n',
    table('cost', groupRows(comparison, 'costMicroUsd', usd), shown, style),
  ];
  const unmet = unmetRows(comparison);
  if (unmet.length > 0) sections.push('\n', table('unmet entry-hours', unmet, shown, style));
  sections.push('\n', renderTrust(comparison, style), '\n', renderAssumed(comparison, style));
  return sections.join('');
}

function table(title: string, rows: readonly Row[], { comparison }: Shown, style: Style): string {
  const right = 'right' as const;
  const columns = [
    { title },
    { title: 'recorded', align: right },
    { title: 'model', align: right },
    { title: 'with', align: right },
    { title: 'change', align: right },
  ];
  const { recorded, model, other } = comparison;
  const cells = rows.map(({ name, of, show }) => {
    const values = [recorded, model, other].map((course) => show(of(course)));
    return [name, ...values, signed(of(other) - of(model), show)];
  });
  return renderTable(columns, cells, style.dim);
}

type GroupMeasure = 'launches' | 'sliceHours' | 'costMicroUsd';

function groupRows(
  { recorded, model, other }: Comparison,
  measure: GroupMeasure,
  show: Row['show'],
): readonly Row[] {
  const names = [recorded, model, other].flatMap(({ groups }) => groups.map(({ group }) => group));
  const rows = [...new Set(names)].sort(byText).map((name): Row => {
    const of = ({ groups }: Course): number =>
      groups.find(({ group }) => group === name)?.[measure] ?? 0;
    return { name, of, show };
  });
  return [...rows, { name: 'all', of: (course) => course[measure], show }];
}

function unmetRows({ recorded, model, other }: Comparison): readonly Row[] {
  const codes = [recorded, model, other].flatMap(({ unmet }) => unmet.map(({ code }) => code));
  return [...new Set(codes)].sort(byText).map((code): Row => {
    const of = ({ unmet }: Course): number =>
      unmet.find((one) => one.code === code)?.entryHours ?? 0;
    return { name: code, of, show: hours };
  });
}

/** How far the model is from what happened: the measure of how far to believe its change. */
function renderTrust({ recorded, model }: Comparison, style: Style): string {
  const errorRatio = costError(recorded, model);
  const waits = model.waiting.meanMs - recorded.waiting.meanMs;
  const launchError = errorOf(recorded.launches, model.launches);
  const far = Math.max(Math.abs(errorRatio), Math.abs(launchError)) > ERROR_MAX;
  const lines = [
    `  the model under the recorded configuration: cost ${percent(errorRatio)}, launches ` +
      `${signed(model.launches - recorded.launches, count)}, mean waiting ${signed(waits, seconds)}`,
    '  against the record; the change is between the two models',
    ...(far
      ? [style.warn('  it is far from the record: take the change for a direction only')]
      : []),
  ];
  return `${style.bold('TRUST')}\n${lines.join('\n')}\n`;
}

function renderAssumed(comparison: Comparison, style: Style): string {
  const lines = assumptions(comparison).map((line) => `  - ${line}\n`);
  return `${style.bold('ASSUMED')}\n${lines.join('')}`;
}

/** What the numbers rest on; docs/replay.md says more. */
function assumptions({ work, untried, missing, advisory }: Comparison): readonly string[] {
  const { pieces, unseen, there, withdrawn, open } = work;
  return [
    `${pieces} pieces of work come when they came and run as long as their room was seen in use`,
    ...(unseen > 0 ? [`${unseen} of them took room without being seen to wait`] : []),
    'they are placed first fit, at ticks; decisions are made at the recorded times',
    'launches and releases take as long as the recorded ones of their group, in turn',
    'launches are refused when recorded ones were; losses and interruptions are not repeated',
    ...(there > 0 ? [`${there} pieces ran before the first tick and stay where they were`] : []),
    ...(open > 0 ? [`${open} pieces still ran at the last tick: they run to the end`] : []),
    ...(withdrawn > 0
      ? [`${withdrawn} pieces left the queue and no room was seen taken: taken for withdrawn`]
      : []),
    ...(untried.length > 0
      ? [`nothing was launched in ${untried.join(', ')}: taken to start like the others, in stock`]
      : []),
    ...(advisory > 0 ? [`at ${advisory} ticks the controller only watched; the model acts`] : []),
    ...(missing > 0 ? [`${missing} ticks are left out: parts of them are gone`] : []),
  ];
}

export function toComparisonJson({ journal, fleet, config, comparison }: Shown): unknown {
  const { recorded, model, other, firstMs, lastMs, ticks, missing } = comparison;
  return {
    format: 'bellows-replay-difference/1',
    journal,
    fleet,
    config,
    from: toIso(firstMs),
    to: toIso(lastMs),
    ticks,
    missing,
    recorded: toCourseJson(recorded),
    model: toCourseJson(model),
    with: toCourseJson(other),
    change: {
      launches: other.launches - model.launches,
      sliceHours: other.sliceHours - model.sliceHours,
      cost: (other.costMicroUsd - model.costMicroUsd) / MICRO,
      peakPerHour: (other.peakMicroUsdPerHour - model.peakMicroUsdPerHour) / MICRO,
      waitingMeanMs: other.waiting.meanMs - model.waiting.meanMs,
      waitingP95Ms: other.waiting.p95Ms - model.waiting.p95Ms,
    },
    modelCostError: costError(recorded, model),
    work: comparison.work,
    assumptions: assumptions(comparison),
  };
}

const toCourseJson = (course: Course): unknown => ({
  launches: course.launches,
  sliceHours: course.sliceHours,
  cost: course.costMicroUsd / MICRO,
  peakPerHour: course.peakMicroUsdPerHour / MICRO,
  groups: course.groups.map(({ group, launches, sliceHours, costMicroUsd }) => {
    return { group, launches, sliceHours, cost: costMicroUsd / MICRO };
  }),
  waiting: course.waiting,
  unmet: course.unmet,
});

const costError = (recorded: Course, model: Course): number =>
  errorOf(recorded.costMicroUsd, model.costMicroUsd);

/** By what part of it the model misses a number; 1 where there was none. */
const errorOf = (recorded: number, model: number): number =>
  recorded === 0 ? Math.sign(model) : model / recorded - 1;

const percent = (ratio: number): string => {
  const text = (Math.abs(ratio) * 100).toFixed(1);
  return text === '0.0' ? '0 %' : `${ratio > 0 ? '+' : '-'}${text} %`;
};

/** With its sign, and `0` where nothing of it would show. */
function signed(value: number, show: (value: number) => string): string {
  const text = show(Math.abs(value));
  if (text === show(0)) return '0';
  return `${value > 0 ? '+' : '-'}${text}`;
}

import { formatDuration, formatUsdRounded, plural } from '../../api/format.ts';
import type { Sample, SimulationReport } from '../../wiring.ts';
import { toTimeline } from '../timeline.ts';
import { clockText, countsText, happeningText, roughDuration } from './simulation-words.ts';
import { renderSparkline } from './sparkline.ts';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';

const HOUR_MS = 3_600_000;
/** Bars of a timeline: a day in half hours. */
const BARS_MAX = 48;
const REASONS_SHOWN = 8;

/** A simulation as an operator reads it: money, work, waits, machines, why, and how it went. */
export function renderSimulation(report: SimulationReport, file: string, style: Style): string {
  return [
    renderHeading(report, file, style),
    renderFigures(report, style),
    renderGroups(report, style),
    renderTimeline(report, style),
    renderReasons(report, style),
    renderEvents(report, style),
    renderEnd(report, style),
  ]
    .filter((section) => section !== '')
    .join('\n');
}

const thousands = (value: number): string => value.toLocaleString('en-US');
const dollars = (microUsd: number): string =>
  `$${(microUsd / 1e6).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
const percent = (ratio: number): string => `${Math.round(ratio * 100)} %`;
const hoursText = (ms: number): string => `${Number((ms / HOUR_MS).toFixed(2))} h`;

function renderHeading(report: SimulationReport, file: string, style: Style): string {
  const { fleet, strategy, seed, startAtMs, simulatedMs } = report;
  const from = new Date(startAtMs).toISOString().slice(0, 16).replace('T', ' ');
  const span = `${hoursText(simulatedMs)} from ${from} UTC`;
  return `${style.bold(fleet)}  ${file}, ${span}, strategy ${strategy}, seed ${seed}\n`;
}

function renderFigures(report: SimulationReport, style: Style): string {
  const title = (word: string): string => style.bold(word.padEnd(8));
  const lines = [
    `${title('COST')}${costText(report)}`,
    `${title('WORK')}${workText(report)}`,
    `${title('WAITS')}${waitsText(report)}`,
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function costText({ cost, bound, simulatedMs }: SimulationReport): string {
  const { microUsd, peakMicroUsdPerHour, unpriced } = cost;
  const average = simulatedMs === 0 ? 0 : (microUsd * HOUR_MS) / simulatedMs;
  const rates = `${dollars(average)}/h on average, ${dollars(peakMicroUsdPerHour)}/h at most`;
  const without = unpriced.length === 0 ? '' : ` without ${unpriced.join(', ')}`;
  return `${dollars(microUsd)}${without}, ${rates}; ${boundText(bound)}`;
}

function boundText(bound: SimulationReport['bound']): string {
  if (bound.kind === 'unknown') return `lower bound unknown: ${bound.detail}`;
  if (bound.ratio === null) return 'the work done needed nothing';
  const above = `${((bound.ratio - 1) * 100).toFixed(1)} % above`;
  return `${above} the ${dollars(bound.boundMicroUsd)} that the work done needs at least`;
}

function workText({ work }: SimulationReport): string {
  const parts = [
    `${thousands(work.arrived)} arrived`,
    `${thousands(work.finished)} finished`,
    `${thousands(work.running)} running`,
    `${thousands(work.pending)} waiting`,
  ];
  if (work.restarts > 0) {
    const lost = formatDuration(Math.round(work.lostMs / 60_000) * 60_000);
    parts.push(`${plural(work.restarts, 'restart')} after a lost host (${lost} of work lost)`);
  }
  if (work.skippedRows > 0) parts.push(`${work.skippedRows} bad rows of traces skipped`);
  return parts.join(', ');
}

function waitsText({ waits, stillWaiting }: SimulationReport): string {
  const { count, longestMs } = stillWaiting;
  const never = `${thousands(count)} never started, waiting for ${roughDuration(longestMs)} at most`;
  if (waits === null) return count === 0 ? 'none: no work arrived' : never;
  const { meanMs, p50Ms, p95Ms, p99Ms, maxMs } = waits;
  const parts = [
    `mean ${roughDuration(meanMs)}`,
    `p50 ${roughDuration(p50Ms)}`,
    `p95 ${roughDuration(p95Ms)}`,
    `p99 ${roughDuration(p99Ms)}`,
    `max ${roughDuration(maxMs)}`,
  ].join(', ');
  return count === 0 ? parts : `${parts}; ${never}`;
}

function renderGroups(report: SimulationReport, style: Style): string {
  const right = 'right' as const;
  const numbers = ['launched', 'refused', 'lost', 'drained', 'cancelled', 'peak', 'slice-h'];
  const columns = [
    { title: 'group' },
    ...[...numbers, 'busy', 'in use', 'cost'].map((title) => ({ title, align: right })),
  ];
  const rows = report.groups.map((group) => [
    group.group,
    thousands(group.launched),
    thousands(group.refused),
    thousands(group.preempted + group.failed),
    thousands(group.drained),
    thousands(group.cancelled),
    thousands(group.peakSlices),
    group.sliceHours.toFixed(1),
    group.busyRatio === null ? '-' : percent(group.busyRatio),
    group.use === null ? '-' : `${group.use.resource} ${percent(group.use.ratio)}`,
    dollars(group.costMicroUsd),
  ]);
  const details = [
    ['refused', countsText(report.refusals)],
    ['lost', countsText(report.losses)],
    ['drained', countsText(report.drains)],
    ['cancelled', countsText(report.cancels)],
    ['held back', deferredText(report)],
  ].filter(([, text]) => text !== '');
  const notes = details.map(([what, text]) => `  ${style.dim(`${what}:`)} ${text}\n`).join('');
  const peak = `${plural(report.peakSlices, 'slice')} at most`;
  return `${style.bold('SLICES')}  ${peak}\n${renderTable(columns, rows, style.dim)}${notes}`;
}

/** What rates cost in waiting, in slice-hours; below a tenth it is nothing to act on. */
function deferredText({ deferredHours }: SimulationReport): string {
  return [...deferredHours]
    .filter(([, hours]) => hours >= 0.1)
    .sort(([, a], [, b]) => b - a)
    .map(([by, hours]) => `${by} ${hours.toFixed(1)} slice-hours`)
    .join(', ');
}

function renderTimeline(
  { samples, startAtMs, simulatedMs }: SimulationReport,
  style: Style,
): string {
  if (samples.length < 2) return '';
  // The last sample is the first of a step that never came.
  const whole = samples.slice(0, -1);
  const perBar = Math.max(1, Math.ceil(whole.length / BARS_MAX / 10) * 10);
  const steps = toTimeline(whole, perBar);
  const title = style.bold('TIMELINE');
  const bar = `one bar is ${formatDuration(perBar * 60_000)}`;
  const row = (name: string, read: (sample: Sample) => number, show: (most: number) => string) => {
    const most = samples.reduce((value, sample) => Math.max(value, read(sample)), 0);
    const bars = renderSparkline(steps.map(read)).padEnd(steps.length);
    return `  ${name.padEnd(9)}${bars}  ${style.dim(`at most ${show(most)}`)}\n`;
  };
  return [
    `${title}  ${bar}\n`,
    row('waiting', ({ pending }) => pending, thousands),
    row('running', ({ running }) => running, thousands),
    row(
      'ready',
      ({ ready }) => ready,
      (most) => plural(most, 'slice'),
    ),
    row(
      '$/h',
      ({ microUsdPerHour }) => microUsdPerHour,
      (most) => formatUsdRounded(most),
    ),
    `  ${' '.repeat(9)}${style.dim(hourMarks(steps, startAtMs, simulatedMs))}\n`,
  ].join('');
}

/** Clock times under the bars, as many as fit: `00:00    06:00    12:00`. */
function hourMarks(
  steps: readonly Sample[],
  startAtMs: Sample['atMs'],
  simulatedMs: number,
): string {
  let text = '';
  for (const [index, { atMs }] of steps.entries()) {
    const isRound = atMs % (6 * HOUR_MS) === 0 || index === 0;
    if (!isRound || (index > 0 && text.length + 2 > index)) continue;
    text = text.padEnd(index) + clockText(atMs, startAtMs, simulatedMs);
  }
  return text;
}

function renderReasons(
  { reasons, startAtMs, simulatedMs }: SimulationReport,
  style: Style,
): string {
  const told = reasons.filter(({ entryHours }) => entryHours > 0);
  const total = told.reduce((sum, { entryHours }) => sum + entryHours, 0);
  if (total === 0) return '';
  const at = (ms: Sample['atMs']): string => clockText(ms, startAtMs, simulatedMs);
  const rows = told
    .slice(0, REASONS_SHOWN)
    .map(({ text, entryHours, most, fromMs, toMs }) => [
      percent(entryHours / total),
      entryHours.toFixed(1),
      thousands(most),
      `${at(fromMs)} to ${at(toMs)}`,
      text,
    ]);
  const right = 'right' as const;
  const columns = [
    { title: 'share', align: right },
    { title: 'entry-h', align: right },
    { title: 'at most', align: right },
    { title: 'between' },
    { title: 'because' },
  ];
  const more = told.length - REASONS_SHOWN;
  const rest = more > 0 ? `  ... and ${more} more (--json lists them)\n` : '';
  const title = `${style.bold('WHY WORK WAITED')}  ${total.toFixed(1)} entry-hours\n`;
  return title + renderTable(columns, rows, style.dim) + rest;
}

function renderEvents(
  { happenings, startAtMs, simulatedMs }: SimulationReport,
  style: Style,
): string {
  if (happenings.length === 0) return '';
  const rows = happenings.map((happening) => {
    return [clockText(happening.atMs, startAtMs, simulatedMs), happeningText(happening)];
  });
  return `${style.bold('EVENTS')}\n${renderTable([{ title: '' }, { title: '' }], rows)}`;
}

function renderEnd(report: SimulationReport, style: Style): string {
  const { ticks, tookMs, simulatedMs, isComplete, crashes } = report;
  const times = thousands(Math.round(simulatedMs / Math.max(1, tookMs)));
  const speed = `${hoursText(simulatedMs)} in ${(tookMs / 1_000).toFixed(1)} s, ${times} times real time`;
  const lines = [`${style.bold('RUN')}     ${thousands(ticks)} ticks; ${speed}`];
  if (!isComplete) lines.push(style.warn(`interrupted: this is what happened until then`));
  for (const crash of crashes) {
    lines.push(style.bad(`the controller broke a rule of its own, which is a bug: ${crash}`));
  }
  return lines.map((line) => `${line}\n`).join('');
}

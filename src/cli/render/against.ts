import { formatUsdRounded } from '../../api/format.ts';
import { byText } from '../../support/order.ts';
import { type PlanReport, countEntries, countLaunches } from '../plan-report.ts';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';

const MICRO = 1_000_000;

interface GroupDifference {
  readonly group: string;
  readonly before: number;
  readonly after: number;
  readonly costBefore: number;
  readonly costAfter: number;
}

/** Launches by group in both plans, those that differ or launch anything. */
function compareGroups(before: PlanReport, after: PlanReport): readonly GroupDifference[] {
  const read = ({ decision }: PlanReport) =>
    new Map<string, { launch: number; cost: number }>(
      decision.groups.map(({ group, launch, costMicroUsdPerHour: cost }) => [
        group,
        { launch, cost: cost ?? 0 },
      ]),
    );
  const [was, is] = [read(before), read(after)];
  const none = { launch: 0, cost: 0 };
  return [...new Set([...was.keys(), ...is.keys()])].sort(byText).flatMap((group) => {
    const [a, b] = [was.get(group) ?? none, is.get(group) ?? none];
    if (a.launch === 0 && b.launch === 0) return [];
    return [{ group, before: a.launch, after: b.launch, costBefore: a.cost, costAfter: b.cost }];
  });
}

/** What would be different with the other file: launches, money, and work that waits. */
export function renderAgainst(before: PlanReport, after: PlanReport, style: Style): string {
  const rows = compareGroups(before, after).map(({ group, ...counts }) => [
    group,
    String(counts.before),
    String(counts.after),
    signed(counts.after - counts.before, String),
    signed(counts.costAfter - counts.costBefore, usd),
  ]);
  const total = [
    'all',
    String(countLaunches(before)),
    String(countLaunches(after)),
    signed(countLaunches(after) - countLaunches(before), String),
    signed(costOf(after) - costOf(before), usd),
  ];
  const right = 'right' as const;
  const columns = [
    { title: 'launches' },
    { title: 'now', align: right },
    { title: 'then', align: right },
    { title: 'change', align: right },
    { title: '$/h', align: right },
  ];
  const [was, is] = [countEntries(before), countEntries(after)];
  return [
    `${style.bold('NOW')}   ${before.file}, strategy ${before.decision.strategy}\n`,
    `${style.bold('THEN')}  ${after.file}, strategy ${after.decision.strategy}\n\n`,
    renderTable(columns, [...rows, total], style.dim),
    `\n  cost    ${usd(costOf(before))}/h now, ${usd(costOf(after))}/h then\n`,
    `  placed  ${was.placed} of ${was.total} now, ${is.placed} of ${is.total} then\n`,
    `  unmet   ${was.unmet} now, ${is.unmet} then\n`,
  ].join('');
}

export function toAgainstJson(before: PlanReport, after: PlanReport): unknown {
  const side = (report: PlanReport): unknown => ({
    file: report.file,
    strategy: report.decision.strategy,
    launchCount: countLaunches(report),
    costPerHour: costOf(report) / MICRO,
    entries: countEntries(report),
  });
  return {
    format: 'bellows-plan-difference/1',
    before: side(before),
    after: side(after),
    launchDifference: countLaunches(after) - countLaunches(before),
    costPerHourDifference: (costOf(after) - costOf(before)) / MICRO,
    groups: compareGroups(before, after).map((one) => ({
      group: one.group,
      before: one.before,
      after: one.after,
      costPerHourDifference: (one.costAfter - one.costBefore) / MICRO,
    })),
  };
}

const costOf = ({ decision }: PlanReport): number => decision.costMicroUsdPerHour;

const usd = (micro: number): string => formatUsdRounded(micro);

function signed(value: number, show: (value: number) => string): string {
  if (value === 0) return '0';
  return value > 0 ? `+${show(value)}` : `-${show(-value)}`;
}

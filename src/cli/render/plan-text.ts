import { formText } from '../../api/demand-text.ts';
import { formatUsdRounded, plural } from '../../api/format.ts';
import { exclusionText, groupText, placedText } from '../../api/reason-text.ts';
import type { GroupReport, Placement } from '../../model/decision.ts';
import { groupBy } from '../../support/group-by.ts';
import { byFirst, byNumber, byText } from '../../support/order.ts';
import { type PlanReport, countByGroup, countEntries, countLaunches } from '../plan-report.ts';
import type { RosterRow } from '../../policy/demand/roster.ts';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';
import { renderUnmet } from './unmet-text.ts';
import { nameEntries } from './entry-names.ts';

/** Classes of work listed unless all are asked for. */
const CLASSES_SHOWN = 20;

export interface PlanTextOptions {
  readonly style: Style;
  readonly isWhole: boolean;
}

/** The plan as an operator reads it: what to launch, where work goes, what waits and why. */
export function renderPlan(report: PlanReport, { style, isWhole }: PlanTextOptions): string {
  const limit = isWhole ? Infinity : CLASSES_SHOWN;
  return [
    renderHeading(report, style),
    renderLaunches(report, style),
    renderPlaced(report, style, limit),
    renderFloors(report, style),
    renderUnmet(report, style, limit),
    renderGroups(report, style, limit),
  ]
    .filter((section) => section !== '')
    .join('\n');
}

function renderHeading({ file, snapshot, decision }: PlanReport, style: Style): string {
  const { fleet, slices } = snapshot;
  const counts = `${plural(fleet.groups.length, 'group')}, ${plural(slices.length, 'slice')}`;
  return `${style.bold(fleet.name)}  ${file}, strategy ${decision.strategy}, ${counts}\n`;
}

function renderLaunches(report: PlanReport, style: Style): string {
  const { decision, snapshot } = report;
  const launched = decision.groups.filter(({ launch }) => launch > 0);
  if (launched.length === 0) return `${style.bold('LAUNCH')}  nothing\n`;
  const count = countLaunches(report);
  const title = `${style.bold('LAUNCH')}  ${plural(count, 'slice')}, ${costText(report)}\n`;
  const maxOf = new Map(snapshot.fleet.groups.map((group) => [group.name, group.max]));
  const rows = launched.map((group) => [
    group.group,
    String(group.launch),
    String(group.total),
    String(maxOf.get(group.group) ?? ''),
    price(group, 1 / group.launch),
    price(group, 1),
    causesText(group),
  ]);
  const right = 'right' as const;
  const columns = [
    { title: 'group' },
    { title: 'new', align: right },
    { title: 'there', align: right },
    { title: 'max', align: right },
    { title: '$/h each', align: right },
    { title: '$/h', align: right },
    { title: 'for' },
  ];
  return title + renderTable(columns, rows, style.dim);
}

const price = ({ costMicroUsdPerHour }: GroupReport, factor: number): string =>
  costMicroUsdPerHour === null ? '-' : ((costMicroUsdPerHour * factor) / 1_000_000).toFixed(2);

function causesText({ causes }: GroupReport): string {
  return Object.entries(causes)
    .filter(([, count]) => count > 0)
    .map(([cause, count]) => `${cause} ${count}`)
    .join(', ');
}

/** The price of all launches and how far it is from the bound, or what keeps it from being known. */
function costText(report: PlanReport): string {
  const { decision } = report;
  const cost = `${formatUsdRounded(decision.costMicroUsdPerHour)}/h`;
  const unpriced = decision.groups.filter(
    ({ launch, costMicroUsdPerHour }) => launch > 0 && costMicroUsdPerHour === null,
  );
  if (unpriced.length === 0) return cost + boundText(report);
  return `${cost} without ${unpriced.map(({ group }) => group).join(', ')}, which has no pricePerHour`;
}

function boundText({ bound }: PlanReport): string {
  if (bound === null) return '';
  if (bound.kind === 'unknown') return `; lower bound unknown: ${bound.detail}`;
  const value = `${formatUsdRounded(bound.boundMicroUsdPerHour)}/h`;
  if (bound.ratio === 1) return `; the least that is possible`;
  const above = bound.ratio === Infinity ? '' : `${((bound.ratio - 1) * 100).toFixed(1)} % above `;
  return `; ${above}the lower bound of ${value}`;
}

function renderPlaced(report: PlanReport, style: Style, limit: number): string {
  const { total, placed } = countEntries(report);
  if (total === 0) return `${style.bold('PLACED')}  no work is pending\n`;
  const title = `${style.bold('PLACED')}  ${placed} of ${plural(total, 'entry', 'entries')}\n`;
  const rows = placedClasses(report);
  if (rows.length === 0) return title;
  const shown = rows
    .slice(0, limit)
    .map(({ row, count, placement }) => [
      String(count),
      nameEntries(row, count),
      formText(row.demand.form),
      spotsText(placement),
      placedText(placement.why, placement.runnerUp),
    ]);
  const columns = [
    { title: 'count', align: 'right' as const },
    { title: 'entry' },
    { title: 'asks for' },
    { title: 'goes to' },
    { title: 'because' },
  ];
  return title + renderTable(columns, shown, style.dim) + moreText(rows.length, limit);
}

interface PlacedClass {
  readonly row: RosterRow;
  readonly count: number;
  readonly placement: Placement;
}

/** One line per class and placement, largest first. */
function placedClasses({ roster }: PlanReport): readonly PlacedClass[] {
  const rows = roster.flatMap((row) =>
    row.outcome.kind === 'placed' ? [{ row, placement: row.outcome.placement }] : [],
  );
  return [...groupBy(rows, ({ placement }) => placement).values()]
    .flatMap((same) => same.slice(0, 1))
    .map(({ row, placement }) => ({ row, placement, count: placement.count }))
    .sort(
      byFirst<PlacedClass>(
        byNumber(({ count }) => -count),
        (a, b) => byText(a.row.batch.id, b.row.batch.id),
      ),
    );
}

const roomWords = { 'free-room': 'free room', 'on-its-way': 'on its way', new: 'new' } as const;

function spotsText({ spots }: Placement): string {
  return spots
    .map(({ group, room, tasks }) => {
      const many = spots.length > 1 ? `${tasks} on ` : '';
      return `${many}${group} (${roomWords[room]})`;
    })
    .join(', ');
}

function renderFloors({ snapshot, decision }: PlanReport, style: Style): string {
  if (snapshot.floors.length === 0) return '';
  const rows = snapshot.floors.map((floor, index) => {
    const verdict = decision.floors[index];
    const held = `${verdict?.heldCount ?? 0} of ${floor.count}`;
    const [first] = verdict?.unmet?.groups ?? [];
    const why = first === undefined ? '' : exclusionText(first.exclusion, snapshot.atMs);
    const short = verdict?.unmet ? `${verdict.unmet.code}: ${first?.group} ${why}` : 'held';
    return [floor.id, held, formText({ kind: 'single', ask: floor.ask }), short];
  });
  const columns = [{ title: 'floor' }, { title: 'held' }, { title: 'each' }, { title: '' }];
  return `${style.bold('FLOORS')}\n${renderTable(columns, rows, style.dim)}`;
}

/** Every group, with the work it got and what became of it; those with something to tell first. */
function renderGroups(report: PlanReport, style: Style, limit: number): string {
  const { snapshot, decision } = report;
  const entries = countByGroup(report);
  const told = decision.groups.map((group) => {
    const count = entries.get(group.group) ?? 0;
    return { group, count, isQuiet: group.verdict.kind === 'idle' && count === 0 };
  });
  const rows = [...told.filter(({ isQuiet }) => !isQuiet), ...told.filter(({ isQuiet }) => isQuiet)]
    .slice(0, limit)
    .map(({ group, count }) => [
      group.group,
      String(group.total),
      String(group.launch),
      String(count),
      group.availability,
      groupText(group, snapshot.atMs),
    ]);
  const right = 'right' as const;
  const columns = [
    { title: 'group' },
    { title: 'slices', align: right },
    { title: 'new', align: right },
    { title: 'entries', align: right },
    { title: 'is' },
    { title: 'because' },
  ];
  const table = renderTable(columns, rows, style.dim);
  return `${style.bold('GROUPS')}\n${table}${moreText(told.length, limit)}`;
}

export function moreText(count: number, limit: number): string {
  return count > limit ? `  ... and ${count - limit} more (--all lists them)\n` : '';
}

import { formText } from '../../api/demand-text.ts';
import { plural } from '../../api/format.ts';
import { changeText, exclusionText, hintText, invalidText } from '../../api/reason-text.ts';
import type { EpochMs } from '../../model/ids.ts';
import type { GroupExclusion, Unmet } from '../../model/reason.ts';
import type { RosterRow } from '../../policy/demand/roster.ts';
import { groupBy } from '../../support/group-by.ts';
import { type PlanReport, countEntries } from '../plan-report.ts';
import { nameEntries } from './entry-names.ts';
import { moreText } from './plan-text.ts';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';

/** Names of groups that share a line of the why-not table. */
const NAMES_SHOWN = 3;

export interface UnmetClass {
  /** The first row of the class that waits: it gives the class its name. */
  readonly row: RosterRow;
  readonly count: number;
  readonly unmet: Unmet;
}

/** Waiting work by class, most urgent first: priority, then number. */
export function unmetClasses({ roster }: PlanReport): readonly UnmetClass[] {
  const rows = roster.flatMap((row) =>
    row.outcome.kind === 'unmet' ? [{ row, unmet: row.outcome.unmet }] : [],
  );
  return [...groupBy(rows, ({ unmet }) => unmet)]
    .flatMap(([unmet, same]) => {
      const count = same.reduce((sum, { row }) => sum + row.to - row.from, 0);
      return same.slice(0, 1).map(({ row }) => ({ row, unmet, count }));
    })
    .sort((a, b) => b.row.demand.priority - a.row.demand.priority || b.count - a.count);
}

/** The why-not table: for each class that waits, every group and the rule that excluded it. */
export function renderUnmet(report: PlanReport, style: Style, limit: number): string {
  const classes = unmetClasses(report);
  if (classes.length === 0) return '';
  const { unmet } = countEntries(report);
  const title = `${style.bold(style.bad('UNMET'))}   ${plural(unmet, 'entry', 'entries')}\n`;
  const blocks = classes.slice(0, limit).map((one) => renderClass(report, one, style));
  return title + blocks.join('') + moreText(classes.length, limit);
}

function renderClass(
  { snapshot }: PlanReport,
  { row, count, unmet }: UnmetClass,
  style: Style,
): string {
  const name = style.bold(nameEntries(row, count));
  const asks = formText(row.demand.form);
  return `  ${name}  ${asks}\n${renderWhyNot(unmet, { count, atMs: snapshot.atMs, style })}`;
}

interface WhyNotOptions {
  readonly count: number;
  readonly atMs: EpochMs;
  readonly style: Style;
  /** One line per group instead of one per reason. */
  readonly isWhole?: boolean;
}

/** Code, table of groups, hints and the remedy of one unmet class. */
export function renderWhyNot(unmet: Unmet, options: WhyNotOptions): string {
  const { count, atMs, style } = options;
  if (unmet.invalid !== null) {
    return `    ${style.bad(unmet.code)}: ${invalidText(unmet.invalid)}\n`;
  }
  const outlook = unmet.isEverAdmitted
    ? 'it waits: the fleet could hold it'
    : 'it can never run in this fleet as configured';
  const lines = [`    ${style.bad(unmet.code)}, ${outlook}\n`];
  const table = options.isWhole
    ? unmet.groups.map(({ group, exclusion }) => [group, exclusionText(exclusion, atMs)])
    : mergeGroups(unmet.groups, atMs);
  lines.push(
    renderTable([{ title: '' }, { title: '' }], table)
      .replaceAll(/^/gm, '    ')
      .trimEnd(),
  );
  lines.push('\n');
  for (const hint of unmet.hints) lines.push(`    hint: ${hintText(hint)}\n`);
  if (unmet.change !== null) {
    const admits = count === 1 ? '' : `, which admits ${unmet.changeAdmits} of ${count}`;
    lines.push(`    ${style.good('remedy')}: ${changeText(unmet.change, atMs)}${admits}\n`);
  } else {
    const rules = unmet.nearest?.rules.map((rule) => exclusionText(rule, atMs)).join('; and ');
    const nearest = unmet.nearest === null ? '' : `; nearest is ${unmet.nearest.group}: ${rules}`;
    lines.push(`    remedy: none by a single change${nearest}\n`);
  }
  return lines.join('');
}

/** Groups that are excluded by the same words share a line. */
function mergeGroups(groups: readonly GroupExclusion[], atMs: EpochMs): readonly string[][] {
  const byWords = groupBy(groups, ({ exclusion }) => exclusionText(exclusion, atMs));
  return [...byWords].map(([words, same]) => {
    const names = same.slice(0, NAMES_SHOWN).map(({ group }) => group);
    const more = same.length - names.length;
    return [names.join(', ') + (more > 0 ? ` and ${more} more` : ''), words];
  });
}

import { formText } from '../../api/demand-text.ts';
import {
  changeText,
  exclusionText,
  groupText,
  hintText,
  invalidText,
  placedText,
} from '../../api/reason-text.ts';
import type { EpochMs } from '../../model/ids.ts';
import type { Unmet } from '../../model/reason.ts';
import { type RosterRow, idsOf } from '../../policy/demand/roster.ts';
import { groupBy } from '../../support/group-by.ts';
import { type PlanReport, countByGroup, countEntries, countLaunches } from '../plan-report.ts';

/** Names given per class; the count tells how many there are. */
const IDS_SHOWN = 20;
const MICRO = 1_000_000;

/** The plan as data: everything the text says, typed, with the words beside it. */
export function toPlanJson(report: PlanReport): unknown {
  const { file, snapshot, decision, bound } = report;
  const entries = countByGroup(report);
  return {
    format: 'bellows-plan-report/1',
    file,
    fleet: snapshot.fleet.name,
    strategy: decision.strategy,
    costPerHour: decision.costMicroUsdPerHour / MICRO,
    bound:
      bound?.kind === 'known'
        ? { costPerHour: bound.boundMicroUsdPerHour / MICRO, ratio: bound.ratio }
        : null,
    entries: countEntries(report),
    launchCount: countLaunches(report),
    launches: decision.groups
      .filter(({ launch }) => launch > 0)
      .map(({ group, launch, causes, costMicroUsdPerHour: cost }) => {
        return { group, slices: launch, causes, costPerHour: cost === null ? null : cost / MICRO };
      }),
    groups: decision.groups.map((one) => ({
      group: one.group,
      availability: one.availability,
      verdict: one.verdict,
      total: one.total,
      launch: one.launch,
      entries: entries.get(one.group) ?? 0,
      shortfall: one.shortfall,
      text: groupText(one, snapshot.atMs),
    })),
    placed: placedJson(report),
    unmet: unmetJson(report),
    floors: snapshot.floors.map(({ id, count }, index) => {
      const verdict = decision.floors[index];
      const unmet = verdict?.unmet ?? null;
      const why = unmet === null ? null : toUnmetJson(unmet, snapshot.atMs);
      return { id, count, held: verdict?.heldCount ?? 0, unmet: why };
    }),
  };
}

function placedJson({ roster }: PlanReport): readonly unknown[] {
  const rows = roster.flatMap((row) =>
    row.outcome.kind === 'placed' ? [{ row, placement: row.outcome.placement }] : [],
  );
  return [...groupBy(rows, ({ placement }) => placement)].map(([placement, same]) => ({
    ...describeRows(same.map(({ row }) => row)),
    spots: placement.spots,
    why: placement.why,
    runnerUp: placement.runnerUp,
    text: placedText(placement.why, placement.runnerUp),
  }));
}

function unmetJson({ roster, snapshot }: PlanReport): readonly unknown[] {
  const rows = roster.flatMap((row) =>
    row.outcome.kind === 'unmet' ? [{ row, unmet: row.outcome.unmet }] : [],
  );
  return [...groupBy(rows, ({ unmet }) => unmet)].map(([unmet, same]) => ({
    ...describeRows(same.map(({ row }) => row)),
    ...toUnmetJson(unmet, snapshot.atMs),
  }));
}

/** One unmet reason as data, with its words. */
export function toUnmetJson(unmet: Unmet, atMs: EpochMs): Readonly<Record<string, unknown>> {
  return {
    code: unmet.code,
    invalid: unmet.invalid && { ...unmet.invalid, text: invalidText(unmet.invalid) },
    part: unmet.part,
    isEverAdmitted: unmet.isEverAdmitted,
    groups: unmet.groups.map(({ group, exclusion }) => {
      return { group, ...exclusion, text: exclusionText(exclusion, atMs) };
    }),
    change: unmet.change && {
      ...unmet.change,
      admits: unmet.changeAdmits,
      text: changeText(unmet.change, atMs),
    },
    nearest: unmet.nearest && {
      ...unmet.nearest,
      text: unmet.nearest.rules.map((rule) => exclusionText(rule, atMs)),
    },
    hints: unmet.hints.map((hint) => ({ ...hint, text: hintText(hint) })),
  };
}

function describeRows(rows: readonly RosterRow[]): Readonly<Record<string, unknown>> {
  const ids: string[] = [];
  for (const row of rows) {
    if (ids.length < IDS_SHOWN) ids.push(...idsOf(row, IDS_SHOWN - ids.length));
  }
  const count = rows.reduce((sum, { from, to }) => sum + to - from, 0);
  const demand = rows[0]?.demand;
  return { count, ids, asks: demand && formText(demand.form), priority: demand?.priority };
}

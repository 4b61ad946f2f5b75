import { formatQuantity, formatUsd } from '../api/format.ts';
import { groupBy } from '../support/group-by.ts';
import { formatWeekMinute } from '../support/week-time.ts';
import { listMinSteps } from './calendar-steps.ts';
import { toCalendarEntries } from './control.ts';
import { finding } from './finding.ts';
import type { Finding } from './problem.ts';
import type { RuleInput } from './salvage.ts';
import type { GroupSettings } from './schema.ts';

// Min is a promise, so no bound may lie below what min of all groups takes together, nor below
// what it takes at any hour that a calendar raises it.

/** What min takes of one bound at most, and the minute of the week, UTC, if a calendar's. */
interface Peak {
  readonly total: number;
  readonly weekMinute: number | null;
}

/** What one slice of a group takes of a bound. */
interface Draw {
  readonly bound: string;
  readonly perSlice: number;
}

const SLICES = 'slices';
const SPEND = 'spend';
const quotaOf = (pool: string, resource: string): string => `quota ${pool} ${resource}`;

/** Bounds of the fleet and of quota pools that min, calendars included, does not fit into. */
export function findMinAboveBounds(input: RuleInput): readonly Finding[] {
  const { limits, quotaPools } = input.settings;
  const peaks = findPeaks(input);
  const excess = (bound: string, limit: number | undefined): Peak | null => {
    const peak = peaks.get(bound);
    return limit === undefined || peak === undefined || peak.total <= limit ? null : peak;
  };
  const found: Finding[] = [];
  const slices = excess(SLICES, limits.maxSlices);
  if (slices !== null) {
    const what = `the sum of min over all groups${renderWhen(slices)}`;
    const message = `${limits.maxSlices} is below ${slices.total}, ${what}`;
    const remedy = `raise maxSlices to ${slices.total} or lower min`;
    found.push(finding(['limits', 'maxSlices'], limits.maxSlices, message, remedy));
  }
  const spend = excess(SPEND, limits.spendPerHour);
  if (spend !== null) {
    const [has, needs] = [formatUsd(limits.spendPerHour ?? 0), formatUsd(spend.total)];
    const what = `the price of min over all groups${renderWhen(spend)}`;
    const message = `${has} is below ${needs}, ${what}`;
    const remedy = `raise spendPerHour to ${needs.slice(1)} or lower min`;
    found.push(finding(['limits', 'spendPerHour'], has, message, remedy));
  }
  for (const [pool, quotas] of Object.entries(quotaPools)) {
    for (const [resource, limit] of Object.entries(quotas)) {
      const peak = excess(quotaOf(pool, resource), limit);
      if (peak === null) continue;
      const [has, needs] = [limit, peak.total].map((value) => formatQuantity(resource, value));
      const message = `${has} is below ${needs}, what min of its groups takes${renderWhen(peak)}`;
      const remedy = `raise it to ${needs} or lower min`;
      found.push(finding(['quotaPools', pool, resource], has, message, remedy));
    }
  }
  return found;
}

const renderWhen = ({ weekMinute }: Peak): string =>
  weekMinute === null ? '' : ` with calendars on ${formatWeekMinute(weekMinute)} UTC`;

function findPeaks({ groups, calendars, isFaulty }: RuleInput): ReadonlyMap<string, Peak> {
  const always = new Map<string, number>();
  for (const { item } of groups) add(always, item, item.min);
  const peaks = new Map<string, Peak>();
  for (const [bound, total] of always) peaks.set(bound, { total, weekMinute: null });

  // Of a faulty calendar nobody can say when it holds.
  const whole = calendars.filter(({ path }) => !isFaulty(path));
  const entries = whole.flatMap(({ item }) => toCalendarEntries(item));
  const members = groups.map(({ item }) => item);
  for (const steps of listMinSteps(members, entries)) {
    const totals = new Map(always);
    for (const [weekMinute, together] of groupBy(steps, (step) => step.weekMinute)) {
      for (const { group, change } of together) add(totals, group, change);
      for (const { bound } of together.flatMap(({ group }) => drawsOf(group))) {
        const total = totals.get(bound) ?? 0;
        if (total > (peaks.get(bound)?.total ?? 0)) peaks.set(bound, { total, weekMinute });
      }
    }
  }
  return peaks;
}

function add(totals: Map<string, number>, group: GroupSettings, slices: number): void {
  for (const { bound, perSlice } of drawsOf(group)) {
    totals.set(bound, (totals.get(bound) ?? 0) + slices * perSlice);
  }
}

function drawsOf({ host, hostsPerSlice, pricePerHour, quotaPool }: GroupSettings): readonly Draw[] {
  const quotas =
    quotaPool === undefined
      ? []
      : Object.entries(host).map(([resource, quantity]) => {
          return { bound: quotaOf(quotaPool, resource), perSlice: hostsPerSlice * quantity };
        });
  return [{ bound: SLICES, perSlice: 1 }, { bound: SPEND, perSlice: pricePerHour ?? 0 }, ...quotas];
}

import { formText } from '../../api/demand-text.ts';
import { plural } from '../../api/format.ts';
import type { DemandClass } from '../../model/demand.ts';
import type { GroupName } from '../../model/ids.ts';
import type { Change, Exclusion } from '../../model/reason.ts';
import { must } from '../../support/assert.ts';
import type { DecidedTick } from '../fleet-feed.ts';
import { holds, type Link } from './answer.ts';
import { orderText } from './phrases.ts';
import type { FleetView } from './fleet-view.ts';

/** Classes and rules that are named; of the others only the number is told. */
const ROWS_SHOWN = 5;

interface ClassRow {
  readonly demand: DemandClass;
  readonly count: number;
}

/** What the last decision gave a group, and what it kept out of it. */
interface GroupWork {
  /** Largest first. */
  readonly placed: readonly ClassRow[];
  /** Entries that wait and that a rule keeps out, most first. */
  readonly excluded: readonly { readonly rule: Exclusion['kind']; readonly count: number }[];
  /** The change to this group that admits most of those that wait. */
  readonly change: { readonly change: Change; readonly admits: number } | null;
}

function workOf({ input, output }: DecidedTick, name: GroupName): GroupWork {
  const placed: ClassRow[] = [];
  const rules = new Map<Exclusion['kind'], number>();
  let best: GroupWork['change'] = null;
  output.decision.classes.forEach((verdict, index) => {
    const demand = must(input.demand[index], 'one verdict per class');
    const count = verdict.placed
      .filter(({ spots }) => spots.some(({ group }) => group === name))
      .reduce((sum, one) => sum + one.count, 0);
    if (count > 0) placed.push({ demand, count });
    const { unmet, unmetCount } = verdict;
    const rule = unmet?.groups.find(({ group }) => group === name)?.exclusion.kind;
    if (rule !== undefined) rules.set(rule, (rules.get(rule) ?? 0) + unmetCount);
    const change = unmet?.change ?? null;
    const isOfGroup = change !== null && 'group' in change && change.group === name;
    if (isOfGroup && unmet !== null && unmet.changeAdmits > (best?.admits ?? 0)) {
      best = { change, admits: unmet.changeAdmits };
    }
  });
  return {
    placed: placed.sort((a, b) => b.count - a.count),
    excluded: [...rules]
      .map(([rule, count]) => ({ rule, count }))
      .sort((a, b) => b.count - a.count),
    change: best,
  };
}

/** Links about the work of a group, and the remedy that most of what waits would gain by. */
export function answerWork(
  { nowMs }: FleetView,
  last: DecidedTick,
  name: GroupName,
): { readonly chain: readonly Link[]; readonly remedy: string | null } {
  const { placed, excluded, change } = workOf(last, name);
  const total = placed.reduce((sum, { count }) => sum + count, 0);
  const chain: Link[] = [];
  if (total > 0)
    chain.push(holds('routed', `${entries(total)} ${total === 1 ? 'goes' : 'go'} there`));
  for (const { demand, count } of placed.slice(0, ROWS_SHOWN)) {
    chain.push(
      holds('class', `${count} x (${formText(demand.form)}), priority ${demand.priority}`),
    );
  }
  const moreClasses = placed.length - ROWS_SHOWN;
  if (moreClasses > 0)
    chain.push(holds('class', `and ${plural(moreClasses, 'class', 'classes')} more`));
  if (excluded.length > 0) {
    const rows = excluded.slice(0, ROWS_SHOWN).map(({ rule, count }) => `${count} by ${rule}`);
    const kept = excluded.reduce((sum, { count }) => sum + count, 0);
    chain.push(
      holds(
        'excluded',
        `${entries(kept)} that ${kept === 1 ? 'waits is' : 'wait are'} kept out: ${rows.join(', ')}`,
      ),
    );
  }
  const remedy =
    change === null
      ? null
      : `${orderText(change.change, nowMs)}, which admits ${entries(change.admits)}`;
  return { chain, remedy };
}

const entries = (count: number): string => plural(count, 'entry', 'entries');

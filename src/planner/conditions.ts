import type { Group } from '../model/group.ts';
import type { EpochMs } from '../model/ids.ts';
import type { Pause } from '../model/pause.ts';
import type { GroupCondition } from '../model/snapshot.ts';
import type { TickInput } from '../model/tick.ts';
import { isWithin, type Trouble } from '../model/trouble.ts';

/** Why groups cannot launch now, one condition at most for each: the one that lasts longest. */
export function findConditions(input: TickInput): readonly GroupCondition[] {
  const retired = new Set(input.control.retired);
  return input.control.fleet.groups.flatMap((group): GroupCondition[] => {
    const { name } = group;
    if (retired.has(name)) return [{ kind: 'draining', group: name }];
    const pause = longest(input.pauses.filter((each) => isPaused(each, 'launches', group)));
    if (pause !== null) return [{ kind: 'paused', group: name, untilMs: pause.untilMs }];
    const active = troublesOf(input, group).filter(({ untilMs }) => input.atMs < untilMs);
    const worst = longest(active);
    if (worst !== null) {
      return [{ kind: conditionOf(worst), group: name, untilMs: worst.untilMs }];
    }
    // What the provider holds is not known yet: to launch now could be to launch twice.
    if (input.unlisted.includes(group.provider)) {
      return [{ kind: 'backoff', group: name, untilMs: null }];
    }
    return [];
  });
}

/** The one that ends last; without an end is longer than any. */
function longest<T extends { readonly untilMs: EpochMs | null }>(list: readonly T[]): T | null {
  const endOf = ({ untilMs }: T): number => untilMs ?? Infinity;
  return list.reduce<T | null>(
    (before, each) => (before === null || endOf(each) > endOf(before) ? each : before),
    null,
  );
}

/** Whether a pause stops a kind of action in a group. */
export const isPaused = (
  { what, group }: Pause,
  action: 'launches' | 'terminations',
  { name }: Pick<Group, 'name'>,
): boolean => (what === action || what === 'both') && (group === null || group === name);

/** Troubles that concern a group, also those whose wait is over but that no success has ended. */
export const troublesOf = (
  { troubles }: Pick<TickInput, 'troubles'>,
  group: Group,
): readonly Trouble[] => troubles.filter(({ scope }) => isWithin(scope, group));

function conditionOf({ kind }: Trouble): 'stockout' | 'quota-exceeded' | 'backoff' {
  return kind === 'stockout' || kind === 'quota-exceeded' ? kind : 'backoff';
}

/** Whether a condition is the provider's doing: without it, the plan could have been another. */
export const isOfProvider = ({ kind }: GroupCondition): boolean =>
  kind === 'backoff' || kind === 'stockout' || kind === 'quota-exceeded';

/** When the next pause or trouble ends; null when none is there to end. */
export function nextEndMs({ pauses, troubles, atMs }: TickInput): EpochMs | null {
  const ends = [...pauses, ...troubles].flatMap(({ untilMs }) =>
    untilMs !== null && untilMs > atMs ? [untilMs] : [],
  );
  return ends.length === 0 ? null : ends.reduce((a, b) => (a < b ? a : b));
}

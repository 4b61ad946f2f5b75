import { hintText, invalidText } from '../../api/reason-text.ts';
import type { EpochMs } from '../../model/ids.ts';
import type { Exclusion, Unmet } from '../../model/reason.ts';
import { holds, type Link, type Option } from './answer.ts';
import { type FleetView, groupOf, slicesText } from './fleet-view.ts';
import { type Hindrance, hindrancesOf } from './hindrances.ts';
import type { Awaited } from './next-look.ts';
import { orderText, ruleText } from './phrases.ts';

/** What is said of anything that waits: an entry, or copies of a floor. */
export interface UnmetAnswer {
  /** What happened to the groups that would otherwise do, then the code and hints. */
  readonly chain: readonly Link[];
  readonly options: readonly Option[];
  readonly remedy: string;
  readonly awaited: readonly Awaited[];
}

/** Links about groups; beyond these the list of groups says it in short. */
const CAUSES_MAX = 5;

/** Why it waits, for every group, and what would end it. `count` are alike and wait. */
export function answerUnmet(view: FleetView, unmet: Unmet, count: number): UnmetAnswer {
  const { nowMs } = view;
  const hindrances = unmet.groups.flatMap(({ group, exclusion }) => {
    const known = isPassing(exclusion) ? groupOf(view, group) : null;
    return known === null ? [] : hindrancesOf(view, known.group);
  });
  const distinct = [...new Map(hindrances.map((one) => [one.link.text, one])).values()];
  const causes = distinct.slice(0, CAUSES_MAX);
  return {
    chain: [
      ...causes.map(({ link }) => link),
      ...fullGroups(view, unmet),
      holds(unmet.code, codeText(unmet)),
      ...unmet.hints.map((hint) => holds('hint', hintText(hint))),
    ],
    options: unmet.groups.map(({ group, exclusion }) => {
      return { group, kind: exclusion.kind, text: ruleText(exclusion, nowMs) };
    }),
    remedy: remedyText(unmet, count, { nowMs, causes }),
    awaited: awaitedOf(unmet, distinct),
  };
}

/** What fills the groups that are at their max: slices that leave or come are another matter than ready ones. */
const fullGroups = (view: FleetView, { groups }: Unmet): readonly Link[] =>
  groups
    .filter(({ exclusion }) => exclusion.kind === 'at-max')
    .slice(0, CAUSES_MAX)
    .map(({ group }) => holds('slices', `${group} has ${slicesText(view, group)}`));

/** Rules that end by themselves or by a word of an operator, and so have a history. */
const isPassing = ({ kind }: Exclusion): boolean =>
  kind === 'backoff' || kind === 'stockout' || kind === 'quota-exceeded' || kind === 'paused';

/** `waits (no-capacity): a group would do, ...`, for one line about it. */
export function waitText(unmet: Unmet): string {
  const { code, isEverAdmitted, invalid } = unmet;
  const isHopeless = invalid === null && !isEverAdmitted;
  return `${isHopeless ? 'can never run here' : 'waits'} (${code}): ${reasonText(unmet)}`;
}

const reasonText = ({ code, invalid }: Unmet): string =>
  invalid === null ? codeWords[code] : `the request itself is wrong: ${invalidText(invalid)}`;

function codeText(unmet: Unmet): string {
  const { invalid, isEverAdmitted, part } = unmet;
  if (invalid !== null) return reasonText(unmet);
  const which = part > 0 ? `; it is part ${part} that finds no place` : '';
  const outlook = isEverAdmitted
    ? 'it waits: the fleet could hold it'
    : 'it can never run in this fleet as configured';
  return `${reasonText(unmet)}; ${outlook}${which}`;
}

const codeWords: Readonly<Record<Unmet['code'], string>> = {
  'invalid-demand': 'the request itself is wrong',
  'no-matching-group': 'no group has what it asks for',
  'gang-mismatch': 'where it matches, slices have another shape',
  'insufficient-resources': 'where it matches, every host is too small',
  'no-capacity': 'a group would do, but there is no room now and none may be opened',
};

function remedyText(
  unmet: Unmet,
  count: number,
  { nowMs, causes }: { readonly nowMs: EpochMs; readonly causes: readonly Hindrance[] },
): string {
  if (unmet.invalid !== null) return 'correct the request and push it again';
  if (unmet.change !== null) {
    const admits = count === 1 ? '' : `, which admits ${unmet.changeAdmits} of ${count}`;
    // Who paused it and under which name is more use than that it is paused.
    const resume =
      unmet.change.kind === 'end-condition' && unmet.change.condition === 'paused'
        ? causes.find(({ link }) => link.kind === 'paused')?.remedy
        : null;
    return `${resume ?? orderText(unmet.change, nowMs)}${admits}`;
  }
  if (unmet.nearest === null) return '';
  const rules = unmet.nearest.rules.map((rule) => ruleText(rule, nowMs)).join('; and ');
  return `none by a single change; nearest is ${unmet.nearest.group}: ${rules}`;
}

/** Ends that the rules themselves name, where no cause tells them already. */
function awaitedOf({ groups }: Unmet, causes: readonly Hindrance[]): readonly Awaited[] {
  const told = causes.flatMap(({ end }) => (end === null ? [] : [end]));
  const known = new Set(told.map(({ untilMs }) => untilMs));
  const others = groups.flatMap(({ group, exclusion }) => {
    const untilMs = 'untilMs' in exclusion ? exclusion.untilMs : null;
    if (untilMs === null || known.has(untilMs)) return [];
    return [{ untilMs, text: `${group} is tried again` }];
  });
  return [...told, ...others];
}

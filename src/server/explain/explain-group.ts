import { formatResources } from '../../api/format.ts';
import { eventText } from '../../api/event-text.ts';
import { groupVerdictText, shortfallText } from '../../api/reason-text.ts';
import type { GroupReport } from '../../model/decision.ts';
import type { EpochMs } from '../../model/ids.ts';
import { isPaused } from '../../planner/conditions.ts';
import { nextChangeMs } from '../../policy/calendar.ts';
import { labelOf, scoreAt } from '../../policy/trouble/health.ts';
import { must } from '../../support/assert.ts';
import type { DecidedTick } from '../fleet-feed.ts';
import { type Answer, decisionLink, happened, holds, inOrder, type Link } from './answer.ts';
import { deferralsOf } from './coming.ts';
import { type FleetView, type KnownGroup, slicesText } from './fleet-view.ts';
import { answerWork } from './group-work.ts';
import { type Hindrance, hindrancesOf, ofPause } from './hindrances.ts';
import { type Awaited, nextLook } from './next-look.ts';
import { endOf, evenNow, leftText } from './phrases.ts';

/** Refusals that are told one by one. */
const REFUSALS_SHOWN = 3;

/** Why a group grows, does not grow, or shrinks. */
export function explainGroup(view: FleetView, known: KnownGroup): Answer {
  const { nowMs } = view;
  const last = must(view.last, 'a group is known from a decision');
  const { name } = known.group;
  const report = must(
    last.output.decision.groups.find(({ group }) => group === name),
    'a report on every group',
  );
  const hindrances = [...hindrancesOf(view, known.group), ...otherPauses(view, known)];
  const deferrals = deferralsOf(view, name);
  const work = answerWork(view, last, name);
  const calendars = calendarsOf(last, known, nowMs);
  const verdict = verdictOf(report, nowMs);
  const chain = [
    ...hindrances.map(({ link }) => link),
    ...refusalsOf(view, name),
    decisionLink(last),
    holds('slices', `has ${slicesText(view, name)}${boundsText(known)}`),
    ...stateOf(view, last, known),
    ...calendars.links,
    ...work.chain,
    ...deferrals.map(({ link }) => link),
    ...(report.shortfall === null
      ? []
      : [
          holds(
            'shortfall',
            shortfallText(report.shortfall, evenNow(endOf(report.shortfall.by), nowMs)),
          ),
        ]),
    holds(report.availability, availabilityText(report, hindrances, nowMs)),
    verdict,
  ];
  const ends = [...hindrances.flatMap(({ end }) => end ?? []), ...deferrals.map(({ end }) => end)];
  return {
    kind: 'group',
    subject: name,
    summary: `${name} (${report.availability}): ${verdict.text}`,
    chain: inOrder(chain),
    options: [],
    remedy: remedyOf(hindrances, work.remedy, deferrals[0]?.remedy ?? ''),
    nextLook: nextLook(view, [...ends, ...calendars.ends]),
  };
}

function verdictOf(report: GroupReport, nowMs: EpochMs): Link {
  const { verdict } = report;
  const endMs = verdict.kind === 'blocked' ? endOf(verdict.by) : null;
  return holds(verdict.kind, groupVerdictText(report, evenNow(endMs, nowMs)));
}

/** With the end that comes last: before it nothing is launched. */
function availabilityText(
  { availability }: GroupReport,
  hindrances: readonly Hindrance[],
  nowMs: EpochMs,
): string {
  const ends = hindrances.flatMap(({ end }) => end?.untilMs ?? []);
  const isFree = availability === 'available' || availability === 'requesting';
  const untilMs = ends.reduce<EpochMs | null>((a, b) => (a === null || b > a ? b : a), null);
  const until =
    isFree || availability === 'at-max' || untilMs === null
      ? ''
      : `, for ${leftText(untilMs, nowMs)} more`;
  return `availability: ${availability}${until}`;
}

/** Pauses of terminations: they stop no launch, but explain why nothing goes. */
const otherPauses = ({ held }: FleetView, { group }: KnownGroup): readonly Hindrance[] =>
  held.pauses
    .filter((pause) => pause.what === 'terminations' && isPaused(pause, 'terminations', group))
    .map((pause) => ofPause(pause));

const refusalsOf = ({ recentEvents }: FleetView, name: string): readonly Link[] =>
  recentEvents
    .filter(({ event }) => event.kind === 'launch-refused' && event.group === name)
    .slice(0, REFUSALS_SHOWN)
    .map((one) => happened(one.atMs, one.event.kind, eventText(one)));

const boundsText = ({ group: { min, spare, max } }: KnownGroup): string =>
  `; min ${min}, spare ${spare}, max ${max}`;

/** Health, hosts smaller than promised, a group that is leaving, a fleet that only advises. */
function stateOf(view: FleetView, { input }: DecidedTick, known: KnownGroup): readonly Link[] {
  const { group, isRetired } = known;
  const links: Link[] = [];
  if (isRetired) {
    links.push(
      holds('retired', 'no longer in the configuration: its slices drain, none are added'),
    );
  }
  const score = scoreAt(
    input.health.find((each) => each.group === group.name),
    view.nowMs,
  );
  if (score < 1) {
    const text = `health ${score.toFixed(2)}, ${labelOf(score)}: machines failed or vanished soon after launch`;
    links.push(holds('health', text));
  }
  const learned = input.learned.find((each) => each.group === group.name);
  if (learned !== undefined && learned.shape === known.own.shape) {
    const text = `its hosts turned out smaller than configured: ${formatResources(learned.host)}`;
    links.push(holds('learned-host', text));
  }
  if (input.control.mode === 'advisory') {
    links.push(
      holds('advisory', 'the fleet is in advisory mode: decided and recorded, never done'),
    );
  }
  return links;
}

/** Hours that change its min or spare: whether they do now, and when that changes. */
function calendarsOf(
  { input }: DecidedTick,
  { group }: KnownGroup,
  nowMs: EpochMs,
): { readonly links: readonly Link[]; readonly ends: readonly Awaited[] } {
  const own = input.control.calendars.filter((entry) => entry.group === group.name);
  if (own.length === 0) return { links: [], ends: [] };
  const names = [...new Set(own.map(({ calendar }) => calendar))].join(', ');
  const plain = input.control.fleet.groups.find(({ name }) => name === group.name);
  const isRaised = plain?.min !== group.min || plain.spare !== group.spare;
  const effect = isRaised
    ? `raises min to ${group.min} and spare to ${group.spare} now`
    : 'changes nothing at this hour';
  const changeMs = nextChangeMs({ ...input.control, calendars: own }, nowMs);
  const text = `calendar ${names} ${effect}`;
  const ends = changeMs === null ? [] : [{ untilMs: changeMs, text: `calendar ${names} changes` }];
  return { links: [holds('calendar', text)], ends };
}

function remedyOf(hindrances: readonly Hindrance[], work: string | null, rate: string): string {
  const ends = hindrances.flatMap(({ remedy }) => remedy ?? []);
  return ends[0] ?? work ?? rate;
}

import type { AutoscalerStatus, Spend } from '../../api/gen/bellows/v1/status_pb.ts';
import { formatUsdRounded } from '../../api/format.ts';
import { renderDemand, renderFloors, renderUnmet } from './status-demand.ts';
import { renderFailures, renderPauses, renderTroubles } from './status-failures.ts';
import { countSlices, renderGroups } from './status-groups.ts';
import type { StatusView } from './status-view.ts';
import { formatCount, joinWords, oneLine } from './words.ts';

/** A fleet on one screen: what there is, what is asked for, what waits and why, what it costs. */
export function renderStatus(status: AutoscalerStatus, view: StatusView): string {
  const { groups, classes, floors, pauses, troubles, recentEvents } = status;
  const head = [
    renderHead(status, view),
    renderSpend(status.spend, view),
    renderPauses(pauses, view),
  ].join('');
  const sections = [
    groups.length === 0 ? '' : renderGroups(groups, view),
    status.decidedAt === undefined && classes.length === 0 ? '' : renderDemand(classes, view),
    renderUnmet(classes, view),
    renderFloors(floors, view),
    renderTroubles(troubles, view),
    renderFailures(recentEvents, view),
  ];
  return [head, ...sections].filter((section) => section !== '').join('\n');
}

function renderHead(status: AutoscalerStatus, { style, moments }: StatusView): string {
  const { fleet, standing, standingDetail, mode, decidedAt, nextDecisionBy } = status;
  const isCalm = standing === 'leading';
  const stands = joinWords([standing, oneLine(standingDetail)], ': ');
  const words = [
    isCalm ? style.good(stands) : style.warn(stands),
    mode === 'advisory' ? style.warn('advisory: nothing is carried out') : mode,
  ];
  const decided =
    decidedAt === undefined ? 'nothing decided yet' : `decided ${moments.full(decidedAt)}`;
  const next = nextDecisionBy === undefined ? null : `next by ${moments.full(nextDecisionBy)}`;
  const name = oneLine(fleet);
  return `${style.bold('FLEET')}   ${name}  ${joinWords(words)}  ${joinWords([decided, next])}\n`;
}

function renderSpend(spend: Spend | undefined, view: StatusView): string {
  if (spend === undefined) return '';
  const { usdPerHour, plannedUsdPerHour, capUsdPerHour: cap } = spend;
  const parts = [
    `${formatDollars(usdPerHour)}/h now`,
    `${formatDollars(plannedUsdPerHour)}/h planned`,
    cap === undefined ? 'no cap' : `cap ${formatDollars(cap)}/h`,
  ];
  const bound = boundText(spend, view);
  const distance = bound === '' ? '' : `${view.style.bold('BOUND')}   ${bound}\n`;
  return `${view.style.bold('SPEND')}   ${parts.join(', ')}\n${distance}`;
}

/** How far the new slices are from what no plan could cost less than, and how old that is. */
function boundText(spend: Spend, { moments }: StatusView): string {
  const { boundUsdPerHour: bound, boundRatio: ratio, boundAt, boundUnknown } = spend;
  if (bound === undefined) {
    return boundUnknown === '' ? '' : `the lower bound is unknown: ${oneLine(boundUnknown)}`;
  }
  // Nothing new, or nothing that costs: there is no distance to tell.
  if (bound === 0) return '';
  const least = `${formatDollars(bound)}/h (${moments.age(boundAt)} old)`;
  if (ratio === undefined || !Number.isFinite(ratio)) return `what is new needs at least ${least}`;
  const above = (ratio - 1) * 100;
  if (above < 0.05) return `what is new costs the least that is possible, ${least}`;
  return `what is new is ${above.toFixed(1)} % above the least that is possible, ${least}`;
}

/** Dollars to the cent. */
export const formatDollars = (usd: number): string => formatUsdRounded(Math.round(usd * 1e6));

/** The same in one line, for logs: `12 ready, 2 coming, 1 leaving; 420 placed, 36 wait; $12.40/h`. */
export function statusLine(status: AutoscalerStatus): string {
  const { standing, standingDetail, pauses, troubles } = status;
  const stands = joinWords([standing, oneLine(standingDetail)], ': ');
  if (status.decidedAt === undefined) return `${stands}; nothing decided yet`;
  const slices = { ready: 0, coming: 0, leaving: 0 };
  for (const group of status.groups) {
    const { ready, coming, leaving } = countSlices(group);
    slices.ready += ready;
    slices.coming += coming;
    slices.leaving += leaving;
  }
  const { ready, coming, leaving } = slices;
  const count = status.classes.reduce((sum, one) => sum + one.count, 0n);
  const unmet = status.routing?.unmetCount ?? 0n;
  return joinWords(
    [
      standing === 'leading' ? null : stands,
      `${ready} ready, ${coming} coming, ${leaving} leaving`,
      `${formatCount(count - unmet)} placed, ${formatCount(unmet)} wait`,
      status.spend === undefined ? null : `${formatDollars(status.spend.usdPerHour)}/h`,
      pauses.length === 0 ? null : `${pauses.length} paused`,
      troubles.length === 0 ? null : `${troubles.length} in trouble`,
    ],
    '; ',
  );
}

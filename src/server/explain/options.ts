import { alternativeText } from '../../api/alternative-text.ts';
import { placedText } from '../../api/reason-text.ts';
import type { Placement } from '../../model/decision.ts';
import type { DemandClass } from '../../model/demand.ts';
import { findConditions } from '../../planner/conditions.ts';
import { prepare, toSnapshot } from '../../planner/prepare.ts';
import { applyCalendars } from '../../policy/calendar.ts';
import { listAlternatives } from '../../policy/demand/alternatives.ts';
import { withLearnedHosts } from '../../policy/learned-host.ts';
import type { Option } from './answer.ts';
import type { FleetView } from './fleet-view.ts';
import { endOf, evenNow } from './phrases.ts';

/**
 * Every group as a home for one entry of a class, judged on what the last decision saw, before it
 * placed anything. None before the first decision, and none for invalid demand.
 */
export function optionsFor(
  { last, nowMs }: FleetView,
  demand: DemandClass,
  placement: Placement | null,
): readonly Option[] {
  if (last === null) return [];
  const { learned, control, atMs } = last.input;
  const hosts = withLearnedHosts(control, learned);
  const input = { ...last.input, control: applyCalendars(hosts, atMs) };
  const snapshot = toSnapshot(input, prepare(input, findConditions(input)));
  const homes = new Set<string>(placement?.spots.map(({ group }) => group));
  // Alone: nothing of other work is asked for here, and there may be much of it.
  return listAlternatives({ ...snapshot, demand: [demand] }, 0).map((one): Option => {
    const { group } = one;
    if (placement !== null && homes.has(group)) {
      return { group, kind: 'taken', text: placedText(placement.why, placement.runnerUp) };
    }
    const text = alternativeText(
      one,
      one.kind === 'excluded' ? evenNow(endOf(one.exclusion), nowMs) : nowMs,
    );
    if (one.kind === 'excluded') return { group, kind: one.exclusion.kind, text };
    if (group === placement?.runnerUp?.group) return { group, kind: 'runner-up', text };
    return { group, kind: 'would-do', text: `${text}, if other work leaves it` };
  });
}

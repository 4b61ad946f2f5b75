import type { DemandClass, EntryForm } from '../../model/demand.ts';
import type { Group } from '../../model/group.ts';
import { addResources, type Resources } from '../../model/resources.ts';
import type { ClassVerdict } from '../../model/decision.ts';
import { must, unreachable } from '../../support/assert.ts';

/** What placements of a tick take of capacity on its way, by group. */
export function roomTakenOnItsWay(
  demand: readonly DemandClass[],
  verdicts: readonly ClassVerdict[],
): ReadonlyMap<string, Resources> {
  const taken = new Map<string, Record<string, number>>();
  verdicts.forEach(({ placed }, index) => {
    const { form } = must(demand[index], 'one verdict per class');
    for (const { count, spots } of placed) {
      for (const { group, room, tasks } of spots) {
        if (room !== 'on-its-way') continue;
        let own = taken.get(group);
        if (own === undefined) taken.set(group, (own = {}));
        addTimes(own, needOf(form, tasks), count);
      }
    }
  });
  return taken;
}

/** What so many tasks of an entry need. */
function needOf(form: EntryForm, tasks: number): Resources {
  switch (form.kind) {
    case 'single':
    case 'gang': {
      const need: Record<string, number> = {};
      addTimes(need, form.ask.resources, tasks);
      return need;
    }
    case 'bundles': {
      // A decision does not say which of unlike parts lie where: each counts as their average.
      const whole = form.bundles.reduce<Resources>(
        (sum, { resources }) => addResources(sum, resources),
        {},
      );
      const share = tasks / form.bundles.length;
      return Object.fromEntries(
        Object.entries(whole).map(([name, value]) => [name, Math.ceil(value * share)]),
      );
    }
    default:
      return unreachable(form);
  }
}

function addTimes(sum: Record<string, number>, one: Resources, times: number): void {
  for (const name in one) sum[name] = (sum[name] ?? 0) + (one[name] ?? 0) * times;
}

/** What is left of so many slices of a group that are on their way; nothing where there are none. */
export function roomLeftOnItsWay(
  { host, hostsPerSlice }: Group,
  comingCount: number,
  taken: Resources,
): Resources {
  if (comingCount === 0) return {};
  const hosts = comingCount * hostsPerSlice;
  return Object.fromEntries(
    Object.entries(host).map(([name, value]) => {
      return [name, Math.max(0, value * hosts - (taken[name] ?? 0))];
    }),
  );
}

import { entryIdAt } from '../model/demand.ts';
import type { DemandDecision, GroupReport } from '../model/decision.ts';
import type { Group } from '../model/group.ts';
import { type EntryId, type GroupName, type SliceId, sliceId } from '../model/ids.ts';
import type { LaunchWhy } from '../model/slice-record.ts';
import type { PlanStep, TickInput } from '../model/tick.ts';
import { must } from '../support/assert.ts';

type Launch = Extract<PlanStep, { kind: 'launch' }>;

/** Why slices of a group are launched, in the order in which they would be given up last. */
const whys: readonly LaunchWhy[] = ['demand', 'floor', 'min', 'spare'];

/**
 * The launches of a decision, each with an id of its own. `untroubled` is the decision that would
 * have been made had every provider been willing: what is launched beyond it stands in for others.
 */
export function planLaunches(
  input: TickInput,
  decision: DemandDecision,
  untroubled: DemandDecision | null,
): readonly Launch[] {
  if (decision.groups.every(({ launch }) => launch === 0)) return [];
  const gangs = assignGangs(input, decision);
  // A store that was lost starts again with the same numbers: what was adopted has its id already.
  const tick = `-${input.epoch.toString(36)}-${input.seq.toString(36)}-`;
  const known = new Set<SliceId>();
  for (const { id } of input.slices) if (id.includes(tick)) known.add(id);
  let minted = 0;
  const mint = (group: GroupName): SliceId => {
    const id = sliceId(`${group}${tick}${(minted++).toString(36)}`);
    return known.has(id) ? mint(group) : id;
  };
  const launches: Launch[] = [];
  decision.groups.forEach((report, index) => {
    if (report.launch === 0) return;
    const reserved = gangs.get(report.group) ?? [];
    const fallback = findFallback(report, index, { decision, untroubled });
    for (const why of whys) {
      // Demand comes first: a place among its launches is one among all.
      for (let place = 0; place < report.causes[why]; place++) {
        const isFallback = why === 'demand' && place >= report.causes.demand - fallback.slices;
        launches.push({
          kind: 'launch',
          sliceId: mint(report.group),
          group: report.group,
          why,
          reservedFor: why === 'demand' ? (reserved[place] ?? null) : null,
          fallbackFor: isFallback ? fallback.preferred : none,
        });
      }
    }
  });
  return launches;
}

const none: readonly GroupName[] = [];

/**
 * By group, which gang each new slice is for. A gang on slices of several hosts, or one whose every
 * task fills a host, owns what it launches; where tasks share hosts nothing can be held for one.
 */
function assignGangs(
  { demand, control }: TickInput,
  { classes }: DemandDecision,
): ReadonlyMap<GroupName, readonly EntryId[]> {
  const groups = new Map(control.fleet.groups.map((group) => [group.name, group]));
  const held = new Map<GroupName, EntryId[]>();
  classes.forEach(({ placed }, index) => {
    const { form, batches } = must(demand[index], 'one verdict per class');
    if (form.kind !== 'gang') return;
    const ids: (EntryId | null)[] = [];
    for (const batch of batches) {
      const id = batch.count === 1 ? entryIdAt(batch, 0) : null;
      for (let n = 0; n < batch.count; n++) ids.push(id);
    }
    let next = 0;
    for (const { count, spots } of placed) {
      for (const id of ids.slice(next, next + count)) {
        for (const { group, room, tasks } of spots) {
          if (id === null || room !== 'new') continue;
          const slices = slicesOf(must(groups.get(group), 'a known group'), form, tasks);
          const list = held.get(group) ?? [];
          held.set(group, list);
          for (let n = 0; n < slices; n++) list.push(id);
        }
      }
      next += count;
    }
  });
  return held;
}

function slicesOf(
  group: Group,
  { ask }: { readonly ask: { readonly resources: Readonly<Record<string, number>> } },
  tasks: number,
): number {
  if (group.hostsPerSlice > 1) return Math.ceil(tasks / group.hostsPerSlice);
  const fillsHost = Object.entries(ask.resources).some(
    ([name, need]) => need * 2 > (group.host[name] ?? 0),
  );
  return fillsHost ? tasks : 0;
}

/** How many of a group's launches stand in for other groups, and for which. */
function findFallback(
  report: GroupReport,
  index: number,
  decisions: { readonly decision: DemandDecision; readonly untroubled: DemandDecision | null },
): { readonly slices: number; readonly preferred: readonly GroupName[] } {
  const { decision, untroubled } = decisions;
  const would = untroubled?.groups[index];
  const slices = would === undefined ? 0 : report.causes.demand - would.causes.demand;
  if (slices <= 0) return { slices: 0, preferred: [] };
  const preferred = (untroubled?.groups ?? []).flatMap((other, place) => {
    const now = decision.groups[place]?.causes.demand ?? 0;
    return other.causes.demand > now ? [other.group] : [];
  });
  return { slices, preferred };
}

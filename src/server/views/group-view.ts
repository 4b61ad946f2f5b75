import { create } from '@bufbuild/protobuf';
import {
  type GroupStatus,
  GroupStatusSchema,
  type TroubleStatus,
  TroubleStatusSchema,
} from '../../api/gen/bellows/v1/status_pb.ts';
import { groupVerdictText, shortfallText } from '../../api/reason-text.ts';
import type { GroupReport } from '../../model/decision.ts';
import type { Device, Group } from '../../model/group.ts';
import type { EpochMs, GroupName } from '../../model/ids.ts';
import type { Resources } from '../../model/resources.ts';
import { onItsWay } from '../../model/slice.ts';
import type { TrackedSlice } from '../../model/slice-record.ts';
import type { GroupCondition } from '../../model/snapshot.ts';
import type { Deferral, TickInput } from '../../model/tick.ts';
import type { GroupHealth } from '../../model/trouble.ts';
import { findConditions } from '../../planner/conditions.ts';
import { applyCalendars } from '../../policy/calendar.ts';
import { withLearnedHosts } from '../../policy/learned-host.ts';
import { scoreAt } from '../../policy/trouble/health.ts';
import { must } from '../../support/assert.ts';
import { groupBy } from '../../support/group-by.ts';
import type { DecidedTick } from '../fleet-feed.ts';
import { roomLeftOnItsWay, roomTakenOnItsWay } from './coming-room.ts';
import type { Routed } from './demand-view.ts';
import { toAmounts, toReason, toTimestamp, toUsdOrNone } from './wire-values.ts';

/** What is known of one group beside what it offers. */
interface Around {
  readonly atMs: EpochMs;
  readonly report: GroupReport;
  readonly tally: Tally;
  readonly condition: GroupCondition | undefined;
  readonly deferrals: readonly Deferral[];
  readonly health: GroupHealth | undefined;
  readonly taken: Resources;
  readonly assignedCount: number;
  readonly isRetired: boolean;
}

/** Every group as the decision saw it: hours of the calendars and learned hosts applied. */
export function toGroups(
  { input: given, output }: DecidedTick,
  routed: ReadonlyMap<string, Routed>,
): GroupStatus[] {
  const hosts = withLearnedHosts(given.control, given.learned);
  const input: TickInput = { ...given, control: applyCalendars(hosts, given.atMs) };
  const tallies = tallySlices(input.slices);
  const conditions = new Map(findConditions(input).map((each) => [each.group, each]));
  const deferrals = groupBy(output.deferrals, ({ group }) => group);
  const healths = new Map(input.health.map((each) => [each.group, each]));
  const taken = roomTakenOnItsWay(input.demand, output.decision.classes);
  const retired = new Set<GroupName>(input.control.retired);
  return input.control.fleet.groups.map((group, index) => {
    const { name } = group;
    return toGroup(group, {
      atMs: input.atMs,
      report: must(output.decision.groups[index], 'one report per group'),
      tally: tallies.get(name) ?? noSlices,
      condition: conditions.get(name),
      deferrals: deferrals.get(name) ?? [],
      health: healths.get(name),
      taken: taken.get(name) ?? {},
      assignedCount: routed.get(name)?.count ?? 0,
      isRetired: retired.has(name),
    });
  });
}

/** The slices of one group, counted. */
interface Tally {
  readonly counts: Record<string, number>;
  idle: number;
  coming: number;
}

const noSlices: Tally = { counts: {}, idle: 0, coming: 0 };

function tallySlices(slices: readonly TrackedSlice[]): ReadonlyMap<GroupName, Tally> {
  const tallies = new Map<GroupName, Tally>();
  for (const { group, status, idleSinceMs } of slices) {
    let tally = tallies.get(group);
    if (tally === undefined) tallies.set(group, (tally = { counts: {}, idle: 0, coming: 0 }));
    tally.counts[status] = (tally.counts[status] ?? 0) + 1;
    if (status === 'ready' && idleSinceMs !== null) tally.idle++;
    if (onItsWay.has(status)) tally.coming++;
  }
  return tallies;
}

function toGroup(group: Group, around: Around): GroupStatus {
  const { report, tally, atMs, condition, deferrals } = around;
  return create(GroupStatusSchema, {
    name: group.name,
    provider: group.provider,
    device: deviceText(group.device),
    hostsPerSlice: group.hostsPerSlice,
    min: group.min,
    spare: group.spare,
    max: group.max,
    priceUsdPerHour: toUsdOrNone(group.priceMicroUsdPerHour),
    slices: { ...tally.counts },
    idle: tally.idle,
    availability: report.availability,
    availabilityUntil: toTimestamp(endOf(report, condition)),
    verdict: toReason(report.verdict.kind, groupVerdictText(report, atMs)),
    launch: report.launch,
    assignedEntries: BigInt(around.assignedCount),
    remainingOnItsWay: toAmounts(roomLeftOnItsWay(group, tally.coming, around.taken)),
    deferred: deferrals.map(({ count, by, untilMs }) => {
      return { count, by, until: toTimestamp(untilMs) };
    }),
    shortfall: report.shortfall === null ? '' : shortfallText(report.shortfall, atMs),
    health: scoreAt(around.health, atMs),
    retired: around.isRetired,
  });
}

const deviceText = ({ type, variant }: Device): string =>
  variant === null ? type : `${type} ${variant}`;

/** When what the availability says ends by itself. A bound has no end that anybody knows. */
function endOf({ availability }: GroupReport, condition: GroupCondition | undefined) {
  if (condition === undefined || condition.kind === 'draining') return null;
  return condition.kind === availability ? condition.untilMs : null;
}

/** Where nothing can be had now; a wait that is over is only a memory. */
export function toTroubles({ troubles, atMs }: TickInput): TroubleStatus[] {
  return troubles
    .filter(({ untilMs }) => untilMs > atMs)
    .map(({ scope, kind, attempts, sinceMs, untilMs, detail }) =>
      create(TroubleStatusSchema, {
        scope: scope.kind,
        name: scope.name,
        kind,
        attempts,
        since: toTimestamp(sinceMs),
        until: toTimestamp(untilMs),
        detail,
      }),
    );
}

import type { GroupControl } from '../model/control.ts';
import type { GroupReport } from '../model/decision.ts';
import type { Group } from '../model/group.ts';
import type { SliceId } from '../model/ids.ts';
import { onItsWay } from '../model/slice.ts';
import type { TrackedSlice } from '../model/slice-record.ts';
import type { PlanStep, SliceVerdict, TickInput } from '../model/tick.ts';
import { byFirst, byNumber, byText, type Compare } from '../support/order.ts';
import { timeoutOf } from '../lifecycle/timeouts.ts';
import { planComing } from './coming.ts';
import type { Prepared } from './prepare.ts';
import { planReady } from './ready.ts';

/** One group at one tick, as scale-down sees it. */
export interface GroupView {
  readonly group: Group;
  readonly control: GroupControl;
  readonly report: GroupReport;
  /** Slices of the group that count, those given up this tick left out. */
  readonly slices: readonly TrackedSlice[];
  /** Whether a want of this tick was placed on reported room of the group. */
  readonly isRoomUsed: boolean;
  readonly isRetired: boolean;
  /** Counted down with every slice that is let go in this tick. */
  readonly left: {
    /** Slices that may go before the group falls below its min or what floors hold. */
    surplus: number;
    /** Slices above the group's max. */
    excess: number;
  };
}

/** What scale-down may still do in this tick. */
export interface Allowance {
  /** Takes one release of a group, or says why not. */
  readonly take: (group: Group) => 'granted' | 'paused' | 'blast-radius';
  /** Whether every group that a slice stands in for can launch again. */
  readonly hasRecovered: (slice: TrackedSlice) => boolean;
}

export interface Release {
  readonly steps: PlanStep[];
  readonly verdicts: Map<SliceId, SliceVerdict>;
}

export interface ReleaseInput {
  readonly input: TickInput;
  readonly prepared: Prepared;
  readonly reports: readonly GroupReport[];
  /** Groups with reported room that a want of this tick uses. */
  readonly roomsUsed: ReadonlySet<string>;
  readonly allowance: Allowance;
}

/** Which slices go and why each of the others stays. Evaluated after all wants were served. */
export function planRelease({
  input,
  prepared,
  reports,
  roomsUsed,
  allowance,
}: ReleaseInput): Release {
  const release: Release = { steps: [], verdicts: new Map() };
  const byGroup = new Map<string, TrackedSlice[]>();
  for (const slice of input.slices) {
    if (prepared.cancelled.has(slice.id)) continue;
    const list = byGroup.get(slice.group);
    if (list === undefined) byGroup.set(slice.group, [slice]);
    else list.push(slice);
  }
  const retired = new Set(input.control.retired);
  input.control.fleet.groups.forEach((group, index) => {
    const control = input.control.groups[index];
    const report = reports[index];
    const slices = byGroup.get(group.name) ?? [];
    if (slices.length === 0 || control === undefined || report === undefined) return;
    const staying = slices.filter(stays).length;
    const view: GroupView = {
      group,
      control,
      report,
      slices,
      isRoomUsed: roomsUsed.has(group.name),
      isRetired: retired.has(group.name),
      left: {
        surplus: staying + report.launch - Math.max(group.min, heldOf(report)),
        // What leaves already is no longer above anything.
        excess: Math.max(0, staying + report.launch - group.max),
      },
    };
    for (const slice of slices) {
      // Ready ones get theirs below, all of them.
      if (slice.status === 'ready') continue;
      release.verdicts.set(slice.id, verdictOnLeaving(slice, control));
    }
    planComing(view, { atMs: input.atMs, allowance, release });
    planReady(view, { atMs: input.atMs, prepared, allowance, release });
  });
  return release;
}

/** Slices that floors are held with, and those launched for what these lack: beside, not instead. */
const heldOf = ({ held, causes }: GroupReport): number => held + causes.floor + causes.spare;

export const stays = ({ status }: TrackedSlice): boolean =>
  status === 'ready' || onItsWay.has(status);

const ending: SliceVerdict = { kind: 'ending' };

/** The word on slices that nobody decides about any more; the others get theirs in turn. */
function verdictOnLeaving(slice: TrackedSlice, { timeouts }: GroupControl): SliceVerdict {
  if (slice.status === 'draining' && slice.drain !== null) {
    return { kind: 'draining', why: slice.drain.why };
  }
  if (!onItsWay.has(slice.status)) return ending;
  const timeoutMs = timeoutOf(slice.status, timeouts) ?? 0;
  return { kind: 'waiting', status: slice.status, timeoutMs };
}

/** Longest without work first, then by id. */
export const byIdleness: Compare<TrackedSlice> = byFirst(
  byNumber((slice) => slice.idleSinceMs ?? slice.statusSinceMs),
  (a, b) => byText(a.id, b.id),
);

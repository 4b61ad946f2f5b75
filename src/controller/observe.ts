import { advance } from '../lifecycle/advance.ts';
import type { SliceSight } from '../lifecycle/sight.ts';
import type { Control, GroupControl } from '../model/control.ts';
import type { FleetEvent } from '../model/event.ts';
import type { Group } from '../model/group.ts';
import type { EpochMs, SliceId } from '../model/ids.ts';
import type { Machine } from '../model/machine.ts';
import type { Resources } from '../model/resources.ts';
import { type HistoryStep, isLive, type SliceRecord } from '../model/slice-record.ts';
import type { SliceStatus } from '../model/slice.ts';
import { learnHost } from '../policy/learned-host.ts';
import { YOUNG_MS } from '../policy/trouble/health.ts';
import { must } from '../support/assert.ts';
import type { Memory } from './memory.ts';
import type { Sights } from './sights.ts';
import { endTroubles, noteFailure, noteRefusal, noteSuccess } from './troubles.ts';

export interface Observing {
  readonly memory: Memory;
  readonly sights: Sights;
  readonly control: Control;
  readonly groups: GroupIndex;
  readonly nowMs: EpochMs;
  /** By provider; a provider that is not configured any more has none. */
  readonly listLagMs: ReadonlyMap<string, number>;
  readonly tell: (event: FleetEvent) => void;
}

/** Ended slices are remembered so long, for late machines and for people, and so many of them. */
const ENDED_KEPT_MS = 3_600_000;
const ENDED_KEPT_MAX = 2_000;

/**
 * Moves every slice by what was seen since the last look, and lets time do its part: what comes of a
 * call is learned here and nowhere else. True when a launch was refused.
 */
export function observe(observing: Observing): boolean {
  const { memory, sights, groups, nowMs, tell } = observing;
  let wasRefused = false;
  let ended = 0;
  adoptStrays(observing);
  const aroundOf = createAround(observing);
  for (const record of memory.slices.values()) {
    if (!isLive(record)) {
      ended++;
      continue;
    }
    const { group, own } = must(groups.get(record.group), 'retired groups are kept in the control');
    const sight = sights.of(record);
    if (sight.launch.kind === 'unanswered') {
      noteRefusal(memory, sight.launch.refusal, { group, nowMs, tell });
      sights.answer(record, { kind: 'none' });
    }
    const { record: next, steps } = advance(record, sight, aroundOf(record.provider, own));
    if (next !== record) memory.slices.put(record.id, next);
    if (next.status === 'ready') noteHosts(memory, sight, { group, shape: own.shape });
    let from = record.status;
    for (const step of steps) {
      tellStep(next, step, from, tell);
      drawConsequence(observing, { record: next, step, from, group });
      if (step.event === 'refused') wasRefused = true;
      from = step.status;
    }
  }
  expire(observing, ended);
  return wasRefused;
}

type Around = Parameters<typeof advance>[2];

/** What the slices of one group are judged against, made once for all of them. */
function createAround({
  sights,
  nowMs,
  listLagMs,
}: Observing): (provider: string, own: GroupControl) => Around {
  const known = new Map<GroupControl, { readonly provider: string; readonly around: Around }>();
  return (provider, own) => {
    const before = known.get(own);
    if (before?.provider === provider) return before.around;
    const around = {
      nowMs,
      listedMs: sights.listedMs(provider),
      watchingSinceMs: sights.watchingSinceMs,
      listLagMs: listLagMs.get(provider) ?? 0,
      timeouts: own.timeouts,
      unreported: own.unreported,
    };
    known.set(own, { provider, around });
    return around;
  };
}

/** Hosts without work show what they really offer. */
function noteHosts(
  memory: Memory,
  { reports }: SliceSight,
  at: { readonly group: Group; readonly shape: string },
): void {
  for (const report of reports) {
    if (report === null || report.isBusy || report.drain !== 'none') continue;
    const { name, host } = at.group;
    const known = memory.hosts.get(name);
    // Nearly always as promised: nothing is to be thought about.
    if (known === undefined && isAsPromised(report.free, host)) continue;
    const learned = learnHost(known, at, report.free);
    if (learned !== null && learned !== known) memory.hosts.put(name, learned);
    else if (learned === null && known !== undefined) memory.hosts.remove(name);
  }
}

function isAsPromised(free: Resources, host: Resources): boolean {
  for (const name in host) if ((free[name] ?? 0) < (host[name] ?? 0)) return false;
  return true;
}

interface Placed {
  readonly group: Group;
  readonly own: GroupControl;
}

/** Groups by name, with how each is run. */
export type GroupIndex = ReadonlyMap<string, Placed>;

export function indexGroups(control: Control): GroupIndex {
  return new Map(
    control.fleet.groups.map((group, index) => [
      group.name,
      { group, own: must(control.groups[index], 'one control per group') },
    ]),
  );
}

export function tellStep(
  { id, group }: SliceRecord,
  { event, status, cause }: HistoryStep,
  from: SliceStatus | null,
  tell: (event: FleetEvent) => void,
): void {
  tell({ kind: 'slice-moved', sliceId: id, group, event, from, to: status, cause });
}

/** What a step in the life of a slice teaches about its group. */
function drawConsequence(
  { memory, nowMs, tell }: Observing,
  {
    record,
    step,
    from,
    group,
  }: {
    readonly record: SliceRecord;
    readonly step: HistoryStep;
    readonly from: SliceStatus;
    readonly group: Group;
  },
): void {
  const { event, cause } = step;
  if (cause?.kind === 'refused') {
    tell({ kind: 'launch-refused', sliceId: record.id, group: group.name, refusal: cause.refusal });
    noteRefusal(memory, cause.refusal, { group, nowMs, tell });
  } else if (event === 'machines-seen' || event === 'hosts-ready') {
    noteSuccess(memory, group, { event, requestedAtMs: record.requestedAtMs, tell });
  } else if (event === 'timed-out' && from !== 'queued' && from !== 'draining') {
    if (from === 'terminating') return;
    noteFailure(memory, group, { nowMs, tell });
    if (from !== 'requesting') return;
    const detail = 'no machine came in time';
    noteRefusal(memory, { kind: 'unknown', detail }, { group, nowMs, tell });
  } else if (event === 'host-lost' || (event === 'cancelled' && from !== 'queued')) {
    const isYoung = nowMs - (record.requestedAtMs ?? nowMs) < YOUNG_MS;
    if (isYoung && from !== 'draining') noteFailure(memory, group, { nowMs, tell });
  }
}

/**
 * Machines with our tag that nobody remembers are adopted, as their work may be somebody's; those of
 * a slice that has ended are released again by the actuator.
 */
function adoptStrays(observing: Observing): void {
  const { memory, sights, control, groups, tell } = observing;
  for (const { name } of control.providers) {
    const listed = sights.listed(name);
    const { slices } = memory;
    const before = withoutStrays.get(listed);
    if (before?.slices === slices && before.version === slices.version) continue;
    let areKnown = true;
    for (const [id, machines] of listed) {
      if (slices.get(id) !== undefined) continue;
      areKnown = false;
      const live = machines.filter(({ state }) => state !== 'gone' && state !== 'stopping');
      const [first] = live;
      const placed = first === undefined ? undefined : groups.get(first.group);
      if (first === undefined || placed === undefined) continue;
      const record = toAdopted(observing, { id, provider: name, machines: live, placed });
      slices.put(id, record);
      tell({ kind: 'stray-machine', sliceId: id, group: first.group, action: 'adopted' });
      tellStep(record, must(record.history[0], 'its first step'), null, tell);
    }
    if (areKnown) withoutStrays.set(listed, { slices, version: slices.version });
  }
}

/** Lists of which every slice was known, when all slices were as they are now. */
const withoutStrays = new WeakMap<
  ReturnType<Sights['listed']>,
  { readonly slices: Memory['slices']; readonly version: number }
>();

function toAdopted(
  { nowMs }: Observing,
  stray: {
    readonly id: SliceId;
    readonly provider: string;
    readonly machines: readonly Machine[];
    readonly placed: Placed;
  },
): SliceRecord {
  const { group, own } = stray.placed;
  const byIndex = new Map(stray.machines.map((machine) => [machine.hostIndex, machine.machineId]));
  return {
    id: stray.id,
    group: group.name,
    provider: stray.provider,
    hostCount: group.hostsPerSlice,
    status: 'booting',
    statusSinceMs: nowMs,
    reservedFor: null,
    reservedSinceMs: null,
    priceMicroUsdPerHour: group.priceMicroUsdPerHour,
    shape: own.shape,
    fallbackFor: [],
    machines: Array.from({ length: group.hostsPerSlice }, (_, n) => byIndex.get(n) ?? null),
    requestedAtMs: nowMs,
    readyAtMs: null,
    idleSinceMs: null,
    isReported: false,
    isProtected: false,
    drain: null,
    history: [{ atMs: nowMs, event: 'adopted', status: 'booting', cause: { kind: 'adopted' } }],
  };
}

/** What has an end comes to it. */
function expire({ memory, sights, nowMs, tell }: Observing, ended: number): void {
  for (const [id, pause] of memory.pauses.entries()) {
    if (pause.untilMs === null || nowMs < pause.untilMs) continue;
    memory.pauses.remove(id);
    tell({ kind: 'resumed', pauseId: id, by: 'expiry' });
  }
  for (const [id, { expiresAtMs }] of memory.floors.entries()) {
    if (nowMs >= expiresAtMs) memory.floors.remove(id);
  }
  for (const [id, { expiresAtMs }] of memory.demand.entries()) {
    if (nowMs >= expiresAtMs) memory.demand.remove(id);
  }
  endTroubles(memory, nowMs, tell);
  if (ended === 0) return;
  let surplus = ended - ENDED_KEPT_MAX;
  for (const record of memory.slices.values()) {
    if (isLive(record)) continue;
    const isOld = nowMs - record.statusSinceMs >= ENDED_KEPT_MS;
    if (!isOld && surplus-- <= 0) continue;
    memory.slices.remove(record.id);
    sights.forget(record.id);
  }
}

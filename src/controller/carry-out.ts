import { step } from '../lifecycle/transitions.ts';
import type { FleetEvent } from '../model/event.ts';
import { type EntryId, type EpochMs, epochMs, type SliceId } from '../model/ids.ts';
import type { DrainWhy, SliceCause, SliceEvent, SliceRecord } from '../model/slice-record.ts';
import type { PlanStep } from '../model/tick.ts';
import { assert, must, unreachable } from '../support/assert.ts';
import { addTo } from '../support/group-by.ts';
import type { Memory } from './memory.ts';
import { type GroupIndex, tellStep } from './observe.ts';
import { noteRefusal } from './troubles.ts';

export interface CarryingOut {
  readonly memory: Memory;
  readonly groups: GroupIndex;
  readonly nowMs: EpochMs;
  readonly tell: (event: FleetEvent) => void;
}

/** Writes the steps of a plan into the records. Nothing is called: calls follow from the records. */
export function carryOut(steps: readonly PlanStep[], out: CarryingOut): void {
  const rolledBack = new Map<EntryId, SliceId[]>();
  for (const planned of steps) {
    if (planned.kind === 'launch') {
      createRecord(planned, out);
      continue;
    }
    const record = must(out.memory.slices.get(planned.sliceId), 'a plan names known slices');
    switch (planned.kind) {
      case 'send':
        move(record, { event: 'launch-sent', cause: null }, out);
        break;
      case 'cancel':
        move(record, { event: 'cancelled', cause: { kind: 'cancelled', why: planned.why } }, out);
        if (planned.why.kind === 'gang-rolled-back') {
          addTo(rolledBack, planned.why.gang, record.id);
        }
        break;
      case 'drain':
        startDrain(record, planned.why, out);
        break;
      case 'cancel-drain':
        move(record, { event: 'drain-cancelled', cause: { kind: 'needed-again' } }, out);
        break;
      case 'unreserve':
        unreserve(record, out);
        if (planned.why === 'timed-out') addTo(rolledBack, planned.gang, record.id);
        break;
      case 'mark-unneeded':
        out.memory.slices.put(record.id, { ...record, idleSinceMs: out.nowMs });
        break;
      case 'mark-needed':
        out.memory.slices.put(record.id, { ...record, idleSinceMs: null });
        break;
      default:
        unreachable(planned);
    }
  }
  for (const [gang, sliceIds] of rolledBack) noteRollback(gang, sliceIds, out);
}

/** The time it was held for its gang was no idleness: that begins now. */
function unreserve(record: SliceRecord, { memory, nowMs }: CarryingOut): void {
  const idleSinceMs = record.idleSinceMs === null ? null : nowMs;
  memory.slices.put(record.id, {
    ...record,
    reservedFor: null,
    reservedSinceMs: null,
    idleSinceMs,
  });
}

/** Moves a slice by an event that must mean something in its status. */
export function move(
  record: SliceRecord,
  { event, cause }: { readonly event: SliceEvent; readonly cause: SliceCause | null },
  { memory, nowMs, tell }: Omit<CarryingOut, 'groups'>,
): SliceRecord {
  const done = step(record, { event, cause, atMs: nowMs });
  assert(done.kind === 'moved', `no ${event} for ${record.id}, which is ${record.status}`);
  memory.slices.put(record.id, done.record);
  tellStep(done.record, must(done.record.history.at(-1), 'its last step'), done.from, tell);
  return done.record;
}

export function startDrain(record: SliceRecord, why: DrainWhy, out: CarryingOut): void {
  const moved = move(record, { event: 'drain-started', cause: { kind: 'draining', why } }, out);
  const own = out.groups.get(record.group)?.own;
  const deadlineMs = epochMs(out.nowMs + must(own, 'a known group').timeouts.drainingMs);
  out.memory.slices.put(record.id, { ...moved, drain: { why, deadlineMs } });
}

function createRecord(
  launch: Extract<PlanStep, { kind: 'launch' }>,
  { memory, groups, nowMs, tell }: CarryingOut,
): void {
  const { group, own } = must(groups.get(launch.group), 'a known group');
  const cause: SliceCause = { kind: 'launched-for', why: launch.why };
  const record: SliceRecord = {
    id: launch.sliceId,
    group: group.name,
    provider: group.provider,
    hostCount: group.hostsPerSlice,
    status: 'queued',
    statusSinceMs: nowMs,
    reservedFor: launch.reservedFor,
    reservedSinceMs: launch.reservedFor === null ? null : nowMs,
    priceMicroUsdPerHour: group.priceMicroUsdPerHour,
    shape: own.shape,
    fallbackFor: launch.fallbackFor,
    machines: Array.from({ length: group.hostsPerSlice }, () => null),
    requestedAtMs: null,
    readyAtMs: null,
    idleSinceMs: null,
    isReported: false,
    isProtected: false,
    drain: null,
    history: [{ atMs: nowMs, event: 'planned', status: 'queued', cause }],
  };
  assert(memory.slices.get(record.id) === undefined, 'slice ids are minted once');
  memory.slices.put(record.id, record);
  tellStep(record, must(record.history[0], 'its first step'), null, tell);
}

/** A gang that did not come together: its groups are left alone for a while. */
function noteRollback(gang: EntryId, sliceIds: readonly SliceId[], out: CarryingOut): void {
  out.tell({ kind: 'gang-rolled-back', gang, sliceIds });
  const names = new Set(sliceIds.flatMap((id) => out.memory.slices.get(id)?.group ?? []));
  for (const name of names) {
    const placed = out.groups.get(name);
    if (placed === undefined) continue;
    const detail = `the slices for gang ${gang} did not all come up in time`;
    noteRefusal(out.memory, { kind: 'unknown', detail }, { ...out, group: placed.group });
  }
}

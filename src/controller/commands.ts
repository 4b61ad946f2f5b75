import type { FleetEvent } from '../model/event.ts';
import type { Control } from '../model/control.ts';
import type { EpochMs, SliceId } from '../model/ids.ts';
import type { Pause } from '../model/pause.ts';
import type { HeldFloor } from '../model/push.ts';
import { isLive, type SliceRecord } from '../model/slice-record.ts';
import { unreachable } from '../support/assert.ts';
import { type CarryingOut, move, startDrain } from './carry-out.ts';
import { type ArrivingPush, type PushOutcome, takePush } from './demand-push.ts';
import { withRetired } from './retire.ts';

/** What somebody outside asks of the fleet. Acknowledged only when it is durable. */
export type Command =
  | ({ readonly kind: 'push-demand' } & ArrivingPush)
  | { readonly kind: 'hold-floor'; readonly floor: HeldFloor }
  | { readonly kind: 'drop-floor'; readonly id: string }
  | { readonly kind: 'pause'; readonly pause: Pause }
  | { readonly kind: 'resume'; readonly pauseId: string }
  | {
      readonly kind: 'drain-slice';
      readonly sliceId: SliceId;
      readonly author: string;
      readonly reason: string;
      /** Null: the group's draining timeout. */
      readonly deadlineMs: EpochMs | null;
    }
  | { readonly kind: 'protect-slice'; readonly sliceId: SliceId; readonly isProtected: boolean }
  | { readonly kind: 'change-control'; readonly control: Control };

export type CommandAnswer =
  | { readonly kind: 'done' }
  | Exclude<PushOutcome, { kind: 'taken' }>
  | { readonly kind: 'unknown-slice' }
  | { readonly kind: 'unknown-pause' }
  /** The slice is past the point where the command means something. */
  | { readonly kind: 'too-late'; readonly status: SliceRecord['status'] };

const done: CommandAnswer = { kind: 'done' };

/** Writes a command into memory; the answer is given once that is kept. */
export function obey(command: Command, out: CarryingOut, take = takePush): CommandAnswer {
  const { memory, tell } = out;
  switch (command.kind) {
    case 'push-demand': {
      const { source } = command.push;
      const outcome = take(memory.demand.get(source), command);
      if (outcome.kind !== 'taken') return outcome;
      memory.demand.put(source, outcome.push);
      return done;
    }
    case 'hold-floor':
      memory.floors.put(command.floor.id, command.floor);
      return done;
    case 'drop-floor':
      memory.floors.remove(command.id);
      return done;
    case 'pause':
      memory.pauses.put(command.pause.id, command.pause);
      tell({ kind: 'paused', pause: command.pause });
      return done;
    case 'resume':
      if (memory.pauses.get(command.pauseId) === undefined) return { kind: 'unknown-pause' };
      memory.pauses.remove(command.pauseId);
      tell({ kind: 'resumed', pauseId: command.pauseId, by: 'operator' });
      return done;
    case 'drain-slice':
      return drainSlice(command, out);
    case 'protect-slice': {
      const record = memory.slices.get(command.sliceId);
      if (record === undefined) return { kind: 'unknown-slice' };
      if (!isLive(record)) return { kind: 'too-late', status: record.status };
      memory.slices.put(record.id, { ...record, isProtected: command.isProtected });
      return done;
    }
    case 'change-control':
      changeControl(command.control, out);
      return done;
    default:
      return unreachable(command);
  }
}

/** An operator's word: also what is on its way goes, and work is given until the deadline. */
function drainSlice(
  command: Extract<Command, { kind: 'drain-slice' }>,
  out: CarryingOut,
): CommandAnswer {
  const record = out.memory.slices.get(command.sliceId);
  if (record === undefined) return { kind: 'unknown-slice' };
  const why = { kind: 'operator', author: command.author, reason: command.reason } as const;
  switch (record.status) {
    case 'queued':
    case 'requesting':
    case 'booting':
    case 'initializing':
      move(record, { event: 'cancelled', cause: { kind: 'cancelled', why } }, out);
      return done;
    case 'ready':
      startDrain(record, why, out);
      break;
    case 'draining':
      break; // now by an operator's word, with its deadline
    case 'terminating':
    case 'terminated':
    case 'failed':
      return { kind: 'too-late', status: record.status };
  }
  const draining = out.memory.slices.get(record.id);
  if (draining?.drain != null) {
    const deadlineMs = command.deadlineMs ?? draining.drain.deadlineMs;
    out.memory.slices.put(record.id, { ...draining, drain: { why, deadlineMs } });
  }
  return done;
}

/** A new configuration: groups that it drops stay as long as they have slices. */
export function changeControl(
  control: Control,
  { memory, tell }: { readonly memory: CarryingOut['memory']; tell: (event: FleetEvent) => void },
): void {
  const next = withRetired(control, memory.control, memory.slices.values());
  if (JSON.stringify(next) === JSON.stringify(memory.control)) return;
  const known = new Set(memory.control?.retired ?? []);
  for (const group of next.retired) {
    if (known.has(group)) continue;
    const live = [...memory.slices.values()].filter((each) => each.group === group && isLive(each));
    tell({ kind: 'group-removed', group, slices: live.length });
  }
  memory.control = next;
  tell({ kind: 'config-changed', groups: next.fleet.groups.length });
}

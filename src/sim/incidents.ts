import type { MachineTraits, ScenarioEvent } from '../config/scenario.ts';
import { type EpochMs, epochMs, type GroupName, type SliceId } from '../model/ids.ts';
import { unreachable } from '../support/assert.ts';
import { forkRandom } from '../support/random.ts';
import type { SimulatedFleet } from './fleet.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const NOTICE_MS = 120_000;
/** A command that no controller took is given again after this. */
const ASK_AGAIN_MS = 5_000;

/** An event that has come about. */
export interface Happening {
  readonly atMs: EpochMs;
  readonly event: ScenarioEvent;
  /** Slices or hosts that it hit; null where that means nothing. */
  readonly hit: number | null;
}

/** Lets the events of a scenario come about; `tell` hears of each when it does. */
export function startIncidents(
  fleet: SimulatedFleet,
  events: readonly ScenarioEvent[],
  tell: (happening: Happening) => void,
): void {
  for (const [index, event] of events.entries()) {
    fleet.clock.after(event.atMs, () => {
      const hit = bring(fleet, event, `event-${index}`);
      tell({ atMs: fleet.nowMs, event, hit });
    });
  }
}

function bring(fleet: SimulatedFleet, event: ScenarioEvent, id: string): number | null {
  switch (event.kind) {
    case 'stockout':
    case 'fail-boots':
      for (const cloud of fleet.clouds.values()) {
        const untilMs = epochMs(cloud.nowMs() + event.forMs);
        if (event.kind === 'stockout') cloud.levers.stockout(event.group, untilMs);
        else cloud.levers.failBoot(event.group, untilMs);
      }
      return null;
    case 'preempt':
      return preempt(fleet, event.group, event);
    case 'lose-hosts':
      return loseHosts(fleet, event.group, event.count);
    case 'hang':
    case 'throttle':
      for (const [name, cloud] of fleet.clouds) {
        if (event.provider !== null && event.provider !== name) continue;
        const untilMs = epochMs(cloud.nowMs() + event.forMs);
        if (event.kind === 'hang') cloud.levers.hang(untilMs);
        else cloud.levers.throttle(untilMs);
      }
      return null;
    case 'pause':
      void pause(fleet, event, id);
      return null;
    case 'config':
      fleet.changeControl(event.control);
      return null;
    case 'kill-controller':
      fleet.kill();
      return null;
    default:
      return unreachable(event);
  }
}

/** An operator whose command finds no controller gives it again. */
async function pause(
  fleet: SimulatedFleet,
  { what, group, forMs }: Extract<ScenarioEvent, { kind: 'pause' }>,
  id: string,
): Promise<void> {
  const [author, reason, sinceMs] = ['scenario', 'as the scenario says', fleet.nowMs];
  const untilMs = forMs === null ? null : epochMs(sinceMs + forMs);
  const command = { id, what, group, author, reason, sinceMs, untilMs };
  const answer = await fleet.command({ kind: 'pause', pause: command });
  if (answer !== null) return;
  const leftMs = untilMs === null ? null : untilMs - fleet.nowMs - ASK_AGAIN_MS;
  if (leftMs !== null && leftMs <= 0) return;
  const again = { atMs: 0, kind: 'pause', what, group, forMs: leftMs } as const;
  fleet.clock.after(ASK_AGAIN_MS, () => void pause(fleet, again, id));
}

/** Slices of a group that are there and not leaving, oldest first. */
function slicesOf(fleet: SimulatedFleet, group: GroupName): readonly SliceId[] {
  const ids = new Set<SliceId>();
  for (const cloud of fleet.clouds.values()) {
    for (const machine of cloud.truth.alive()) {
      if (machine.group === group && machine.state !== 'stopping') ids.add(machine.sliceId);
    }
  }
  return [...ids];
}

function preempt(
  fleet: SimulatedFleet,
  group: GroupName,
  { count, noticeMs }: { readonly count: number | null; readonly noticeMs: number },
): number {
  const ids = slicesOf(fleet, group).slice(0, count ?? Infinity);
  for (const id of ids) {
    for (const cloud of fleet.clouds.values()) cloud.levers.preempt(id, { noticeMs });
  }
  return ids.length;
}

function loseHosts(fleet: SimulatedFleet, group: GroupName, count: number): number {
  const ids = slicesOf(fleet, group).slice(0, count);
  for (const id of ids) {
    for (const cloud of fleet.clouds.values()) cloud.levers.killHost(id, 0);
  }
  return ids.length;
}

/**
 * Takes slices back by chance, each group at its own rate; looked at every minute. (The cloud's own
 * fault has one rate for all groups.)
 */
export function startPreemptions(
  fleet: SimulatedFleet,
  machines: readonly MachineTraits[],
  seed: number,
): void {
  for (const { group, preemptionsPerHour = 0, noticeMs = NOTICE_MS } of machines) {
    if (preemptionsPerHour === 0) continue;
    const random = forkRandom(seed, `preemptions of ${group}`);
    const ratio = 1 - Math.exp((-preemptionsPerHour * MINUTE_MS) / HOUR_MS);
    const look = (): void => {
      for (const id of slicesOf(fleet, group)) {
        if (random() >= ratio) continue;
        for (const cloud of fleet.clouds.values()) cloud.levers.preempt(id, { noticeMs });
      }
      fleet.clock.after(MINUTE_MS, look);
    };
    fleet.clock.after(MINUTE_MS, look);
  }
}

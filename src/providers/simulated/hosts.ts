import { epochMs } from '../../model/ids.ts';
import type { Agenda } from './agenda.ts';
import { type Inventory, type SimulatedMachine, stateOf } from './inventory.ts';
import { faultTimes, type Offer, pickMs } from './offer.ts';
import type { Weather } from './weather.ts';

/** What all parts of one cloud share. */
export interface World {
  readonly agenda: Agenda;
  readonly weather: Weather;
  readonly inventory: Inventory;
}

const HOUR_MS = 3_600_000;
/** No fate is planned beyond it: the timers of a real clock hold 24 days. */
const FATE_HORIZON_MS = 20 * 24 * HOUR_MS;

/** When something that happens so often happens for the first time. */
const waitMs = (perHour: number, random: number): number =>
  perHour <= 0 ? Number.POSITIVE_INFINITY : (-Math.log(1 - random) / perHour) * HOUR_MS;

function later(world: World, machine: SimulatedMachine, delayMs: number, act: () => void): void {
  if (delayMs <= FATE_HORIZON_MS) machine.alarms.push(world.agenda.after(delayMs, act));
}

/** Sets out a new host's way: up, bootstrapped, perhaps failing on it or later. */
export function startHost(
  world: World,
  machine: SimulatedMachine,
  { offer, fate }: { readonly offer: Offer; readonly fate: string },
): void {
  const { agenda, weather, inventory } = world;
  const startMs = pickMs(offer.start, weather.fate(`start/${fate}`));
  const bootstrapMs = pickMs(offer.bootstrap, weather.fate(`bootstrap/${fate}`));
  const isFailing =
    weather.doBootsFail(offer.group, agenda.nowMs()) ||
    weather.isFated('boot-failed', weather.faults.bootFailedRatio, fate);
  // Stuck before it is up, stuck after it, or dead on the way.
  const stage = isFailing ? Math.floor(weather.fate(`boot-failed-at/${fate}`) * 3) : null;
  if (isFailing) weather.count('boot-failed');

  if (stage !== 0) {
    later(world, machine, startMs, () => {
      if (stage === 2) inventory.end(machine, 'gone', agenda.nowMs());
      else inventory.move(machine, 'running', agenda.nowMs());
    });
  }
  if (stage === null) {
    later(world, machine, startMs + bootstrapMs, () => {
      inventory.move(machine, 'ready', agenda.nowMs());
    });
  }
  later(
    world,
    machine,
    waitMs(weather.faults.failuresPerHour, weather.fate(`failure/${fate}`)),
    () => {
      if (!weather.isQuiet) failHost(world, machine, fate);
    },
  );
}

/** Gone on its own, without notice; half of them are never said to be gone. */
export function failHost(world: World, machine: SimulatedMachine, fate: string): void {
  const { agenda, weather, inventory } = world;
  weather.count('host-failed');
  const how = weather.fate(`vanish/${fate}`) < 0.5 ? 'vanished' : 'gone';
  inventory.end(machine, how, agenda.nowMs());
}

/** A host of a partial slice that comes, and does not stay. */
export function dieYoung(world: World, machine: SimulatedMachine, fate: string): void {
  const { agenda, weather, inventory } = world;
  later(world, machine, pickMs(faultTimes.earlyDeath, weather.fate(`early-death/${fate}`)), () => {
    inventory.end(machine, 'gone', agenda.nowMs());
  });
}

/** Plans when the provider takes a slice back: all its hosts, or one of them. */
export function planPreemption(
  world: World,
  hosts: readonly SimulatedMachine[],
  { offer, fate }: { readonly offer: Offer; readonly fate: string },
): void {
  const { weather } = world;
  const { preemptionsPerHour, preemptedWithoutNoticeRatio } = weather.faults;
  const [first] = hosts;
  if (first === undefined) return;
  later(world, first, waitMs(preemptionsPerHour, weather.fate(`preempted/${fate}`)), () => {
    if (weather.isQuiet) return;
    const isWhole = weather.fate(`preempted-whole/${fate}`) < 0.5;
    const isSudden = weather.fate(`preempted-suddenly/${fate}`) < preemptedWithoutNoticeRatio;
    preempt(world, isWhole ? hosts : [first], isSudden ? 0 : offer.noticeMs);
  });
}

/** Announces the end of these hosts, and ends them then; at once when no notice is given. */
export function preempt(
  world: World,
  hosts: readonly SimulatedMachine[],
  noticeMs: number,
): number {
  const { agenda, weather, inventory } = world;
  const nowMs = agenda.nowMs();
  const taken = hosts.filter((host) => inventory.alive.has(host) && stateOf(host) !== 'stopping');
  if (taken.length > 0) weather.count(noticeMs > 0 ? 'preempted' : 'preempted-without-notice');
  for (const host of taken) {
    if (noticeMs <= 0) inventory.end(host, 'gone', nowMs);
    else {
      inventory.announce(host, epochMs(nowMs + noticeMs), nowMs);
      later(world, host, noticeMs, () => inventory.end(host, 'gone', agenda.nowMs()));
    }
  }
  return taken.length;
}

/** Stops a host; one that is stopping already goes on at its own pace. */
export function stopHost(world: World, machine: SimulatedMachine, stopMs: number): void {
  const { agenda, inventory } = world;
  if (!inventory.alive.has(machine) || stateOf(machine) === 'stopping') return;
  for (const alarm of machine.alarms.splice(0)) alarm.cancel();
  inventory.move(machine, 'stopping', agenda.nowMs());
  later(world, machine, stopMs, () => inventory.end(machine, 'gone', agenda.nowMs()));
}

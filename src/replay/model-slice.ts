import type { Control } from '../model/control.ts';
import type { Group } from '../model/group.ts';
import type { EpochMs } from '../model/ids.ts';
import type { Resources } from '../model/resources.ts';
import { onItsWay } from '../model/slice.ts';
import type { TrackedSlice } from '../model/slice-record.ts';
import type { PlanStep } from '../model/tick.ts';
import { must } from '../support/assert.ts';
import type { WorldTimes } from './times.ts';
import type { WorldClock } from './world.ts';

/** A slice of a model, and what will become of it. */
export interface ModelSlice {
  slice: TrackedSlice;
  /** What a host of it offers: that of its group when it was launched. */
  readonly host: Resources;
  machinesAtMs: number;
  readyAtMs: number;
  goneAtMs: number;
  /** Its launch met a recorded refusal. */
  isRefused: boolean;
}

/** One tick of a model. */
export interface At {
  readonly atMs: EpochMs;
  readonly control: Control;
  readonly groups: ReadonlyMap<string, Group>;
}

/** A slice of the first recorded tick, at the price of the configuration that is tried. */
export function adoptSlice(
  slice: TrackedSlice,
  first: { readonly atMs: EpochMs; readonly control: Control; readonly given: Control | null },
  { times, clock }: { readonly times: WorldTimes; readonly clock: WorldClock },
): ModelSlice {
  const { id, group: name, requestedAtMs, status } = slice;
  const { atMs } = first;
  const groupIn = (control: Control | null): Group | undefined =>
    control?.fleet.groups.find((group) => group.name === name);
  const was = groupIn(first.control);
  const price = (groupIn(first.given) ?? was)?.priceMicroUsdPerHour;
  const readyAtMs = (): number =>
    times.readyAtMs.get(id) ?? (requestedAtMs ?? atMs) + clock.launch(name).readyMs;
  const goneAtMs = (): number => times.goneAtMs.get(id) ?? atMs + clock.releaseMs(name);
  return {
    slice: { ...slice, priceMicroUsdPerHour: price ?? slice.priceMicroUsdPerHour },
    host: was?.host ?? {},
    machinesAtMs: atMs,
    readyAtMs: onItsWay.has(status) ? readyAtMs() : -Infinity,
    goneAtMs: status === 'terminating' ? goneAtMs() : Infinity,
    isRefused: false,
  };
}

/** A slice that a tick of the model plans. */
export function createSlice(
  step: Extract<PlanStep, { kind: 'launch' }>,
  { atMs, control, groups }: At,
): ModelSlice {
  const group = must(groups.get(step.group), 'a known group');
  const own = control.groups.find(({ group: name }) => name === step.group);
  const slice: TrackedSlice = {
    id: step.sliceId,
    group: group.name,
    provider: group.provider,
    hostCount: group.hostsPerSlice,
    status: 'queued',
    statusSinceMs: atMs,
    reservedFor: step.reservedFor,
    reservedSinceMs: step.reservedFor === null ? null : atMs,
    priceMicroUsdPerHour: group.priceMicroUsdPerHour,
    shape: must(own, 'a known group').shape,
    fallbackFor: step.fallbackFor,
    machines: [],
    requestedAtMs: null,
    readyAtMs: null,
    idleSinceMs: null,
    isReported: false,
    isProtected: false,
    drain: null,
    hosts: Array.from({ length: group.hostsPerSlice }, () => ({ free: null, isBusy: null })),
  };
  const never = { machinesAtMs: Infinity, readyAtMs: Infinity, goneAtMs: Infinity };
  return { slice, host: group.host, ...never, isRefused: false };
}

/** What is left of a host. */
export function freeOf(host: Resources, used: Resources | null): Record<string, number> {
  const free: Record<string, number> = { ...host };
  for (const name in used) free[name] = Math.max(0, (free[name] ?? 0) - (used[name] ?? 0));
  return free;
}

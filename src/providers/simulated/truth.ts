import type { EpochMs, GroupName, MachineId, SliceId } from '../../model/ids.ts';
import type { MachineState } from '../../model/machine.ts';
import { type Inventory, type SimulatedMachine, stateOf } from './inventory.ts';
import type { Offer } from './offer.ts';

/** A machine as it really is or was. */
export interface MachineTruth {
  readonly machineId: MachineId;
  readonly sliceId: SliceId;
  readonly group: GroupName;
  readonly hostIndex: number;
  /** Whose tag it carries; null for a machine of nobody we know. */
  readonly fleet: string | null;
  readonly state: MachineState;
  /** When it was allocated and when it was gone; null while it is alive. Both cost money between. */
  readonly fromMs: EpochMs;
  readonly toMs: EpochMs | null;
  readonly interruptionAtMs: EpochMs | null;
}

/** What a group has cost so far. */
export interface Bill {
  readonly machineSeconds: number;
  /** Machine seconds by hosts per slice: half a slice costs half. */
  readonly sliceSeconds: number;
  readonly costMicroUsd: number;
}

export const toTruth = (machine: SimulatedMachine): MachineTruth => ({
  machineId: machine.machineId,
  sliceId: machine.sliceId,
  group: machine.group,
  hostIndex: machine.hostIndex,
  fleet: machine.fleet,
  state: stateOf(machine),
  fromMs: machine.fromMs,
  toMs: machine.toMs,
  interruptionAtMs: machine.moments.at(-1)?.interruptionAtMs ?? null,
});

/** Our machines alive now, by group; groups without any are left out. */
export function countAlive(inventory: Inventory, fleet: string): ReadonlyMap<GroupName, number> {
  const counts = new Map<GroupName, number>();
  for (const machine of inventory.alive) {
    if (machine.fleet !== fleet) continue;
    counts.set(machine.group, (counts.get(machine.group) ?? 0) + 1);
  }
  return counts;
}

/** What the fleet's machines have cost until now, by group. */
export function billOf(
  machines: readonly SimulatedMachine[],
  ask: { readonly fleet: string; readonly offers: readonly Offer[]; readonly nowMs: EpochMs },
): ReadonlyMap<GroupName, Bill> {
  const priceOf = new Map(ask.offers.map((offer) => [offer.group, offer.priceMicroUsdPerHour]));
  const bills = new Map<GroupName, Bill>();
  for (const { group, fleet, fromMs, toMs, hostCount } of machines) {
    if (fleet !== ask.fleet) continue;
    const bill = bills.get(group) ?? { machineSeconds: 0, sliceSeconds: 0, costMicroUsd: 0 };
    const seconds = ((toMs ?? ask.nowMs) - fromMs) / 1_000;
    bills.set(group, {
      machineSeconds: bill.machineSeconds + seconds,
      sliceSeconds: bill.sliceSeconds + seconds / hostCount,
      costMicroUsd: bill.costMicroUsd + ((seconds / hostCount) * (priceOf.get(group) ?? 0)) / 3_600,
    });
  }
  return bills;
}

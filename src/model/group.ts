import type { GroupName } from './ids.ts';
import type { Resources } from './resources.ts';

/** `type` is an open word (cpu, gpu, tpu, npu, ...); `cpu` means no accelerator. */
export interface Device {
  readonly type: string;
  readonly variant: string | null;
}

/** One machine shape in one place at one provider, scaled in slices. */
export interface Group {
  readonly name: GroupName;
  readonly provider: string;
  readonly device: Device;
  /** What one host offers to work. */
  readonly host: Resources;
  readonly hostsPerSlice: number;
  /** Floor on slices. */
  readonly min: number;
  /** Ready idle slices kept free beyond demand. */
  readonly spare: number;
  readonly max: number;
  /** Rank among groups: lower is tried first. Under the cost strategy it only breaks ties. */
  readonly priority: number;
  /** Of a slice. Null where no price is known: then the cost strategy refuses the config. */
  readonly priceMicroUsdPerHour: number | null;
  readonly preemptible: boolean;
  readonly attributes: Readonly<Record<string, string>>;
  readonly quotaPool: string | null;
}

/** A group's rank when its config names none. */
export const GROUP_PRIORITY_DEFAULT = 100;

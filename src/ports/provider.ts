import type { Bootstrap } from '../model/bootstrap.ts';
import type { GroupName, MachineId, SliceId } from '../model/ids.ts';
import type { Machine } from '../model/machine.ts';
import type { Refusal } from '../model/refusal.ts';
import type { Resources } from '../model/resources.ts';

/**
 * What the controller may ask of a cloud; one for each provider and fleet. Every adapter passes
 * test/contract/provider.ts. Calls may be slow, fail, or be answered late; they reject with a
 * ProviderError. What a call did is believed only when a list shows it.
 */
export interface Provider {
  /**
   * How far a list may lag behind the truth. A machine is taken for lost, and a released slice for
   * gone, only when lists that began later than this after the fact do not show it.
   */
  readonly listLagMs: number;
  /**
   * One outcome per request, in its order; one that is missing counts as unanswered. Idempotent by `sliceId`, which is sent as idempotency
   * token or deterministic name: after a crash we ask again. Also asked again while nothing has come
   * of an accepted launch: a cloud that queues then says how the request stands, and a request that
   * has failed meanwhile is refused.
   */
  launch(batch: readonly LaunchRequest[], signal: AbortSignal): Promise<readonly LaunchOutcome[]>;
  /**
   * Releases all machines of these slices and all that their launches may still yield. By slice, so
   * that it works before a machine is known. Resolves once accepted; gone already is success.
   */
  terminate(sliceIds: readonly SliceId[], signal: AbortSignal): Promise<void>;
  /**
   * Every machine that carries our fleet's tag, also those nobody remembers; never any other. A list
   * is not changed once it was given; the same one may be given again.
   */
  list(signal: AbortSignal): Promise<readonly Machine[]>;
  /** Lets go of connections. What runs, runs on. */
  close(): Promise<void>;
}

/** One slice to be had: all its hosts, or none. */
export interface LaunchRequest {
  readonly sliceId: SliceId;
  readonly group: GroupName;
  readonly hostCount: number;
  readonly host: Resources;
  readonly device: { readonly type: string; readonly variant: string | null };
  readonly preemptible: boolean;
  readonly attributes: Readonly<Record<string, string>>;
  /** The group's `launch`: the provider's own words for a machine. */
  readonly launch: Readonly<Record<string, string>>;
  /** What is run on each host before it is `ready`; null: it is as soon as it is up. */
  readonly bootstrap: Bootstrap | null;
}

export type LaunchOutcome =
  /** `machineIds` may be empty or partial where the provider queues: they will be listed. */
  | {
      readonly kind: 'accepted';
      readonly sliceId: SliceId;
      readonly machineIds: readonly MachineId[];
    }
  /** Certain: no machine of this slice exists or will. What is not certain is a ProviderError. */
  | { readonly kind: 'refused'; readonly sliceId: SliceId; readonly refusal: Refusal };

/** The environment's fault: nobody knows what the call did. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly kind: 'timeout' | 'unreachable' | 'throttled' | 'denied' | 'garbage';
  constructor(kind: ProviderError['kind'], message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }
}

import type { LaunchRequest } from '../../ports/provider.ts';
import { type Resources, resourceUnit } from '../../model/resources.ts';

/** Named in every call, so that a program can tell when it is asked in words it does not know. */
export const FORMAT = 'bellows-external/1';

export type CallName = 'list' | 'launch' | 'terminate';

export type Call =
  | { readonly call: 'list' }
  | { readonly call: 'launch'; readonly requests: readonly WireRequest[] }
  | { readonly call: 'terminate'; readonly sliceIds: readonly string[] };

/** A launch as the program reads it: the words of the model, amounts as people write them. */
export interface WireRequest extends Omit<LaunchRequest, 'bootstrap'> {
  readonly bootstrap: WireBootstrap | null;
}

interface WireBootstrap {
  readonly script: string;
  /** The secret itself: only the program's standard input ever carries it. */
  readonly joinToken: string | null;
  readonly attemptsMax: number;
  readonly timeoutMs: number;
}

/** The one document on the program's standard input. */
export function toInput(fleet: string, { call, ...rest }: Call): string {
  return `${JSON.stringify({ format: FORMAT, call, fleet, ...rest })}\n`;
}

/** `joinToken` is the secret that the bootstrap's name stands for, null when it has none. */
export function toWireRequest(request: LaunchRequest, joinToken: string | null): WireRequest {
  const { bootstrap } = request;
  return {
    sliceId: request.sliceId,
    group: request.group,
    hostCount: request.hostCount,
    host: toAmounts(request.host),
    device: request.device,
    preemptible: request.preemptible,
    attributes: request.attributes,
    launch: request.launch,
    bootstrap:
      bootstrap === null
        ? null
        : {
            script: bootstrap.script,
            joinToken,
            attemptsMax: bootstrap.attemptsMax,
            timeoutMs: bootstrap.timeoutMs,
          },
  };
}

/** Bytes for memory and disk, whole units and thousandths of them (cores, devices) for the rest. */
function toAmounts(resources: Resources): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(resources).map(([name, quantity]) => [
      name,
      resourceUnit(name) === 'bytes' ? quantity : quantity / 1_000,
    ]),
  );
}

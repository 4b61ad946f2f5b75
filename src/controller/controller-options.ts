import type { Control } from '../model/control.ts';
import type { TimedEvent } from '../model/event.ts';
import type { TickInput, TickOutput } from '../model/tick.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Provider } from '../ports/provider.ts';
import type { Store } from '../ports/store.ts';

/** What a controller is given. */
export interface ControllerOptions {
  readonly store: Store;
  /** By the name that groups use. */
  readonly providers: ReadonlyMap<string, Provider>;
  readonly clock: Clock;
  readonly log: Log;
  readonly control: Control;
  /** Names this process to people. */
  readonly holder: string;
  /** How long the right to act lasts without being renewed; longer than any call. */
  readonly leaseTtlMs?: number;
  /** Called when the controller cannot go on: a bug, or a store that must not be used. */
  readonly onCrash: (error: unknown) => void;
  /** Called with every tick that was recorded. */
  readonly onTick?: (input: TickInput, output: TickOutput) => void;
  /** Called with events that were recorded; the first has this number, the others follow. */
  readonly onEvents?: (events: readonly TimedEvent[], firstSeq: number) => void;
}

/** Whether this controller acts: another one may, or it has not looked round yet. */
export type Standing =
  | { readonly kind: 'leading' }
  | { readonly kind: 'following' }
  | { readonly kind: 'starting'; readonly awaited: readonly string[] };

/** What it knows is not in memory yet, or must be read anew. */
export const readingStore: Standing = { kind: 'starting', awaited: ['the store'] };

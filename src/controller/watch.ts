import type { Control } from '../model/control.ts';
import type { FleetEvent } from '../model/event.ts';
import type { EpochMs, SliceId } from '../model/ids.ts';
import { isLive, type SliceRecord } from '../model/slice-record.ts';
import { onItsWay } from '../model/slice.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Reach } from './lanes.ts';
import { checkListing } from './listing.ts';
import type { Table } from './memory.ts';
import type { Sights } from './sights.ts';

/** While something is coming or going, lists are asked for at least this often. */
const BUSY_INTERVAL_MS = 5_000;
const LEAST_INTERVAL_MS = 1_000;
/** Lists that fail in a row come half as often each time, down to this: a throttled account recovers. */
const FAILING_INTERVAL_MAX_MS = 60_000;
/** Our time may run a tenth faster than the provider's while it follows a clock that was set. */
const LAG_MARGIN = 1.2;

interface WatchOptions {
  readonly clock: Clock;
  readonly reaches: ReadonlyMap<string, Reach>;
  /** As it is in force: how often lists are asked for may change. */
  readonly control: () => Control;
  readonly log: Log;
}

/** Lists what every provider has, each at its own pace: one that hangs delays no other. */
export class Watch {
  readonly #options: WatchOptions;
  readonly #timers = new Map<string, { cancel(): void }>();
  readonly lags: ReadonlyMap<string, number>;
  readonly #events: FleetEvent[] = [];
  /** Lists that failed in a row, by provider. */
  readonly #failures = new Map<string, number>();
  #life = 0;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.lags = new Map(
      [...options.reaches].map(([name, { provider }]) => [
        name,
        Math.ceil(provider.listLagMs * LAG_MARGIN),
      ]),
    );
  }

  /** Watches for one leader's term; what an earlier term still awaits is ignored. */
  start(watching: Watching): void {
    this.stop();
    for (const reach of this.#options.reaches.values()) this.#list(reach, watching, this.#life);
  }

  /** What happened since this was last asked. */
  takeEvents(): readonly FleetEvent[] {
    return this.#events.splice(0);
  }

  stop(): void {
    this.#life++;
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  #list(reach: Reach, watching: Watching, life: number): void {
    const { now } = watching;
    if (life !== this.#life) return;
    const startedMs = now();
    const intervalMs = (): number => this.#intervalMs(reach.name, watching.isBusy(reach.name));
    const again = (): void => {
      if (life !== this.#life) return;
      const leftMs = startedMs + intervalMs() - now();
      // Never asleep for longer than the busy interval: what begins to move meanwhile is looked for.
      const delayMs = Math.max(0, Math.min(leftMs, this.#busyIntervalMs));
      const timer = this.#options.clock.after(delayMs, () => {
        if (now() - startedMs >= intervalMs()) this.#list(reach, watching, life);
        else again();
      });
      this.#timers.set(reach.name, timer);
    };
    if (reach.lists.free === 0) {
      again();
      return;
    }
    reach.lists.run(
      (signal) => reach.provider.list(signal),
      (outcome) => {
        if (life !== this.#life) return;
        this.#takeIn(reach, outcome, { ...watching, startedMs });
        again();
      },
    );
  }

  #takeIn(
    { name }: Reach,
    outcome: { kind: 'done'; value: unknown } | { kind: 'failed'; error: Error },
    { sights, recordOf, now, onList, startedMs }: Watching & { readonly startedMs: EpochMs },
  ): void {
    const { log } = this.#options;
    const listing = outcome.kind === 'done' ? checkListing(outcome.value) : null;
    if (listing === null) {
      const words = outcome.kind === 'failed' ? outcome.error.message : 'not a list';
      if (sights.silentSinceMs(name) === null) {
        this.#events.push({ kind: 'provider-silent', provider: name, detail: words });
      }
      sights.listFailed(name, now());
      this.#failures.set(name, (this.#failures.get(name) ?? 0) + 1);
      return;
    }
    this.#failures.delete(name);
    if (listing.dropped > 0) {
      this.#events.push({ kind: 'garbage-dropped', provider: name, count: listing.dropped });
    }
    if (sights.silentSinceMs(name) !== null) {
      this.#events.push({ kind: 'provider-back', provider: name });
    }
    const isLeaving = (id: SliceId): boolean => {
      const record = recordOf(id);
      return record === undefined || !isLive(record) || record.status === 'terminating';
    };
    const { machines } = listing;
    if (!sights.list(name, { startedMs, machines }, isLeaving)) {
      log.write('warn', 'list-held-back', { provider: name, machines: machines.length });
    }
    onList();
  }

  get #busyIntervalMs(): number {
    const { evaluationIntervalMs } = this.#options.control();
    return Math.max(LEAST_INTERVAL_MS, Math.min(BUSY_INTERVAL_MS, evaluationIntervalMs));
  }

  #intervalMs(name: string, isBusy: boolean): number {
    const { reconcileIntervalMs } = this.#options.control();
    const usualMs = isBusy ? this.#busyIntervalMs : reconcileIntervalMs;
    const failures = this.#failures.get(name) ?? 0;
    const failingMs = Math.min(FAILING_INTERVAL_MAX_MS, usualMs * 2 ** Math.min(20, failures - 1));
    return failures === 0 ? usualMs : Math.max(usualMs, failingMs);
  }
}

/** What the watch writes into, and what it may look at. */
export interface Watching {
  readonly sights: Sights;
  readonly recordOf: (id: SliceId) => SliceRecord | undefined;
  readonly now: () => EpochMs;
  readonly isBusy: (provider: string) => boolean;
  readonly onList: () => void;
}

/** Whether lists are awaited for a slice. */
const isMoving = (record: SliceRecord): boolean =>
  record.status !== 'ready' && (onItsWay.has(record.status) || record.status === 'terminating');

/** Whether something of a provider is coming or going. Looked up anew only when a slice has changed. */
export function createMovingCheck(
  slices: () => Pick<Table<SliceRecord>, 'version' | 'values'>,
): (provider: string) => boolean {
  let known: {
    readonly table: unknown;
    readonly version: number;
    readonly moving: ReadonlySet<string>;
  } | null = null;
  return (provider) => {
    const table = slices();
    const { version } = table;
    if (known?.table !== table || known.version !== version) {
      const moving = new Set<string>();
      for (const record of table.values()) if (isMoving(record)) moving.add(record.provider);
      known = { table, version, moving };
    }
    return known.moving.has(provider);
  };
}

import { create } from '@bufbuild/protobuf';
import type { Duration } from '@bufbuild/protobuf/wkt';
import {
  type WatchStatusResponse,
  WatchStatusResponseSchema,
} from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ServedFleet } from '../served-fleet.ts';
import { invalid } from './paging.ts';

const INTERVAL_MS = { min: 100, max: 60_000, usual: 1_000 };
/** A stream on which nothing happens says so often that it is alive. */
const HEARTBEAT_MS = 15_000;

/** How often at most, in milliseconds. */
export function intervalOf(asked: Duration | undefined): number {
  if (asked === undefined) return INTERVAL_MS.usual;
  const ms = Number(asked.seconds) * 1_000 + asked.nanos / 1_000_000;
  if (ms >= INTERVAL_MS.min && ms <= INTERVAL_MS.max) return ms;
  throw invalid(`interval is ${ms / 1_000}s; it may be from 0.1s to 60s`);
}

export interface Watching {
  /** The status as it is now. */
  readonly message: () => WatchStatusResponse;
  readonly clock: Clock;
  readonly intervalMs: number;
  /** Of the request: it ends, or the server does. */
  readonly signal: AbortSignal;
}

/**
 * The status now, and after every change; of changes that come faster than the interval, or than the
 * reader reads, the last. Nothing is made before it is about to be sent.
 */
export async function* watchStatus(
  { controller, feed }: Pick<ServedFleet, 'controller' | 'feed'>,
  { message, clock, intervalMs, signal }: Watching,
): AsyncGenerator<WatchStatusResponse> {
  const wait = new Wait(clock, signal);
  const unwatch = feed.watch(() => wait.wake());
  try {
    while (!signal.aborted) {
      const version = feed.version;
      const standing = controller.standing.kind;
      yield message();
      // Measured from when the reader took it: one that is slow gets less, not more at a time.
      const sentMs = clock.monotonicMs();
      const isNew = (): boolean =>
        feed.version !== version || controller.standing.kind !== standing;
      let beatMs = sentMs + HEARTBEAT_MS;
      while (!signal.aborted) {
        const nowMs = clock.monotonicMs();
        const isDue = isNew() && nowMs >= sentMs + intervalMs;
        if (isDue) break;
        if (nowMs >= beatMs) {
          yield create(WatchStatusResponseSchema, {});
          beatMs = clock.monotonicMs() + HEARTBEAT_MS;
          continue;
        }
        const untilMs = isNew() ? Math.min(beatMs, sentMs + intervalMs) : beatMs;
        await wait.for(untilMs - nowMs);
      }
    }
  } finally {
    unwatch();
    wait.end();
  }
}

/** Sleeps until a time is over, something rings, or the request ends. */
class Wait {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => this.wake();
  #wake: (() => void) | null = null;

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort);
  }

  wake(): void {
    this.#wake?.();
  }

  async for(delayMs: number): Promise<void> {
    if (this.#signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.after(Math.max(0, delayMs), resolve);
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#wake = null;
  }

  end(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

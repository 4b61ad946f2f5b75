import type { ProviderControl } from '../model/control.ts';
import type { Clock } from '../ports/clock.ts';
import { type Provider, ProviderError } from '../ports/provider.ts';

/** For a provider that the configuration does not name. */
const CALL_TIMEOUT_MS = 60_000;
const CALLS_MAX = 8;

/** Runs calls beside the loop: so many at a time, each with a deadline that ends it. */
export class Lane {
  readonly #clock: Clock;
  readonly #widthMax: number;
  readonly #deadlineMs: number;
  readonly #abort = new Set<AbortController>();

  constructor(clock: Clock, options: { readonly widthMax: number; readonly deadlineMs: number }) {
    this.#clock = clock;
    this.#widthMax = options.widthMax;
    this.#deadlineMs = options.deadlineMs;
  }

  get free(): number {
    return this.#widthMax - this.#abort.size;
  }

  get inFlight(): number {
    return this.#abort.size;
  }

  /**
   * Starts a call. `settle` gets its value or its error, once, at the deadline at the latest: a call
   * that ignores its signal is left behind, and what it did will be seen in a list.
   */
  run<T>(call: (signal: AbortSignal) => Promise<T>, settle: (outcome: Outcome<T>) => void): void {
    const abort = new AbortController();
    this.#abort.add(abort);
    let isSettled = false;
    const finish = (outcome: Outcome<T>): void => {
      if (isSettled) return;
      isSettled = true;
      timer.cancel();
      this.#abort.delete(abort);
      settle(outcome);
    };
    const timer = this.#clock.after(this.#deadlineMs, () => {
      abort.abort();
      const words = `no answer within ${this.#deadlineMs} ms`;
      finish({ kind: 'failed', error: new ProviderError('timeout', words) });
    });
    // A provider may also throw before it returns a promise.
    new Promise<T>((resolve) => resolve(call(abort.signal))).then(
      (value) => finish({ kind: 'done', value }),
      (error: unknown) => finish({ kind: 'failed', error: toProviderError(error) }),
    );
  }

  /** Ends all calls in flight. */
  abortAll(): void {
    for (const abort of this.#abort) abort.abort();
  }
}

export type Outcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: ProviderError };

function toProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const words = error instanceof Error ? error.message : String(error);
  return new ProviderError('garbage', `the provider failed: ${words}`, { cause: error });
}

/** A provider with the lanes its calls run in: a hanging launch holds up no list and no release. */
export interface Reach {
  readonly name: string;
  readonly provider: Provider;
  readonly lists: Lane;
  readonly launches: Lane;
  readonly releases: Lane;
}

/** Between two looks at calls that are waited for. */
const LOOK_MS = 20;

/** Waits for launches and releases in flight, so long at most; then ends all calls. */
export async function finishCalls(
  reaches: Iterable<Reach>,
  clock: Clock,
  graceMs: number,
): Promise<void> {
  const all = [...reaches];
  const endMs = clock.monotonicMs() + graceMs;
  const isCalling = (): boolean =>
    all.some(({ launches, releases }) => launches.inFlight + releases.inFlight > 0);
  while (isCalling() && clock.monotonicMs() < endMs) {
    await new Promise<void>((resolve) => clock.after(LOOK_MS, resolve));
  }
  for (const { lists, launches, releases } of all) {
    for (const lane of [lists, launches, releases]) lane.abortAll();
  }
}

/** Lanes for every provider; lists have one of their own, so that they are never crowded out. */
export function openReaches(
  {
    providers,
    clock,
  }: { readonly providers: ReadonlyMap<string, Provider>; readonly clock: Clock },
  controls: readonly ProviderControl[],
): ReadonlyMap<string, Reach> {
  return new Map(
    [...providers].map(([name, provider]) => {
      const own = controls.find((one) => one.name === name);
      const deadlineMs = own?.callTimeoutMs ?? CALL_TIMEOUT_MS;
      const lane = (widthMax: number): Lane => new Lane(clock, { widthMax, deadlineMs });
      const width = own?.concurrentCalls ?? CALLS_MAX;
      const lanes = { lists: lane(1), launches: lane(width), releases: lane(width) };
      return [name, { name, provider, ...lanes }];
    }),
  );
}

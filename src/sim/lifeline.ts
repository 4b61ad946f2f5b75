import type { Clock } from '../ports/clock.ts';
import type { Provider } from '../ports/provider.ts';
import { type Store, StoreError } from '../ports/store.ts';

/** What may go wrong between a controller and its store, or with the controller itself; 0 is never. */
export interface ProcessFaults {
  /** Per await on a port: the process dies there, before or after the call took effect. */
  readonly crashRatio: number;
  /** Per store call: fails, nothing happened. */
  readonly storeFailedRatio: number;
  /** Per commit: the answer is lost; it may have happened. */
  readonly storeDoubtfulRatio: number;
  /** Per store call: slow by up to `storeSlowMs`. */
  readonly storeSlowRatio: number;
  readonly storeSlowMs: number;
}

export const noProcessFaults: ProcessFaults = {
  crashRatio: 0,
  storeFailedRatio: 0,
  storeDoubtfulRatio: 0,
  storeSlowRatio: 0,
  storeSlowMs: 0,
};

export interface LifelineOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly faults: () => ProcessFaults;
  /** Told once, when the process dies. */
  readonly onDeath: () => void;
  readonly onFault: (kind: string) => void;
}

/**
 * A process that can die or be stopped for a while at any await. Everything a controller gets from
 * outside comes through here: once it is dead no promise of its settles and no timer of its fires,
 * which is what kill -9 looks like from the inside.
 */
export class Lifeline {
  readonly #options: LifelineOptions;
  #isDead = false;
  #frozenUntilMs = 0;

  constructor(options: LifelineOptions) {
    this.#options = options;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  kill(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.#options.onDeath();
  }

  /** Stops the process for a while, as a suspended machine or a long collection does. */
  freeze(forMs: number): void {
    this.#frozenUntilMs = this.#options.clock.monotonicMs() + forMs;
  }

  clock(): Clock {
    const { clock } = this.#options;
    return {
      wallMs: () => clock.wallMs(),
      monotonicMs: () => clock.monotonicMs(),
      after: (delayMs, callback) => {
        let timer: { cancel(): void };
        const fire = (): void => {
          if (this.#isDead) return;
          const leftMs = this.#frozenUntilMs - clock.monotonicMs();
          if (leftMs > 0) timer = clock.after(leftMs, fire);
          else callback();
        };
        timer = clock.after(delayMs, fire);
        return { cancel: () => timer.cancel() };
      },
    };
  }

  provider(inner: Provider): Provider {
    return {
      listLagMs: inner.listLagMs,
      launch: (batch, signal) => this.#through('launch', () => inner.launch(batch, signal)),
      terminate: (ids, signal) => this.#through('terminate', () => inner.terminate(ids, signal)),
      list: (signal) => this.#through('list', () => inner.list(signal)),
      close: () => inner.close(),
    };
  }

  store(inner: Store): Store {
    return {
      acquireLease: (ask) => this.#stored('lease', () => inner.acquireLease(ask)),
      releaseLease: (epoch) => this.#stored('release', () => inner.releaseLease(epoch)),
      load: () => this.#stored('load', () => inner.load()),
      commit: (commit) => this.#stored('commit', () => inner.commit(commit)),
      readTicks: (ask) => inner.readTicks(ask),
      readParts: (hashes) => inner.readParts(hashes),
      readEvents: (ask) => inner.readEvents(ask),
      close: () => inner.close(),
    };
  }

  async #stored<T>(what: string, call: () => Promise<T>): Promise<T> {
    const { random, faults, onFault, clock } = this.#options;
    const { storeFailedRatio, storeDoubtfulRatio, storeSlowRatio, storeSlowMs } = faults();
    if (random() < storeSlowRatio) {
      onFault('store-slow');
      const waitMs = random() * storeSlowMs;
      await new Promise<void>((resolve) => {
        clock.after(waitMs, resolve);
      });
    }
    if (random() < storeFailedRatio) {
      onFault('store-failed');
      throw new StoreError('unavailable', 'the store does not answer');
    }
    if (what === 'commit' && random() < storeDoubtfulRatio) {
      onFault('store-doubtful');
      if (random() < 0.5) await call();
      throw new StoreError('unknown-outcome', 'the answer of the store was lost');
    }
    return this.#through(what, call);
  }

  async #through<T>(what: string, call: () => Promise<T>): Promise<T> {
    const { random, faults, onFault } = this.#options;
    if (this.#isDead) return never();
    const isFatal = random() < faults().crashRatio;
    const isBefore = random() < 0.5;
    if (isFatal) onFault(`crash-${isBefore ? 'before' : 'after'}-${what}`);
    if (isFatal && isBefore) {
      this.kill();
      return never();
    }
    try {
      const value = await call();
      if (isFatal) this.kill();
      return await this.#deliver(() => value);
    } catch (error) {
      if (isFatal) this.kill();
      return this.#deliver(() => {
        throw error;
      });
    }
  }

  /** Hands a result over, when there is still somebody to take it and not before it is awake. */
  async #deliver<T>(give: () => T): Promise<T> {
    const { clock } = this.#options;
    for (;;) {
      if (this.#isDead) return never();
      const leftMs = this.#frozenUntilMs - clock.monotonicMs();
      if (leftMs <= 0) return give();
      await new Promise<void>((resolve) => {
        clock.after(leftMs, resolve);
      });
    }
  }
}

const never = <T>(): Promise<T> => new Promise<T>(() => {});

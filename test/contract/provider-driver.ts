import { expect, onTestFinished } from 'vitest';
import type { SliceId } from '../../src/model/ids.ts';
import type { Machine } from '../../src/model/machine.ts';
import type { LaunchRequest, Provider } from '../../src/ports/provider.ts';

/** A provider to be tested, and what the tests must know of the cloud behind it. */
export interface ProviderBench {
  readonly provider: Provider;
  /** One more connection for the same fleet, as a restarted process has it. */
  connect(): Promise<Provider>;
  /** Lets time pass: by moving a virtual clock, or by waiting. */
  advance(ms: number): Promise<void>;
  /** How long to let pass between two looks. */
  readonly stepMs: number;
  /** A launch that this cloud can serve, for a slice id that it has never seen. */
  request(hostCount: number): LaunchRequest;
  readonly hostCountMax: number;
  /** All of these with a margin: what takes longer fails the test. */
  readonly answerWithinMs: number;
  readonly readyWithinMs: number;
  readonly goneWithinMs: number;
  /** Machines next to ours that our fleet's tag is not on, all of one slice of somebody else's. */
  readonly foreign: { readonly sliceId: SliceId; aliveCount(): Promise<number> };
  /** Releases all that the tests left. */
  close(): Promise<void>;
}

export type OpenBench = () => Promise<ProviderBench>;

/** A bench with the moves that the rules of the port make on it. */
export class ProviderDriver {
  readonly bench: ProviderBench;
  constructor(bench: ProviderBench) {
    this.bench = bench;
  }

  static async open(open: OpenBench): Promise<ProviderDriver> {
    const bench = await open();
    onTestFinished(() => bench.close());
    return new ProviderDriver(bench);
  }

  /** Lets time pass until the call is answered. */
  async answered<T>(call: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    call.then(settle, settle);
    const { answerWithinMs, stepMs } = this.bench;
    for (let waitedMs = 0; waitedMs <= answerWithinMs; waitedMs += stepMs) {
      if (isSettled) return call;
      await this.bench.advance(stepMs);
    }
    throw new Error(`no answer within ${answerWithinMs} ms`);
  }

  launch(...batch: readonly LaunchRequest[]): ReturnType<Provider['launch']> {
    return this.answered(this.bench.provider.launch(batch, never()));
  }

  terminate(...sliceIds: readonly SliceId[]): Promise<void> {
    return this.answered(this.bench.provider.terminate(sliceIds, never()));
  }

  async machinesOf(id: SliceId, provider = this.bench.provider): Promise<readonly Machine[]> {
    const machines = await this.answered(provider.list(never()));
    return machines
      .filter((machine) => machine.sliceId === id && machine.state !== 'gone')
      .sort((a, b) => a.hostIndex - b.hostIndex);
  }

  /** Looks again and again until the machines are as wanted. */
  async until(
    id: SliceId,
    withinMs: number,
    isDone: (machines: readonly Machine[]) => boolean,
  ): Promise<readonly Machine[]> {
    for (let waitedMs = 0; ; waitedMs += this.bench.stepMs) {
      const machines = await this.machinesOf(id);
      if (isDone(machines)) return machines;
      const seen = machines.map(({ hostIndex, state }) => `${hostIndex} ${state}`).join(', ');
      if (waitedMs > withinMs) throw new Error(`after ${withinMs} ms there is: ${seen || 'none'}`);
      await this.bench.advance(this.bench.stepMs);
    }
  }

  untilReady(request: LaunchRequest): Promise<readonly Machine[]> {
    return this.until(request.sliceId, this.bench.readyWithinMs, (machines) =>
      isWhole(machines, request.hostCount),
    );
  }

  untilGone(id: SliceId): Promise<readonly Machine[]> {
    const { goneWithinMs, provider } = this.bench;
    return this.until(id, goneWithinMs + provider.listLagMs, ({ length }) => length === 0);
  }

  /** Nothing of the slice is left, and nothing comes later. */
  async expectGoneForGood(id: SliceId): Promise<void> {
    const { provider, readyWithinMs } = this.bench;
    await this.untilGone(id);
    await this.bench.advance(readyWithinMs + provider.listLagMs);
    expect(await this.machinesOf(id)).toEqual([]);
  }
}

/** For a call that may take its time. */
export const never = (): AbortSignal => new AbortController().signal;

/** All hosts are there, and ready. */
export const isWhole = (machines: readonly Machine[], hostCount: number): boolean =>
  machines.length === hostCount && machines.every(({ state }) => state === 'ready');

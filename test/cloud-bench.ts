import { type GroupName, groupName, sliceId, type SliceId } from '../src/model/ids.ts';
import type { Machine } from '../src/model/machine.ts';
import type { LaunchOutcome, LaunchRequest } from '../src/ports/provider.ts';
import { ProviderError } from '../src/ports/provider.ts';
import {
  createSimulatedCloud,
  type SimulatedCloud,
  type SimulatedCloudOptions,
} from '../src/providers/simulated/cloud.ts';
import { VirtualClock } from '../src/sim/virtual-clock.ts';

export const someGroup: GroupName = groupName('gpu');

export const aLaunch = (over: Partial<LaunchRequest> = {}): LaunchRequest => ({
  sliceId: sliceId('s-0'),
  group: someGroup,
  hostCount: 1,
  host: { cpu: 8_000 },
  device: { type: 'gpu', variant: 'h100' },
  preemptible: false,
  attributes: {},
  launch: {},
  bootstrap: null,
  ...over,
});

/** What came of a call: a value, the kind of its error, or nothing in all that time. */
export type Answer<T> =
  | { readonly kind: 'answered'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: ProviderError['kind'] }
  | { readonly kind: 'silent' };

/** A simulated cloud on a virtual clock, with calls that let time pass until they are answered. */
export class CloudBench {
  readonly clock = new VirtualClock();
  readonly cloud: SimulatedCloud;

  constructor(options: Partial<SimulatedCloudOptions> = {}) {
    const offers = [{ group: someGroup }];
    this.cloud = createSimulatedCloud({ seed: 1, offers, ...options, clock: this.clock });
  }

  launch(...batch: readonly LaunchRequest[]): Promise<Answer<readonly LaunchOutcome[]>> {
    return this.answer((signal) => this.cloud.provider.launch(batch, signal));
  }

  terminate(...ids: readonly SliceId[]): Promise<Answer<void>> {
    return this.answer((signal) => this.cloud.provider.terminate(ids, signal));
  }

  list(): Promise<Answer<readonly Machine[]>> {
    return this.answer((signal) => this.cloud.provider.list(signal));
  }

  /** Rows of a list that is expected to be answered. */
  async rows(): Promise<readonly Machine[]> {
    const answer = await this.list();
    if (answer.kind !== 'answered') throw new Error(`list: ${JSON.stringify(answer)}`);
    return answer.value;
  }

  /** Makes a call and lets time pass until it is answered; gives it up after the deadline. */
  async answer<T>(
    call: (signal: AbortSignal) => Promise<T>,
    deadlineMs = 20_000,
  ): Promise<Answer<T>> {
    const controller = new AbortController();
    let answer: Answer<T> | null = null;
    const settled = call(controller.signal).then(
      (value) => (answer = { kind: 'answered', value }),
      (error: unknown) => {
        if (!(error instanceof ProviderError)) throw error;
        answer ??= { kind: 'failed', error: error.kind };
      },
    );
    const endMs = this.clock.monotonicMs() + deadlineMs;
    while (answer === null) {
      const nextMs = this.clock.nextAtMs() ?? endMs;
      await this.clock.run(Math.max(this.clock.monotonicMs(), Math.min(nextMs, endMs)));
      if (this.clock.monotonicMs() >= endMs && answer === null) answer = { kind: 'silent' };
    }
    controller.abort();
    await settled;
    return answer;
  }
}

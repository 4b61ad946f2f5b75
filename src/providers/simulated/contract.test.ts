import { providerContract } from '../../../test/contract/provider.ts';
import type { OpenBench } from '../../../test/contract/provider-driver.ts';
import { groupName, sliceId } from '../../model/ids.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { createSimulatedCloud } from './cloud.ts';
import type { Faults } from './faults.ts';
import type { OfferInput } from './offer.ts';

interface Variant {
  readonly offer?: Partial<OfferInput>;
  readonly faults?: Partial<Faults>;
}

const openWith =
  ({ offer, faults }: Variant): OpenBench =>
  () => {
    const clock = new VirtualClock();
    const group = groupName('tpu-v5e');
    const offers = [{ ...offer, group }];
    const cloud = createSimulatedCloud({ clock, seed: 1, offers, faults: faults ?? {} });
    let mintedCount = 0;
    return Promise.resolve({
      provider: cloud.provider,
      connect: () => Promise.resolve(cloud.connect()),
      advance: (ms) => clock.advance(ms),
      stepMs: 1_000,
      request: (hostCount) => ({
        sliceId: sliceId(`s-${mintedCount++}`),
        group,
        hostCount,
        host: { cpu: 8_000 },
        device: { type: 'tpu', variant: 'v5e' },
        preemptible: false,
        attributes: {},
        launch: {},
        bootstrap: null,
      }),
      hostCountMax: 4,
      answerWithinMs: 10_000,
      readyWithinMs: 400_000,
      goneWithinMs: 70_000,
      foreign: {
        sliceId: sliceId('foreign-0'),
        aliveCount: () => Promise.resolve(cloud.truth.foreignAlive().length),
      },
      close: () => Promise.resolve(cloud.stop()),
    });
  };

providerContract('a simulated cloud', openWith({}));
providerContract(
  'a simulated cloud that queues',
  openWith({ offer: { queue: { fromMs: 1_000, toMs: 120_000 } } }),
);
// Doubled requests are no excuse: a sound cloud is idempotent.
providerContract(
  'a simulated cloud on a network that doubles all requests',
  openWith({ faults: { duplicateRequestRatio: 1 } }),
);

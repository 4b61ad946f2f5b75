import { setTimeout as sleep } from 'node:timers/promises';
import { aRequest, openLocalBench } from '../../../test/local-bench.ts';
import { never } from '../../../test/contract/provider-driver.ts';
import { providerContract } from '../../../test/contract/provider.ts';
import { sliceId } from '../../model/ids.ts';

providerContract('local processes', async () => {
  const bench = openLocalBench();
  // A fleet beside ours, in the same folder.
  const foreign = bench.open({ fleet: 'foreign' });
  await foreign.launch([aRequest('foreign-0')], never());
  return {
    provider: bench.provider,
    connect: () => Promise.resolve(bench.open()),
    advance: (ms) => sleep(ms),
    stepMs: 20,
    request: (hostCount) => bench.request({ hostCount }),
    hostCountMax: 2,
    answerWithinMs: 15_000,
    readyWithinMs: 2_000,
    goneWithinMs: 3_000,
    foreign: {
      sliceId: sliceId('foreign-0'),
      aliveCount: async () => (await foreign.list(never())).length,
    },
    close: () => bench.close(),
  };
});

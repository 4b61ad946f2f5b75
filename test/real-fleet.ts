import { parseConfig } from '../src/config/config-file.ts';
import { defaultConfigText } from '../src/config/default-config.ts';
import { groupName } from '../src/model/ids.ts';
import { createSimulatedCloud } from '../src/providers/simulated/cloud.ts';
import { RunningFleet } from '../src/service/running-fleet.ts';
import { createMemoryStore } from '../src/store/memory/store.ts';
import { systemClock } from '../src/wiring/system-clock.ts';

/** A fleet as `bellows up` runs it, on real time, with a store in memory and a simulated cloud. */
export function startRealFleet(): RunningFleet {
  const parsed = parseConfig(defaultConfigText, 'default');
  if (parsed.kind === 'bad') throw new Error('the default configuration is good');
  const cloud = createSimulatedCloud({
    clock: systemClock,
    seed: 1,
    fleet: parsed.config.fleet.name,
    offers: [{ group: groupName('local') }],
    foreignCount: 0,
  });
  const fleet = new RunningFleet({
    source: { kind: 'built-in', text: defaultConfigText },
    config: parsed.config,
    mode: 'active',
    store: createMemoryStore(),
    providers: new Map([['local', cloud.provider]]),
    clock: systemClock,
    log: { write: () => undefined },
    solver: { minimize: () => Promise.resolve({ kind: 'failed', detail: 'none here' }) },
    holder: 'a test',
    onCrash: (error) => {
      throw error;
    },
  });
  fleet.start();
  return fleet;
}

// A configuration that was changed at run time stays changed when the controller doubts a commit and reads
// everything anew: what it was started with is not what it was last told.

import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config-file.ts';
import type { Control } from '../../src/model/control.ts';
import { SimulatedFleet } from '../../src/sim/fleet.ts';
import { noProcessFaults } from '../../src/sim/lifeline.ts';

function withMax(max: number): Control {
  const text = `groups: [{ name: a, provider: simulated, host: { cpu: 1 }, max: ${max}, pricePerHour: 1 }]`;
  const parsed = parseConfig(text, 'bellows.yaml');
  if (parsed.kind === 'bad') throw new Error(JSON.stringify(parsed.problems));
  return parsed.config.control;
}

test('a controller that reads everything anew keeps the configuration it was last told', async () => {
  const fleet = new SimulatedFleet({
    seed: 1,
    control: withMax(5),
    // Every doubt about a commit makes it read all of its memory again.
    processFaults: { ...noProcessFaults, storeDoubtfulRatio: 0.3 },
  });
  const maxNow = (): number | undefined => fleet.leader?.last?.input.control.fleet.groups[0]?.max;
  await fleet.run(60_000);
  expect(maxNow()).toBe(5);
  for (let n = 0; n < 20 && maxNow() !== 2; n++) {
    fleet.changeControl(withMax(2));
    await fleet.run(60_000);
  }
  for (let n = 0; n < 30; n++) {
    await fleet.run(20_000);
    expect(maxNow()).toBe(2);
  }
  expect(fleet.faultCounts.get('store-doubtful')).toBeGreaterThan(5);
  await fleet.stop();
});

// Class 5 again: a machine that is smaller than its description.
//
// What happened: the predicted node was larger than the real one, so that work which fitted the prediction
// had node after node bought for it (ITISFoundation/osparc-simcore#5071, karpenter#1019).
//
// What Bellows does instead: an empty host shows what it really offers. From then on decisions count on
// that, and the work is told that no host is large enough. Promise 5.

import { expect, test } from 'vitest';
import { minutes } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
groups:
  - { name: cpu, provider: simulated, host: { cpu: 16 }, max: 8, pricePerHour: 1, idleTimeout: 2m }
`;

test('work that fits the promise and not the machine buys no fleet, and learns why', async () => {
  const stage = new Stage(config);
  const { scheduler } = stage.fleet;
  const join = scheduler.join.bind(scheduler);
  const real = { cpu: 15_500 }; // half a core is the system's
  scheduler.join = (hosts) =>
    join(hosts.map((one) => ({ ...one, group: { ...one.group, host: real } })));
  stage.submit('big', { cpu: 16, runMs: minutes(10) });
  await stage.run(minutes(60));
  expect(stage.made().length).toBeLessThanOrEqual(2);
  expect(stage.alive()).toEqual([]);
  const last = stage.fleet.leader?.last;
  expect(last?.input.learned).toMatchObject([{ group: 'cpu', host: real }]);
  expect(last?.output.decision.classes[0]?.unmet).toMatchObject({
    code: 'insufficient-resources',
    groups: [
      {
        exclusion: {
          kind: 'host-too-small',
          shortages: [{ resource: 'cpu', need: 16_000, have: 15_500 }],
        },
      },
    ],
  });

  stage.submit('small', { cpu: 15, runMs: minutes(10) });
  await stage.until(() => stage.runningCount === 1, minutes(10));
  await stage.end();
});

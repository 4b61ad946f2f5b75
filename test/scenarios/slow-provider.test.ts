// One provider is slow, or answers nothing at all.
//
// What happens elsewhere: one loop asks one cloud after the other, and the slowest sets the pace; an
// outage of one region is reported as a limit of all (aws/karpenter-provider-aws#5937).
//
// What Bellows does: lists and calls run beside the loop, per provider, each with a deadline. A provider
// that does not answer delays its own groups and nothing else. Promise 6.

import { expect, test } from 'vitest';
import { ProviderError } from '../../src/ports/provider.ts';
import { hours, minutes, seconds } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
providers:
  slow: { type: simulated }
  swift: { type: simulated }
groups:
  - { name: far, provider: slow, device: gpu, host: { gpu: 8 }, max: 6, pricePerHour: 10 }
  - { name: near, provider: swift, host: { cpu: 16 }, max: 6, pricePerHour: 1 }
limits: { upscalingSpeed: none }
`;

/** Calls to the slow provider take so long; the other's go on as always. */
function slowDown(stage: Stage, byMs: number): void {
  const late = async <T>(provider: string, call: () => Promise<T>): Promise<T> => {
    const answer = await call();
    if (provider !== 'slow') return answer;
    if (byMs === Infinity) return new Promise(() => {});
    return new Promise((resolve) => {
      stage.fleet.clock.after(byMs, () => resolve(answer));
    });
  };
  stage.onList = late;
  stage.onLaunch = late;
  stage.onTerminate = late;
}

test.each([
  ['takes a minute for every call', seconds(58)],
  ['never answers', Infinity],
] as const)('a provider that %s: the other one launches and releases as ever', async (_, byMs) => {
  const stage = new Stage(config);
  slowDown(stage, byMs);
  await stage.run(seconds(30)); // it is given that long at the start
  stage.submit('far', { gpu: 8, runMs: hours(3) }, 2);
  stage.submit('near', { cpu: 16, runMs: minutes(5) }, 3);
  await stage.until(() => stage.alive('near').length === 3, seconds(25));
  await stage.until(() => stage.finished().length === 3, minutes(10));
  await stage.until(() => stage.alive('near').length === 0, minutes(14));
  if (byMs === Infinity) expect(stage.reasonFor('far-0').rules['far']).toBe('backoff');
  else expect(stage.runningCount).toBe(2); // late, but there
  await stage.end();
});

test('it comes back: what it did in silence is seen, nothing is doubled', async () => {
  const stage = new Stage(config);
  stage.submit('far', { gpu: 8, runMs: hours(3) }, 2);
  await stage.until(() => stage.runningCount === 2, minutes(10));
  slowDown(stage, Infinity);
  stage.submit('more', { gpu: 8, runMs: hours(3) }, 2);
  await stage.run(minutes(30));
  const silent = await stage.events('provider-silent');
  expect(silent.map(({ provider }) => provider)).toEqual(['slow']);
  stage.onList = (_, list) => list();
  stage.onLaunch = (_, launch) => launch();
  stage.onTerminate = (_, terminate) => terminate();
  await stage.until(() => stage.runningCount === 4, minutes(15));
  await stage.run(minutes(10));
  expect(stage.alive('far')).toHaveLength(4);
  await stage.end();
});

test('its outage is told as an outage: who waits knows for whom', async () => {
  const stage = new Stage(config);
  await stage.run(minutes(1));
  stage.onLaunch = (provider, launch) =>
    provider === 'slow' ? Promise.reject(new ProviderError('unreachable', 'reset')) : launch();
  stage.submit('far', { gpu: 8, runMs: hours(3) });
  await stage.run(minutes(20));
  const { troubles } = stage.fleet.leader?.last?.input ?? { troubles: [] };
  expect(troubles).toMatchObject([{ kind: 'unknown', scope: { kind: 'group', name: 'far' } }]);
  expect(stage.callsOf('launch', 'far').length).toBeLessThan(15);
  await stage.end();
});

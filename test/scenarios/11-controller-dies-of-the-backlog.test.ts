// Class 11: the backlog kills the controller, and every restart reads the same backlog again.
//
// What happened: some 14,800 pending pods had both replicas killed for want of memory; each restart
// loaded the same and died of it (METR/hawk#1370). Five times the memory after a patch
// (kubernetes-sigs/karpenter#2779).
//
// What Bellows does instead: entries alike are one class, and what did not change between two ticks is
// written once. What a restart reads is one document per scheduler, whatever happened before. Promise 7.

import { expect, test } from 'vitest';
import { type Commit, documentKinds, type Store } from '../../src/ports/store.ts';
import { createMemoryStore, type MemoryStore } from '../../src/store/memory/store.ts';
import { hours, minutes } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
groups:
  - { name: gpu, provider: simulated, device: gpu, host: { cpu: 64, gpu: 8 }, max: 10, pricePerHour: 30 }
  - { name: cpu, provider: simulated, host: { cpu: 16 }, max: 10, pricePerHour: 0.8 }
limits: { upscalingSpeed: none }
`;
const BACKLOG = 15_000;

test('15,000 entries and five restarts: it leads, decides and answers', async () => {
  const stage = new Stage(config);
  stage.submit('gpu', { gpu: 8, runMs: hours(20) }, BACKLOG);
  await stage.run(minutes(2));
  for (let n = 0; n < 5; n++) {
    stage.fleet.kill();
    await stage.until(() => stage.fleet.leader?.last != null, minutes(4)); // its lease runs out first
  }
  stage.submit('small', { cpu: 8, runMs: hours(1) });
  await stage.until(() => stage.runningCount === 11, minutes(10));
  expect(stage.alive('gpu')).toHaveLength(10);
  const { input } = stage.fleet.leader?.last ?? never();
  expect(input.demand.map(({ count }) => count)).toEqual([BACKLOG - 10]);
  expect(stage.reasonFor(`gpu-${BACKLOG - 1}`).code).toBe('no-capacity');
  await stage.end();
});

test('while the backlog stands, ticks write next to nothing', async () => {
  const written: number[] = [];
  const stage = new Stage(config, { store: weighed((bytes) => written.push(bytes)) });
  stage.submit('gpu', { gpu: 8, runMs: hours(20) }, BACKLOG);
  await stage.fleet.run(minutes(5));
  const largest = Math.max(...written);
  written.length = 0;
  await stage.fleet.run(minutes(5));
  // The push is said again every minute, as it would expire: that is the scheduler's own document.
  const beside = written.filter((bytes) => bytes < largest / 4);
  expect(beside.length).toBeGreaterThan(10);
  expect(beside.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(largest / 10);
  const documents = await stage.fleet.store.load();
  expect(documents.filter(({ kind }) => kind === 'demand')).toHaveLength(1);
  expect(documents.length).toBeLessThan(40);
  expect(documents.every(({ kind }) => documentKinds.includes(kind))).toBe(true);
  await stage.end();
});

test('ended slices are remembered for an hour and no longer', async () => {
  const stage = new Stage(
    `loop: { reconcileInterval: 1h }\ntimeouts: { registrationGrace: 10m }\n${config}`,
    {
      schedulerIntervalMs: minutes(4),
    },
  );
  stage.submit('job', { cpu: 16, runMs: minutes(5) }, 10);
  await stage.until(() => stage.made().length === 10 && stage.alive().length === 0, hours(3));
  await stage.fleet.run(minutes(10));
  expect(stage.fleet.records()).toHaveLength(10);
  await stage.fleet.run(hours(3));
  expect(stage.fleet.records()).toEqual([]);
  expect(await stage.fleet.store.load()).toHaveLength(3); // the config, the marks, the demand
  await stage.end();
});

/** A store that says how much each commit writes. */
function weighed(tell: (bytes: number) => void): MemoryStore {
  const inner = createMemoryStore();
  const weigh = (store: Store): Store => ({
    ...store,
    commit: (commit) => {
      tell(weightOf(commit));
      return store.commit(commit);
    },
  });
  return { ...weigh(inner), connect: () => weigh(inner.connect()) };
}

const weightOf = ({ documents, tick, events }: Commit): number =>
  [...documents, ...(tick?.parts ?? []), ...events].reduce(
    (sum, { text }) => sum + (text?.length ?? 0),
    0,
  );

function never(): never {
  throw new Error('there is one');
}

// Days on which not the cloud is at fault but what stands under Bellows: garbage from an adapter, a clock
// that was set, a store that fails, a file that is broken.
//
// What Bellows does: garbage is dropped and told; time never leaps and never goes back; a store that fails
// is asked again and nothing is called meanwhile; a document that cannot be read stops the controller with
// its name. Promises 2, 3, 7.

import { expect, test } from 'vitest';
import type { EpochMs } from '../../src/model/ids.ts';
import { type Store, StoreError } from '../../src/ports/store.ts';
import { createMemoryStore, type MemoryStore } from '../../src/store/memory/store.ts';
import { hours, minutes } from './sketch.ts';
import { Stage } from './stage.ts';

const config = `
groups:
  - { name: gpu, provider: simulated, device: gpu, host: { gpu: 8 }, max: 6, pricePerHour: 30, idleTimeout: 10m }
limits: { upscalingSpeed: none }
`;

// What an adapter with a bug might do, whatever its types say.
const garbage = (value: unknown) => () => Promise.resolve(value as never);
const throwing = (): never => {
  throw new TypeError("Cannot read properties of undefined (reading 'instances')");
};

test.each([
  ['null', garbage(null)],
  ['a page of HTML', garbage('<html>502 Bad Gateway</html>')],
  ['answers about other slices', garbage([{ kind: 'accepted', sliceId: 'other' }])],
  ['refusals of no known kind', garbage([{ kind: 'refused', refusal: { kind: 'mood' } }])],
  ['an error thrown before any promise', throwing],
] as const)('calls that return %s: held, told, and over when it is over', async (_name, call) => {
  const stage = new Stage(config);
  await stage.run(minutes(1));
  stage.onLaunch = call;
  stage.onList = call;
  stage.onTerminate = call;
  stage.submit('job', { gpu: 8, runMs: minutes(5) }, 2);
  await stage.run(minutes(6));
  expect(stage.made()).toEqual([]);
  stage.onLaunch = (_, launch) => launch();
  stage.onList = (_, list) => list();
  stage.onTerminate = (_, terminate) => terminate();
  await stage.until(() => stage.finished().length === 2, minutes(25));
  await stage.end();
});

test.each([
  ['an hour forward', hours(1)],
  ['an hour back', -hours(1)],
] as const)('the clock is set %s: no wait ends early, none begins anew', async (_name, jumpMs) => {
  const stage = new Stage(config);
  stage.submit('job', { gpu: 8, runMs: minutes(5) }, 2);
  await stage.until(() => stage.finished().length === 2, minutes(15));
  const idleAtMs = stage.atMs;
  await stage.run(minutes(2));
  stage.fleet.clock.jumpWall(jumpMs);
  await stage.until(() => stage.slices('gpu', 'ready').length === 0, minutes(14));
  const waitedMs = stage.atMs - idleAtMs; // our time follows the clock at a tenth of its own pace
  expect(waitedMs).toBeGreaterThan(minutes(9));
  expect(waitedMs).toBeLessThan(minutes(12));
  expect(await stage.events('clock-jumped')).toEqual([{ kind: 'clock-jumped', byMs: jumpMs }]);
  await stage.end();
});

/** A store that can be made to fail. */
function fragile(): { readonly store: MemoryStore; failure: StoreError | null } {
  const inner = createMemoryStore();
  const box = { store: inner, failure: null as StoreError | null };
  const guard = (store: Store): Store => ({
    ...store,
    acquireLease: (ask) => (box.failure ? Promise.reject(box.failure) : store.acquireLease(ask)),
    load: () => (box.failure ? Promise.reject(box.failure) : store.load()),
    commit: (commit) => (box.failure ? Promise.reject(box.failure) : store.commit(commit)),
  });
  box.store = { ...guard(inner), connect: () => guard(inner.connect()) };
  return box;
}

test.each(['unavailable', 'full', 'read-only', 'unknown-outcome'] as const)(
  'the store is %s for ten minutes: commands are rejected, nothing is called, nothing is lost',
  async (kind) => {
    const box = fragile();
    const stage = new Stage(config, { store: box.store });
    stage.submit('first', { gpu: 8, runMs: minutes(25) }, 2);
    await stage.until(() => stage.runningCount === 2, minutes(10));
    box.failure = new StoreError(kind, 'no space left on device');
    stage.calls.length = 0;
    stage.submit('second', { gpu: 8, runMs: minutes(10) }, 2);
    await stage.run(minutes(1));
    const floor = { kind: 'drop-floor', id: 'none' } as const;
    expect(await stage.tell(floor)).toBeNull(); // the caller sees an error and asks again
    await stage.run(minutes(9));
    expect(stage.calls.every((call) => call.kind === 'list')).toBe(true);
    box.failure = null;
    expect(await stage.until(() => stage.alive().length === 4, minutes(3))).toBeGreaterThan(0);
    await stage.run(minutes(25));
    expect(stage.fleet.scheduler.finished.map(({ restarts }) => restarts)).toEqual([0, 0, 0, 0]);
    await stage.end();
  },
);

test('a document that cannot be read: it stops, says which, and has touched nothing', async () => {
  const store = createMemoryStore();
  const { epoch } = await leaseOf(store);
  const broken = { kind: 'slice', id: 'gpu-1-2-0', text: '{"id":"gpu-1-2' } as const;
  await store.commit({ epoch, documents: [broken], tick: null, events: [] });
  await store.releaseLease(epoch);
  const crashes: unknown[] = [];
  const watcher = { onCrash: (error: unknown) => crashes.push(error) };
  const stage = new Stage(config, { store, watcher });
  stage.submit('job', { gpu: 8, runMs: hours(1) });
  await stage.run(minutes(5));
  expect(crashes.length).toBeGreaterThan(0);
  expect(crashes[0]).toMatchObject({
    name: 'StoreError',
    kind: 'corrupt',
    message: 'the slice gpu-1-2-0 in the store is not JSON',
  });
  expect(stage.calls).toEqual([]);
  await stage.fleet.stop();
});

async function leaseOf(store: Store): Promise<{ readonly epoch: number }> {
  const ask = { holder: 'before', nowMs: 0 as EpochMs, ttlMs: 1, epoch: null };
  const answer = await store.acquireLease(ask);
  if (answer.kind !== 'granted') throw new Error('nobody else is there');
  return answer;
}

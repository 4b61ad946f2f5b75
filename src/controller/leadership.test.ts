import { beforeEach, describe, expect, test } from 'vitest';
import { createMemoryStore, type MemoryStore } from '../store/memory/store.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { Leadership } from './leadership.ts';

let clock: VirtualClock;
let store: MemoryStore;
const aLeader = (holder: string) =>
  new Leadership({ store: store.connect(), clock }, { holder, ttlMs: 60_000 });

beforeEach(() => {
  clock = new VirtualClock();
  store = createMemoryStore();
});

describe('leading', () => {
  test('is for one at a time, and the other learns who and until when', async () => {
    const [ann, bob] = [aLeader('ann'), aLeader('bob')];
    expect(await ann.ask()).toEqual({ kind: 'leading', epoch: 1 });
    const untilMs = clock.wallMs() + 60_000;
    expect(await bob.ask()).toEqual({ kind: 'following', holder: 'ann', untilMs });
    expect([ann.epoch, bob.epoch]).toEqual([1, null]);
  });

  test('goes on in the same epoch as long as it is asked for', async () => {
    const ann = aLeader('ann');
    for (let n = 0; n < 5; n++) {
      expect(await ann.ask()).toEqual({ kind: 'leading', epoch: 1 });
      await clock.advance(50_000);
    }
  });

  test('passes on when it runs out, in a new epoch', async () => {
    const [ann, bob] = [aLeader('ann'), aLeader('bob')];
    await ann.ask();
    await clock.advance(60_001);
    expect(await bob.ask()).toEqual({ kind: 'leading', epoch: 2 });
    expect(await ann.ask()).toMatchObject({ kind: 'following', holder: 'bob' });
    expect(ann.epoch).toBeNull();
  });

  test('passes on at once when it is given back', async () => {
    const [ann, bob] = [aLeader('ann'), aLeader('bob')];
    await ann.ask();
    await ann.release();
    await ann.release();
    expect(await bob.ask()).toMatchObject({ kind: 'leading' });
  });

  test('is over when it is lost, whatever time was left', async () => {
    const ann = aLeader('ann');
    await ann.ask();
    ann.lose();
    expect([ann.epoch, ann.remainingMs()]).toEqual([null, 0]);
  });
});

describe('the time that is left', () => {
  test('counts from before it was asked for', async () => {
    const ann = aLeader('ann');
    const asked = ann.ask();
    await clock.advance(5_000);
    await asked;
    expect(ann.remainingMs()).toBe(55_000);
  });

  test.each([
    ['a clock set ahead', 20_000, 1_000, 39_000],
    ['a clock set back', -20_000, 1_000, 59_000],
  ] as const)('is the shorter of both clocks: %s', async (_name, jumpMs, passMs, leftMs) => {
    const ann = aLeader('ann');
    await ann.ask();
    clock.jumpWall(jumpMs);
    await clock.advance(passMs);
    expect(ann.remainingMs()).toBe(leftMs);
  });

  test('is asked for again when a third of it is over', async () => {
    const ann = aLeader('ann');
    expect(ann.isDue).toBe(true);
    await ann.ask();
    await clock.advance(20_000);
    expect(ann.isDue).toBe(false);
    await clock.advance(1);
    expect(ann.isDue).toBe(true);
  });
});

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answered, refusal } from '../../test/answered.ts';
import { aControl } from '../../test/builders.ts';
import {
  type PushDemandRequest,
  PushDemandRequestSchema,
} from '../api/gen/bellows/v1/demand_pb.ts';
import { Controller } from '../controller/controller.ts';
import type { DemandPush } from '../model/push.ts';
import { type Commit, type Store, StoreError } from '../ports/store.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { createMemoryStore } from '../store/memory/store.ts';
import { FleetFeed } from './fleet-feed.ts';
import { type PageOutcome, PushDesk } from './push-desk.ts';
import type { ServedFleet } from './served-fleet.ts';

/** The production controller without a cloud, and a desk before it, on virtual time. */
class DeskStage {
  readonly clock = new VirtualClock();
  readonly desk = new PushDesk(this.clock);
  readonly controller: Controller;
  readonly fleet: ServedFleet;
  readonly store: Store;
  onCommit: (commit: Commit) => void = () => {};

  constructor(memory = createMemoryStore()) {
    const inner = memory.connect();
    this.store = {
      ...inner,
      commit: async (commit) => {
        this.onCommit(commit);
        await inner.commit(commit);
      },
    };
    this.controller = new Controller({
      store: this.store,
      providers: new Map(),
      clock: this.clock,
      log: { write: () => {} },
      control: aControl({ providers: [], fleet: { groups: [] } }),
      holder: 'test',
      onCrash: (error) => {
        throw error;
      },
    });
    const { controller, store } = this;
    const reload = () => Promise.reject(new Error('there is no file'));
    this.fleet = { name: 'fleet', controller, store, feed: new FleetFeed(), reload };
    controller.start();
  }

  take(request: PushDemandRequest): Promise<PageOutcome> {
    return answered(this.clock, this.#say(request));
  }

  refusal(request: PushDemandRequest): Promise<readonly [Code, string]> {
    return refusal(this.clock, this.#say(request));
  }

  #say(request: PushDemandRequest): Promise<PageOutcome> {
    const said = fromBinary(PushDemandRequestSchema, toBinary(PushDemandRequestSchema, request));
    return this.desk.take(this.fleet, said);
  }

  get held(): DemandPush | undefined {
    return this.controller.held.sources.find(({ source }) => source === 'slurm');
  }

  get ids(): string {
    return this.held?.entries.map(({ id }) => id).join(' ') ?? '';
  }
}

interface PageOver {
  readonly generation?: number;
  readonly base?: number;
  readonly page?: number;
  readonly more?: boolean;
  readonly removed?: readonly string[];
  readonly source?: string;
  readonly ttlS?: number;
  readonly cpu?: number;
}

function page(ids: string, over: PageOver = {}): PushDemandRequest {
  const { generation = 1, base, removed = [], ttlS, cpu = 1 } = over;
  return create(PushDemandRequestSchema, {
    source: over.source ?? 'slurm',
    generation: BigInt(generation),
    ...(base === undefined ? {} : { baseGeneration: BigInt(base) }),
    entries: ids
      .split(' ')
      .filter((id) => id !== '')
      .map((id) => ({ id, form: { case: 'single' as const, value: { resources: { cpu } } } })),
    removedIds: [...removed],
    page: over.page ?? 0,
    more: over.more ?? false,
    ...(ttlS === undefined ? {} : { ttl: { seconds: BigInt(ttlS) } }),
  });
}

const { FailedPrecondition, InvalidArgument, ResourceExhausted, Unavailable } = Code;

test('nothing counts before the last page, and its answer says that all is durable', async () => {
  const stage = new DeskStage();
  const staged = { kind: 'staged', generation: 0, entryCount: 0 };
  expect(await stage.take(page('a b', { more: true }))).toEqual(staged);
  expect(await stage.take(page('c', { page: 1, more: true }))).toEqual(staged);
  expect(stage.held).toBeUndefined();
  const last = await stage.take(page('d', { page: 2, ttlS: 60 }));
  expect(last).toMatchObject({ kind: 'durable', held: { generation: 1 } });
  expect(stage.ids).toBe('a b c d');
  const expiresMs = stage.held?.expiresAtMs ?? 0;
  expect(expiresMs - stage.controller.now).toBeGreaterThan(59_000);
  expect(expiresMs - stage.controller.now).toBeLessThanOrEqual(60_000);
});

test('a push that comes again is acknowledged again, and lives longer', async () => {
  const stage = new DeskStage();
  await stage.take(page('a', { ttlS: 60 }));
  const before = stage.held?.expiresAtMs ?? 0;
  await stage.clock.advance(30_000);
  expect(await stage.take(page('a', { ttlS: 60 }))).toMatchObject({ kind: 'durable' });
  expect(stage.held?.expiresAtMs).toBeGreaterThanOrEqual(before + 30_000);
  expect(stage.ids).toBe('a');
});

test('what was forgotten is taken again, at once or from its first page', async () => {
  const stage = new DeskStage();
  await stage.take(page('a', { ttlS: 10 }));
  await stage.clock.advance(60_000);
  expect(stage.held).toBeUndefined();
  expect(await stage.take(page('a', { ttlS: 10 }))).toMatchObject({ kind: 'durable' });
  const first = page('b', { generation: 2, more: true });
  const last = page('c', { generation: 2, page: 1, ttlS: 10 });
  await stage.take(first);
  await stage.take(last);
  await stage.clock.advance(60_000);
  expect(await stage.refusal(last)).toEqual([
    FailedPrecondition,
    'nothing of "slurm" is held, or no longer; push the full set',
  ]);
  await stage.take(first);
  await stage.take(last);
  expect(stage.ids).toBe('b c');
});

test('the same in other pages, after a restart, is the same', async () => {
  const memory = createMemoryStore();
  const stage = new DeskStage(memory);
  await stage.take(page('a b', { more: true }));
  await stage.take(page('c', { page: 1 }));
  await stage.controller.stop();
  const next = new DeskStage(memory);
  await next.clock.advance(1_000);
  expect(await next.take(page('a b c'))).toMatchObject({ kind: 'durable' });
  expect(await next.refusal(page('a b'))).toEqual([
    FailedPrecondition,
    'generation 1 of "slurm" was pushed before with other content; push the full set with a generation above 1',
  ]);
});

describe('pages', () => {
  test('out of order are refused, with the one awaited', async () => {
    const stage = new DeskStage();
    await stage.take(page('a', { more: true }));
    expect(await stage.refusal(page('c', { page: 2 }))).toEqual([
      FailedPrecondition,
      'page 2 of generation 1 of "slurm" came before page 1; push that one first, or start again with page 0',
    ]);
    await stage.take(page('b', { page: 1 }));
    expect(stage.ids).toBe('a b');
  });

  test('without their first are refused', async () => {
    const stage = new DeskStage();
    expect((await stage.refusal(page('c', { page: 2 })))[1]).toMatch(/start again with page 0$/);
  });

  test('with other content in the same place begin anew', async () => {
    const stage = new DeskStage();
    await stage.take(page('a', { more: true }));
    await stage.take(page('b', { page: 1, more: true }));
    expect(await stage.refusal(page('x', { page: 1, more: true }))).toEqual([
      FailedPrecondition,
      'page 1 of generation 1 of "slurm" was pushed before with other content; start again with page 0',
    ]);
    await stage.take(page('a', { more: true }));
    await stage.take(page('x', { page: 1 }));
    expect(stage.ids).toBe('a x');
  });

  test('that come twice at the same time are taken once', async () => {
    const stage = new DeskStage();
    const ids = Array.from({ length: 1_200 }, (_, n) => `e${n}`).join(' ');
    const twice = [page(ids), page(ids)].map((one) => stage.desk.take(stage.fleet, one));
    const outcomes = await answered(stage.clock, Promise.all(twice));
    expect(outcomes.map(({ kind }) => kind)).toEqual(['durable', 'durable']);
    expect(stage.ids).toBe(ids);
  });

  test('of a newer generation take the place of the older', async () => {
    const stage = new DeskStage();
    await stage.take(page('a', { more: true }));
    await stage.take(page('b', { generation: 2, more: true }));
    expect((await stage.refusal(page('c', { page: 1 })))[1]).toContain('is older than 2');
    await stage.take(page('d', { generation: 2, page: 1 }));
    expect(stage.ids).toBe('b d');
  });

  test('are forgotten when the next does not come', async () => {
    const stage = new DeskStage();
    await stage.take(page('a', { more: true }));
    await stage.clock.advance(121_000);
    expect((await stage.refusal(page('b', { page: 1 })))[1]).toMatch(/start again with page 0$/);
  });

  test('that say an id of an earlier page again are refused, and can be corrected', async () => {
    const stage = new DeskStage();
    await stage.take(page('a b', { more: true }));
    expect(await stage.refusal(page('b', { page: 1 }))).toEqual([
      InvalidArgument,
      'entries[0].id: the id "b" is taken already; give each its own',
    ]);
    await stage.take(page('c', { page: 1 }));
    expect(stage.ids).toBe('a b c');
  });

  test('of too many sources at a time are refused', async () => {
    const stage = new DeskStage();
    for (let n = 0; n < 100; n++) await stage.take(page('a', { source: `s${n}`, more: true }));
    const [code, message] = await stage.refusal(page('a', { more: true }));
    expect([code, message]).toEqual([
      ResourceExhausted,
      '100 pushes wait for their next page; try again in 2 min',
    ]);
    await stage.take(page('a')); // one page is no staging
    expect(stage.ids).toBe('a');
  });
});

describe('what is refused says what is current and what to do', () => {
  test.each([
    [
      'an older one',
      page('x', { generation: 6 }),
      'generation 6 of "slurm" is older than 7, the current one; push the full set with a generation above 7',
    ],
    [
      'other content',
      page('x', { generation: 7 }),
      'generation 7 of "slurm" was pushed before with other content; push the full set with a generation above 7',
    ],
    [
      'a delta on what is gone',
      page('x', { generation: 8, base: 6 }),
      'base_generation 6 of "slurm" is not 7, the current one; push what changed since 7, or the full set above 7',
    ],
    [
      'a delta on nothing',
      page('x', { source: 'k8s', generation: 8, base: 6 }),
      'nothing of "k8s" is held, or no longer; push the full set',
    ],
  ])('%s', async (_name, request, message) => {
    const stage = new DeskStage();
    await stage.take(page('a', { generation: 7 }));
    expect(await stage.refusal(request)).toEqual([FailedPrecondition, message]);
    expect(stage.ids).toBe('a');
    await stage.take(page('b', { generation: 8 }));
    expect(stage.ids).toBe('b');
  });
});

test('too many tasks are refused, also when a delta brings them', async () => {
  const stage = new DeskStage();
  const most = page('a');
  for (const entry of most.entries) entry.count = 9_999_999;
  await stage.take(most);
  await stage.take(page('b', { generation: 2, base: 1 }));
  expect(await stage.refusal(page('c', { generation: 3, base: 2 }))).toEqual([
    ResourceExhausted,
    'together with what is held, 10000001 tasks, all counts multiplied out, are above the limit of 10000000 for one source; push the full set',
  ]);
});

test('a store that fails keeps nothing; the last page alone brings it again', async () => {
  const stage = new DeskStage();
  await stage.take(page('a', { more: true }));
  stage.onCommit = () => {
    throw new StoreError('full', 'no space left on /data');
  };
  const last = page('b', { page: 1 });
  expect(await stage.refusal(last)).toEqual([
    Unavailable,
    'no space left on /data; nothing was kept, so ask again later',
  ]);
  expect(stage.held).toBeUndefined();
  stage.onCommit = () => {};
  await stage.clock.advance(2_000);
  expect(await stage.take(last)).toMatchObject({ kind: 'durable' });
  expect(stage.ids).toBe('a b');
});

test('while another controller leads, the wait has an end, and a repeat waits for the same', async () => {
  const memory = createMemoryStore();
  const lease = { holder: 'other', nowMs: new VirtualClock().wallMs(), ttlMs: 40_000, epoch: null };
  await memory.acquireLease(lease);
  const stage = new DeskStage(memory);
  expect(await stage.refusal(page('a'))).toEqual([
    Unavailable,
    'not durable after 25 s: another controller leads fleet fleet; it may still be taken, so ask again',
  ]);
  expect(await stage.take(page('a'))).toMatchObject({ kind: 'durable' });
  expect(stage.ids).toBe('a');
});

/** A push in words: which ids it says, which it removes, how it is cut, which pages come twice. */
const arbitraryPush = fc.record({
  ids: fc.uniqueArray(fc.integer({ min: 0, max: 12 }), { maxLength: 8 }),
  removed: fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 4 }),
  isDelta: fc.boolean(),
  cuts: fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 3 }),
  repeats: fc.array(fc.nat(20), { maxLength: 4 }),
});
type SaidPush = typeof arbitraryPush extends fc.Arbitrary<infer T> ? T : never;

/** Its pages, some of them twice, in an order that retries could have. */
function toPages(push: SaidPush, over: { generation: number; base: number | null }) {
  const ids = push.ids.map((id) => `e${id}`);
  const removed = over.base === null ? [] : push.removed.map((id) => `e${id}`);
  const cuts = [0, ...push.cuts.map((cut) => Math.min(cut, ids.length)), ids.length];
  cuts.sort((a, b) => a - b);
  const count = cuts.length - 1;
  const pages = Array.from({ length: count }, (_, n) =>
    page(ids.slice(cuts[n], cuts[n + 1]).join(' '), {
      generation: over.generation,
      ...(over.base === null ? {} : { base: over.base }),
      removed: n === 0 ? removed : [],
      page: n,
      more: n < count - 1,
      cpu: over.generation,
    }),
  );
  return pages.flatMap((one, n) => {
    const again = push.repeats.flatMap((at) => (at % count <= n ? (pages[at % count] ?? []) : []));
    return [one, one, ...again.slice(0, n)];
  });
}

test('any pushes, cut and repeated in any way, are the sets that they describe', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryPush, { minLength: 1, maxLength: 4 }), async (pushes) => {
      const stage = new DeskStage();
      let expected = new Map<string, number>();
      for (const [n, push] of pushes.entries()) {
        const generation = n + 1;
        const isDelta = push.isDelta && n > 0;
        if (!isDelta) expected = new Map();
        else for (const id of push.removed) expected.delete(`e${id}`);
        for (const id of push.ids) expected.set(`e${id}`, generation);
        for (const one of toPages(push, { generation, base: isDelta ? n : null })) {
          await stage.take(one);
        }
        const cpus = stage.held?.entries.map(({ id, form }): [string, number] => [
          id,
          form.kind === 'single' ? (form.ask.resources['cpu'] ?? 0) / 1_000 : 0,
        ]);
        expect(cpus).toEqual([...expected]);
        expect(stage.held?.generation).toBe(generation);
      }
      await stage.controller.stop();
    }),
    { numRuns: 60 },
  );
});

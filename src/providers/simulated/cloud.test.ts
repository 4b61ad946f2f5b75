import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aLaunch, CloudBench, someGroup } from '../../../test/cloud-bench.ts';
import { sliceId, type SliceId } from '../../model/ids.ts';
import type { Machine } from '../../model/machine.ts';
import type { LaunchOutcome } from '../../ports/provider.ts';
import { forkRandom } from '../../support/random.ts';
import { type FaultKind, type Faults, faultKinds, hostileFaults } from './faults.ts';
import type { MachineTruth } from './truth.ts';

const MINUTE_MS = 60_000;
const LAG_MS = 30_000;

interface ListSeen {
  readonly beganAtMs: number;
  readonly answeredAtMs: number;
  readonly rows: readonly Machine[];
}

/** Calls at random moments, many at once, without regard for the answers; gives up after 15 s. */
class Customer {
  readonly bench: CloudBench;
  readonly log: string[] = [];
  readonly lists: ListSeen[] = [];
  readonly refused = new Set<SliceId>();
  readonly terminated = new Set<SliceId>();
  readonly asked: SliceId[] = [];

  constructor(seed: number, faults: Faults) {
    const quotas = { pool: 60 };
    const offers = [{ group: someGroup, quotaPool: 'pool', queue: { fromMs: 0, toMs: 20_000 } }];
    this.bench = new CloudBench({ seed, faults, offers, quotas, listLagMs: LAG_MS });
  }

  /** Half an hour of doing, all planned beforehand from a seed of its own. */
  async shop(): Promise<void> {
    const { clock, cloud } = this.bench;
    const random = forkRandom(5, 'customer');
    for (let index = 0; index < 60; index++) {
      const atMs = random() * 30 * MINUTE_MS;
      const request = aLaunch({
        sliceId: sliceId(`s-${index}`),
        hostCount: 1 + (index % 4),
        preemptible: index % 2 === 0,
      });
      const launch = (): void => {
        if (this.refused.has(request.sliceId)) return;
        this.#call(
          `launch ${request.sliceId}`,
          (signal) => cloud.provider.launch([request], signal),
          (outcomes) => this.#noteRefusal(outcomes),
        );
      };
      this.asked.push(request.sliceId);
      clock.after(atMs, launch);
      if (random() < 0.5) clock.after(atMs + random() * MINUTE_MS, launch);
      if (random() < 0.6)
        clock.after(atMs + random() * 10 * MINUTE_MS, () => this.terminate(request.sliceId));
    }
    for (let atMs = 0; atMs < 30 * MINUTE_MS; atMs += 7_000) clock.after(atMs, () => this.list());
    await clock.run(30 * MINUTE_MS);
  }

  list(): void {
    const beganAtMs = this.bench.cloud.nowMs();
    this.#call(
      'list',
      (signal) => this.bench.cloud.provider.list(signal),
      (rows) => this.lists.push({ beganAtMs, answeredAtMs: this.bench.cloud.nowMs(), rows }),
    );
  }

  terminate(id: SliceId): void {
    this.#call(
      `terminate ${id}`,
      (signal) => this.bench.cloud.provider.terminate([id], signal),
      () => this.terminated.add(id),
    );
  }

  #noteRefusal(outcomes: readonly LaunchOutcome[]): void {
    for (const outcome of outcomes) {
      if (outcome.kind === 'refused') this.refused.add(outcome.sliceId);
    }
  }

  #call<T>(
    name: string,
    call: (signal: AbortSignal) => Promise<T>,
    use: (value: T) => unknown,
  ): void {
    const { clock } = this.bench;
    const controller = new AbortController();
    const deadline = clock.after(15_000, () => controller.abort());
    const note = (what: unknown): void => {
      deadline.cancel();
      this.log.push(`${clock.monotonicMs()} ${name}: ${JSON.stringify(what)}`);
    };
    void call(controller.signal).then(
      (value) => {
        use(value);
        note(value);
      },
      (error: unknown) => note(String(error)),
    );
  }
}

async function shopWith(seed: number, faults: Faults): Promise<Customer> {
  const customer = new Customer(seed, faults);
  await customer.shop();
  return customer;
}

const machinesOf = (customer: Customer): readonly MachineTruth[] =>
  customer.bench.cloud.truth.machines().filter(({ fleet }) => fleet === 'fleet');

/** Garbage is typed as rows, and some of it is null. */
function toSane(row: unknown, truths: ReadonlyMap<string, MachineTruth>): readonly Machine[] {
  const isKnown = typeof row === 'object' && row !== null && 'machineId' in row;
  return isKnown && truths.has(String(row.machineId)) ? [row as Machine] : [];
}

const seeds = fc.integer({ min: 0, max: 1e6 });
const RUNS = { numRuns: 15 };

describe('the seed', () => {
  test('decides everything: the same seed, the same answers at the same times', async () => {
    const [one, same, other] = [
      await shopWith(1, hostileFaults),
      await shopWith(1, hostileFaults),
      await shopWith(2, hostileFaults),
    ];
    expect(same.log).toEqual(one.log);
    expect(machinesOf(same)).toEqual(machinesOf(one));
    expect(same.bench.cloud.truth.faultCounts()).toEqual(one.bench.cloud.truth.faultCounts());
    expect(other.log).not.toEqual(one.log);
  });

  test('lies in lists shift nothing else', async () => {
    const truthful = {
      ...hostileFaults,
      listStaleRatio: 0,
      listMissingRatio: 0,
      garbageRowRatio: 0,
    };
    const [lying, honest] = [await shopWith(3, hostileFaults), await shopWith(3, truthful)];
    expect(machinesOf(lying)).toEqual(machinesOf(honest));
    expect(lying.log).not.toEqual(honest.log);
  });

  test('the boot of a host depends on its own name alone', async () => {
    const readyAt = async (alone: boolean): Promise<number> => {
      const bench = new CloudBench();
      const others = Array.from({ length: 9 }, (_, at) => aLaunch({ sliceId: sliceId(`o-${at}`) }));
      await bench.launch(...(alone ? [] : others), aLaunch());
      for (;;) {
        const host = bench.cloud.truth
          .alive()
          .find((machine) => machine.sliceId === sliceId('s-0'));
        if (host?.state === 'ready') return bench.cloud.nowMs() - host.fromMs;
        await bench.clock.advance(100);
      }
    };
    expect(await readyAt(true)).toBe(await readyAt(false));
  });
});

describe('a hostile cloud', () => {
  test('meets its customers with every fault there is', async () => {
    const often = { nonIdempotentRatio: 0.2, lateCreateRatio: 0.2, createAfterTerminateRatio: 1 };
    const faults = { ...hostileFaults, ...often };
    const seen = new Map<FaultKind, number>();
    for (let seed = 0; seed < 6; seed++) {
      const { bench } = await shopWith(seed, faults);
      const counts = bench.cloud.truth.faultCounts();
      for (const kind of faultKinds) seen.set(kind, (seen.get(kind) ?? 0) + counts[kind]);
    }
    // A group nobody offers is not asked for here; its own test has it.
    const absent = faultKinds.filter((kind) => (seen.get(kind) ?? 0) === 0);
    expect(absent).toEqual(['refused-permanent']);
  });

  test('never makes a slice twice', async () => {
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const machines = machinesOf(await shopWith(seed, hostileFaults));
        const hosts = machines.map((machine) => `${machine.sliceId}/${machine.hostIndex}`);
        expect(new Set(hosts).size).toBe(hosts.length);
      }),
      RUNS,
    );
  });

  test('keeps its word when it refuses: nothing of that slice comes', async () => {
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const customer = await shopWith(seed, hostileFaults);
        await customer.bench.clock.advance(20 * MINUTE_MS);
        const broken = machinesOf(customer).filter((machine) =>
          customer.refused.has(machine.sliceId),
        );
        expect(broken).toEqual([]);
        expect(customer.refused.size).toBeGreaterThan(0);
      }),
      RUNS,
    );
  });

  test('releases what it has accepted to release, unless it loses that', async () => {
    const faults = { ...hostileFaults, terminateLostRatio: 0, createAfterTerminateRatio: 0 };
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const customer = await shopWith(seed, faults);
        await customer.bench.clock.advance(20 * MINUTE_MS);
        const left = customer.bench.cloud.truth.alive();
        expect(left.filter((machine) => customer.terminated.has(machine.sliceId))).toEqual([]);
      }),
      RUNS,
    );
  });

  test('shows no machine later than the lag after its end, and hides none for longer', async () => {
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const customer = await shopWith(seed, hostileFaults);
        const truths = new Map(machinesOf(customer).map((machine) => [machine.machineId, machine]));
        const shownAtMs = new Map<string, number>();
        const wrong: string[] = [];
        for (const { beganAtMs, answeredAtMs, rows } of customer.lists) {
          const sane = rows.flatMap((row) => toSane(row, truths));
          const ids = new Set(sane.map(({ machineId }) => machineId));
          for (const { machineId, state } of sane) {
            const endMs = truths.get(machineId)?.toMs ?? null;
            if (endMs === null || state === 'gone') continue;
            if (endMs < beganAtMs - LAG_MS) wrong.push(`${machineId} shown at ${beganAtMs}`);
          }
          for (const [id, { fromMs, toMs }] of truths) {
            if (ids.has(id)) shownAtMs.set(id, Math.max(beganAtMs, shownAtMs.get(id) ?? 0));
            else if (toMs === null || toMs > answeredAtMs) {
              const knownSinceMs = Math.max(fromMs, shownAtMs.get(id) ?? 0);
              if (knownSinceMs < beganAtMs - LAG_MS) wrong.push(`${id} hidden at ${beganAtMs}`);
            }
          }
        }
        expect(wrong).toEqual([]);
      }),
      RUNS,
    );
  });

  test('told to be quiet, tells the truth and does as it is asked', async () => {
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const customer = await shopWith(seed, hostileFaults);
        const { clock, cloud } = customer.bench;
        cloud.levers.quiet();
        await clock.advance(20 * MINUTE_MS);
        const shown = (await customer.bench.rows()).filter(({ state }) => state !== 'gone');
        expect(shown.map(({ machineId }) => machineId)).toEqual(
          cloud.truth.alive().map(({ machineId }) => machineId),
        );
        for (const id of customer.asked) customer.terminate(id);
        await clock.advance(20 * MINUTE_MS);
        expect(cloud.truth.alive()).toEqual([]);
        expect(cloud.truth.foreignAlive()).toHaveLength(2);
        expect(clock.pendingCount).toBe(0);
      }),
      RUNS,
    );
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller } from '../src/controller/controller.ts';
import type { Entry } from '../src/model/demand.ts';
import type { HostReport } from '../src/model/host-report.ts';
import { entryId, epochMs } from '../src/model/ids.ts';
import type { Snapshot } from '../src/model/snapshot.ts';
import type { Clock } from '../src/ports/clock.ts';
import type { Commit, Store } from '../src/ports/store.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { must } from '../src/support/assert.ts';
import { seededRandom } from '../src/support/random.ts';
import {
  createStillCloud,
  fillStore,
  toControl,
  toRecords,
  toReports,
} from './controller-scene.ts';
import { type Blocks, watchBlocks } from './loop-blocks.ts';
import { quantile, round, rssMiB } from './measure.ts';
import { createScene } from './tick.ts';
import { systemClock } from '../src/wiring/system-clock.ts';

const WARM_UP = 12;
const FLIPS = 300;
const COMING_AND_GOING = 20;
const INTERVAL_MS = 1_000;

/** One tick, from the start of its pass to its durable record. */
interface TickTime {
  readonly totalMs: number;
  /** Until the store is called: observe, decide, plan, serialise. */
  readonly threadMs: number;
  /** From then until it is on disk. */
  readonly commitMs: number;
  /** Of the whole process, the store's thread included. */
  readonly cpuMs: number;
  /** Text of the tick and its documents, before it is packed. */
  readonly writtenMiB: number;
  readonly blockMs: number;
  readonly histogramMs: number;
}

/** The production controller over a large fleet, with SQLite, on the real clock. */
export async function measureFullTick(ticks: number): Promise<Readonly<Record<string, unknown>>> {
  const folder = mkdtempSync(join(tmpdir(), 'bellows-bench-'));
  const store = await openSqliteStore({
    path: join(folder, 'state.db'),
    holder: 'bench',
    fleet: 'tick',
    journalSizeMax: 256 * 2 ** 20,
    journalAgeMaxMs: 86_400_000,
  });
  const blocks = watchBlocks();
  try {
    return await run(store, blocks, ticks);
  } finally {
    blocks.stop();
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

async function run(
  store: Store,
  blocks: Blocks,
  ticks: number,
): Promise<Readonly<Record<string, unknown>>> {
  const { fleet: snapshot, entries } = createScene('cost');
  const { fleet, slices } = snapshot;
  const records = toRecords(fleet, slices, systemClock.wallMs());
  await fillStore(store, records);
  const probe = new Probe(blocks);
  const controller = new Controller({
    store: probe.store(store),
    providers: new Map([['simulated', createStillCloud(records)]]),
    clock: probe.clock(systemClock),
    log: { write: () => {} },
    // Launches are decided and recorded in every tick anew; were they carried out, the fleet would grow.
    control: toControl(fleet, { mode: 'advisory', evaluationIntervalMs: INTERVAL_MS }),
    holder: 'bench',
    onCrash: (error) => {
      throw error;
    },
  });
  controller.start();
  await probe.nextTick();
  controller.report(toReports(slices, controller.now));
  await push(controller, 'a-many', 1, entries);
  const churn = createChurn(controller, snapshot, entries);
  for (let n = 0; n < WARM_UP; n++) await churn(n, probe);
  probe.times.length = 0;
  for (let n = 0; n < ticks; n++) await churn(WARM_UP + n, probe);
  const times = [...probe.times];
  const pushTicked = probe.nextTick();
  await push(controller, 'a-many', 2, entries.slice(1));
  await pushTicked;
  const last = must(controller.last, 'it has ticked');
  await controller.stop();
  return {
    ...summarize(times),
    // All tasks are said anew: until the tick that has them is recorded.
    pushBlockMs: round(must(probe.times.at(-1), 'the tick after the push').blockMs, 0),
    slices: last.input.slices.length,
    classes: last.input.demand.length,
    launches: last.output.decision.groups.reduce((sum, { launch }) => sum + launch, 0),
    rssMiB: rssMiB(),
  };
}

function summarize(times: readonly TickTime[]): Readonly<Record<string, number>> {
  const of = (key: keyof TickTime, ratio: number): number =>
    round(
      quantile(
        times.map((time) => time[key]),
        ratio,
      ),
      0,
    );
  return {
    ticks: times.length,
    p50Ms: of('totalMs', 0.5),
    p95Ms: of('totalMs', 0.95),
    minMs: of('totalMs', 0),
    threadP50Ms: of('threadMs', 0.5),
    threadMinMs: of('threadMs', 0),
    commitP50Ms: of('commitMs', 0.5),
    commitMinMs: of('commitMs', 0),
    cpuP50Ms: of('cpuMs', 0.5),
    cpuMinMs: of('cpuMs', 0),
    writtenP50MiB: of('writtenMiB', 0.5),
    blockP50Ms: of('blockMs', 0.5),
    blockMaxMs: of('blockMs', 1),
    blockMinMs: of('blockMs', 0),
    histogramMaxMs: of('histogramMs', 1),
  };
}

async function push(
  controller: Controller,
  source: string,
  generation: number,
  entries: readonly Entry[],
): Promise<void> {
  const expiresAtMs = epochMs(controller.now + 3_600_000);
  const command = { source, generation, entries, expiresAtMs };
  await controller.command({ kind: 'push-demand', push: command });
}

/** What changes between two ticks: reports flip, others are said again, entries come and go. */
function createChurn(
  controller: Controller,
  { fleet, slices }: Pick<Snapshot, 'fleet' | 'slices'>,
  entries: readonly Entry[],
): (round: number, probe: Probe) => Promise<void> {
  const random = seededRandom(11);
  const ready = slices.filter(({ hosts }) => hosts.length > 0);
  const reports = toReports(ready, controller.now);
  const groups = new Map(fleet.groups.map((group) => [group.name, group.host]));
  const hosts = new Map(slices.map(({ id, group }) => [id, groups.get(group)]));
  return async (turn, probe) => {
    const nowMs = controller.now;
    const said: HostReport[] = [];
    for (let n = 0; n < FLIPS; n++) {
      const at = Math.floor(random() * reports.length);
      const report = must(reports[at], 'a report');
      const host = must(hosts.get(report.sliceId), 'the host of a slice');
      const left = Math.floor(random() * 100) / 100;
      const free = Object.fromEntries(
        Object.entries(host).map(([name, value]) => [name, Math.floor(value * left)]),
      );
      reports[at] = { ...report, free };
      said.push({ ...report, free, atMs: nowMs });
    }
    // Every host says again what it said, in turns of ten ticks.
    for (let n = turn % 10; n < reports.length; n += 10) {
      const report = must(reports[n], 'a report');
      said.push({ ...report, free: { ...report.free }, atMs: nowMs });
    }
    const some = Array.from({ length: COMING_AND_GOING }, (_, n): Entry => {
      const like = must(entries[Math.floor(random() * 2_000)], 'an entry');
      return { ...like, id: entryId(`late-${turn}-${n}`), submittedAtMs: nowMs };
    });
    await push(controller, 'b-few', turn + 1, some);
    const ticked = probe.nextTick();
    for (let n = 0; n < said.length; n += 500) controller.report(said.slice(n, n + 500));
    await ticked;
  };
}

const sizeOf = ({ tick, documents }: Commit): number =>
  [...(tick?.parts ?? []), ...documents].reduce((sum, { text }) => sum + (text?.length ?? 0), 0);

/** Notes how long it is from the start of a pass to the durable record of its tick. */
class Probe {
  readonly times: TickTime[] = [];
  readonly #blocks: Blocks;
  #waiting: (() => void)[] = [];
  /** Processor time at each look at the clock: a pass begins with one. */
  #looks: { readonly atMs: number; readonly cpu: NodeJS.CpuUsage }[] = [];

  constructor(blocks: Blocks) {
    this.#blocks = blocks;
  }

  nextTick(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  clock(inner: Clock): Clock {
    return {
      ...inner,
      wallMs: () => {
        const atMs = inner.wallMs();
        if (this.#looks.at(-1)?.atMs !== atMs) this.#looks.push({ atMs, cpu: process.cpuUsage() });
        return atMs;
      },
    };
  }

  store(inner: Store): Store {
    return {
      ...inner,
      commit: async (commit) => {
        const calledMs = Date.now();
        await inner.commit(commit);
        const doneMs = Date.now();
        if (commit.tick === null) return;
        // The time of the tick is that of the start of its pass, in whole milliseconds.
        const { atMs } = commit.tick;
        const { user, system } = process.cpuUsage(
          this.#looks.find((look) => look.atMs >= atMs)?.cpu,
        );
        this.#looks = [];
        const time = {
          totalMs: doneMs - atMs,
          threadMs: calledMs - atMs,
          commitMs: doneMs - calledMs,
          cpuMs: (user + system) / 1_000,
          writtenMiB: sizeOf(commit) / 2 ** 20,
        };
        // What follows the record, the calls, holds up the thread as well.
        setTimeout(() => {
          const [blockMs, histogramMs] = [this.#blocks.longestMs(), this.#blocks.histogramMs()];
          this.#blocks.reset();
          this.times.push({ ...time, blockMs, histogramMs });
          for (const resolve of this.#waiting.splice(0)) resolve();
        }, 5);
      },
    };
  }
}

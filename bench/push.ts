import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command, CommandAnswer } from '../src/controller/commands.ts';
import { Controller } from '../src/controller/controller.ts';
import { decideTick } from '../src/controller/decide-tick.ts';
import type { Fleet } from '../src/model/fleet.ts';
import type { Slice } from '../src/model/slice.ts';
import type { Store } from '../src/ports/store.ts';
import { FleetFeed } from '../src/server/fleet-feed.ts';
import { createMemoryStore } from '../src/store/memory/store.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { must } from '../src/support/assert.ts';
import { createStillCloud, fillStore, toControl, toRecords } from './controller-scene.ts';
import { watchBlocks } from './loop-blocks.ts';
import { quantile, round, rssMiB } from './measure.ts';
import { pushAll } from './push-client.ts';
import { listen } from './front-door.ts';
import { openThreadClock, watchThread } from './thread-blocks.ts';
import { createScene } from './tick.ts';
import { systemClock } from '../src/wiring/system-clock.ts';

// npm run bench -- push [--json] [--quick] [--only sqlite-binary]
// 100,000 entries in pages of 2,000, over HTTP from another process; how long the loop is held up.

const GROUPS = 10;
const SLICES = 100;
const WARM_UP = 2;
/** The tick after a push is over by then. */
const SETTLE_MS = 600;

type Row = Readonly<Record<string, unknown>>;

const encodings = ['json', 'binary', 'stream'] as const;
type Encoding = (typeof encodings)[number];
const names = ['memory', 'sqlite'].flatMap((store) => encodings.map((one) => `${store}-${one}`));

export async function benchPush(args: readonly string[]): Promise<void> {
  const at = args.indexOf('--client');
  if (at >= 0) return pushAll(args.slice(at + 1));
  const only = args.indexOf('--only');
  if (only < 0) {
    for (const name of names) {
      const child = [process.argv[1] ?? '', 'push', ...args, '--only', name];
      const { status } = spawnSync(process.execPath, child, { stdio: 'inherit' });
      if (status !== 0) process.exitCode = 1;
    }
    return;
  }
  const name = args[only + 1] ?? '';
  const [storeName, encodingName] = name.split('-');
  const encoding = encodings.find((one) => one === encodingName);
  if (!names.includes(name) || encoding === undefined) {
    console.error(`push: there is no "${name}"; there is ${names.join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const rounds = args.includes('--quick') ? 3 : 8;
  const run = (store: Store): Promise<Row> => measurePushes(store, { encoding, rounds });
  const row = { part: name, ...(await withStore(storeName === 'sqlite', run)) };
  console.log(args.includes('--json') ? JSON.stringify(row) : describe(row));
}

const describe = (row: Row): string =>
  Object.entries(row)
    .map(([key, value]) => `${key} ${String(value)}`)
    .join(', ');

async function withStore(isSqlite: boolean, run: (store: Store) => Promise<Row>): Promise<Row> {
  if (!isSqlite) return run(createMemoryStore());
  const folder = mkdtempSync(join(tmpdir(), 'bellows-bench-'));
  const store = await openSqliteStore({
    path: join(folder, 'state.db'),
    holder: 'bench',
    fleet: 'push',
    journalSizeMax: 256 * 2 ** 20,
    journalAgeMaxMs: 86_400_000,
  });
  try {
    return await run(store);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

/**
 * Longest time that the loop was held up: by pages; by what is made of them, the tick included. By the
 * clock on the wall, and by the processor time that the thread took.
 */
interface Held {
  readonly pagesMs: number;
  readonly pagesCpuMs: number;
  readonly takingMs: number;
  readonly takingCpuMs: number;
  /** The longest is the one with the decision in it. */
  readonly takingSecondCpuMs: number;
  readonly totalMs: number;
}

/** Tells when all pages are read and the push goes to the loop. */
class WatchedController extends Controller {
  onCommand = (): void => {};

  override command(command: Command): Promise<CommandAnswer> {
    this.onCommand();
    return super.command(command);
  }
}

async function measurePushes(
  store: Store,
  { encoding, rounds }: { readonly encoding: Encoding; readonly rounds: number },
): Promise<Row> {
  const { fleet, slices } = smallFleet();
  const records = toRecords(fleet, slices, systemClock.wallMs());
  await fillStore(store, records);
  const controller = new WatchedController({
    store,
    providers: new Map([['simulated', createStillCloud(records)]]),
    clock: systemClock,
    log: { write: () => {} },
    control: toControl(fleet, { mode: 'advisory', evaluationIntervalMs: 200 }),
    holder: 'bench',
    onCrash: (error) => {
      throw error;
    },
  });
  controller.start();
  const reload = (): Promise<never> => Promise.reject(new Error('there is no file'));
  const door = await listen({ name: 'push', controller, store, feed: new FleetFeed(), reload });
  const words = ['push', '--client', door.url, encoding];
  const client = spawn(process.execPath, [process.argv[1] ?? '', ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const held = await watchRounds(client, controller, rounds);
  const last = must(controller.last, 'it has ticked').input;
  const decideCpuMs = timeThread(() => decideTick(last));
  await door.close();
  await controller.stop();
  return { ...summarize(held), decideCpuMs: round(decideCpuMs, 0), classes: last.demand.length };
}

function summarize(held: readonly Held[]): Row {
  const of = (key: keyof Held, ratio: number): number =>
    round(
      quantile(
        held.map((one) => one[key]),
        ratio,
      ),
      0,
    );
  return {
    pushes: held.length,
    totalP50Ms: of('totalMs', 0.5),
    pagesP50Ms: of('pagesMs', 0.5),
    pagesMaxMs: of('pagesMs', 1),
    pagesCpuP50Ms: of('pagesCpuMs', 0.5),
    pagesCpuMaxMs: of('pagesCpuMs', 1),
    takingP50Ms: of('takingMs', 0.5),
    takingMaxMs: of('takingMs', 1),
    takingCpuP50Ms: of('takingCpuMs', 0.5),
    takingCpuMaxMs: of('takingCpuMs', 1),
    takingSecondCpuMaxMs: of('takingSecondCpuMs', 1),
    rssMiB: rssMiB(),
  };
}

/** The client is told each generation, and says when it is durable. */
async function watchRounds(
  client: ChildProcessByStdio<Writable, Readable, null>,
  controller: WatchedController,
  rounds: number,
): Promise<readonly Held[]> {
  const held: Held[] = [];
  const [wall, thread] = [watchBlocks(), watchThread()];
  const begin = (): void => {
    wall.reset();
    thread.reset();
  };
  const answers = createInterface({ input: client.stdout })[Symbol.asyncIterator]();
  await answers.next(); // it is ready
  for (let n = 0; n < WARM_UP + rounds; n++) {
    let pages = { pagesMs: 0, pagesCpuMs: 0 };
    controller.onCommand = () => {
      pages = { pagesMs: wall.longestMs(), pagesCpuMs: thread.longestMs()[0] ?? 0 };
      begin();
    };
    begin();
    const startedMs = performance.now();
    client.stdin.write(`${n + 1}\n`);
    await answers.next();
    const totalMs = performance.now() - startedMs;
    await sleep(SETTLE_MS);
    const [takingCpuMs = 0, takingSecondCpuMs = 0] = thread.longestMs();
    const taking = { takingMs: wall.longestMs(), takingCpuMs, takingSecondCpuMs };
    if (n >= WARM_UP) held.push({ ...pages, ...taking, totalMs });
  }
  wall.stop();
  thread.stop();
  client.stdin.end();
  return held;
}

/** One group of each machine of the large scene, with a few slices. */
function smallFleet(): { readonly fleet: Fleet; readonly slices: readonly Slice[] } {
  const { fleet, slices } = createScene('cost').fleet;
  const groups = fleet.groups.slice(0, GROUPS);
  const known = new Set(groups.map(({ name }) => name));
  return {
    fleet: { ...fleet, groups },
    slices: slices.filter(({ group }) => known.has(group)).slice(0, SLICES),
  };
}

function timeThread(run: () => unknown): number {
  const clock = openThreadClock();
  const times = Array.from({ length: 5 }, () => {
    const startedMs = clock.nowMs();
    run();
    return clock.nowMs() - startedMs;
  });
  clock.close();
  return quantile(times, 0.5);
}

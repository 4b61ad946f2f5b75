import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { forkRandom } from '../../src/support/random.ts';
import { ControllerProcess, type StartOptions } from './controller-process.ts';
import { findDoubled, findHostProcesses, type HostProcess } from './host-processes.ts';
import { Refused, RestlessScheduler } from './scheduler.ts';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface CrashReport {
  readonly folder: string;
  readonly kills: number;
  readonly acknowledged: number;
  /** Acknowledged and not there afterwards. */
  readonly lost: readonly string[];
  /** Processes of hosts that were left when no slice was. */
  readonly leaked: readonly string[];
  /** Hosts that ran twice. */
  readonly doubled: readonly string[];
  /** What the controller refused though nothing was wrong with it. */
  readonly refused: readonly string[];
  readonly hostsSeen: number;
  /** Exit code of the controller at the end, after SIGTERM. */
  readonly exitCode: number | null;
  readonly replay: { readonly exitCode: number | null; readonly lines: string };
  readonly settled: boolean;
}

/** A life of a controller lasts at most this long. */
const LIFE_MAX_MS = 2_500;
const SETTLE_MAX_MS = 90_000;

const configText = `fleet: crash
loop: { evaluationInterval: 200ms, reconcileInterval: 1s }
limits: { createsPerMinute: none, concurrentLaunches: none, upscalingSpeed: none, terminationsPerMinute: none, drainingPercent: none }
groups:
  - { name: one, host: { cpu: 4 }, max: 6, pricePerHour: 1, idleTimeout: 500ms, unreported: idle }
  - name: pair
    host: { cpu: 2 }
    hostsPerSlice: 2
    max: 3
    pricePerHour: 1.2
    idleTimeout: 500ms
    unreported: idle
    bootstrap: { script: "sleep 1000 & sleep 0.1" } # leaves something behind that must end with its host
`;

/**
 * `bellows up` for real, with demand that comes and goes all the time, killed with -9 at random
 * moments and started again; at the end it must be as if nothing had happened.
 */
export async function runCrashes(options: {
  readonly kills: number;
  readonly seed: number;
  readonly onLife?: (life: number) => void;
}): Promise<CrashReport> {
  const { kills, seed } = options;
  const random = forkRandom(seed, 'kills');
  const folder = mkdtempSync(join(tmpdir(), 'bellows-crash-'));
  const dataDir = join(folder, 'data');
  const config = join(folder, 'bellows.yaml');
  writeFileSync(config, configText);
  const listen = `127.0.0.1:${await findPort()}`;
  const start: StartOptions = { config, dataDir, listen, log: join(folder, 'controller.log') };
  const scheduler = new RestlessScheduler(`http://${listen}`, forkRandom(seed, 'scheduler'));
  const watcher = new ProcessWatcher(dataDir);
  const refused: string[] = [];
  const pester = async (isOver: () => boolean): Promise<void> => {
    while (!isOver()) {
      await scheduler.change().catch((error: unknown) => {
        // Unavailable (503) is what a controller says that is starting or stopping.
        if (error instanceof Refused && error.status !== 503) refused.push(error.message);
      });
      watcher.look();
      await wait(random() * 120);
    }
  };

  let controller = new ControllerProcess(start);
  for (let life = 0; life < kills; life++) {
    options.onLife?.(life);
    // One in five dies while it starts.
    const isEarly = random() < 0.2;
    if (!isEarly) {
      await controller.listening();
      await scheduler.check();
    }
    const endMs = Date.now() + random() * (isEarly ? 600 : LIFE_MAX_MS);
    const pestering = pester(() => Date.now() >= endMs);
    while (Date.now() < endMs) await wait(10);
    await controller.kill();
    await pestering;
    controller = new ControllerProcess(start);
  }
  await controller.listening();
  await scheduler.check();
  const settled = await settle(scheduler, watcher);
  const exitCode = await controller.stop();
  const leaked = findHostProcesses(dataDir).map(({ pid, slice }) => `process ${pid} of ${slice}`);
  for (const { pid } of findHostProcesses(dataDir)) process.kill(pid, 'SIGKILL');
  const { lost, acknowledgedCount } = scheduler;
  const replay = replayJournal(join(dataDir, 'crash.db'));
  const { doubled, hostsSeen } = watcher;
  const counted = { kills, acknowledged: acknowledgedCount, lost, leaked, doubled, hostsSeen };
  return { folder, ...counted, refused, exitCode, replay, settled };
}

/** Looks for hosts that run twice, now and then. */
class ProcessWatcher {
  readonly doubled: string[] = [];
  readonly #dataDir: string;
  readonly #seen = new Set<number>();
  #before: readonly HostProcess[] = [];

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  get hostsSeen(): number {
    return this.#seen.size;
  }

  look(): void {
    const now = findHostProcesses(this.#dataDir);
    for (const { pid, isHost } of now) if (isHost) this.#seen.add(pid);
    this.doubled.push(...findDoubled(this.#before, now));
    this.#before = now;
  }
}

/** Without demand everything must go. */
async function settle(scheduler: RestlessScheduler, watcher: ProcessWatcher): Promise<boolean> {
  await scheduler.clear();
  const endMs = Date.now() + SETTLE_MAX_MS;
  while (Date.now() < endMs) {
    watcher.look();
    if ((await scheduler.sliceCount()) === 0) return true;
    await wait(200);
  }
  return false;
}

function replayJournal(database: string): CrashReport['replay'] {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'replay', database], {
    encoding: 'utf8',
  });
  return { exitCode: status, lines: `${stdout}${stderr}` };
}

function findPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

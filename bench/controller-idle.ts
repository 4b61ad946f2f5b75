import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller } from '../src/controller/controller.ts';
import type { Fleet } from '../src/model/fleet.ts';
import { groupName, sliceId } from '../src/model/ids.ts';
import type { Slice } from '../src/model/slice.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import {
  createStillCloud,
  fillStore,
  toControl,
  toRecords,
  toReports,
} from './controller-scene.ts';
import { round, rssMiB } from './measure.ts';
import { systemClock } from '../src/wiring/system-clock.ts';

const COUNT = 100;
const REPORT_EVERY_MS = 10_000;
const SETTLE_MS = 5_000;

/** A small fleet in which nothing changes; hosts say so every ten seconds. */
export async function measureIdle(forMs: number): Promise<Readonly<Record<string, unknown>>> {
  const folder = mkdtempSync(join(tmpdir(), 'bellows-bench-'));
  const store = await openSqliteStore({
    path: join(folder, 'state.db'),
    holder: 'bench',
    fleet: 'idle',
    journalSizeMax: 256 * 2 ** 20,
    journalAgeMaxMs: 86_400_000,
  });
  const fleet = createFleet();
  const slices = fleet.groups.map(({ name, host }, n): Slice => {
    const hosts = [{ free: { ...host, cpu: 0 } }];
    const standing = { statusSinceMs: systemClock.wallMs(), reservedFor: null };
    return { id: sliceId(`slice-${n}`), group: name, status: 'ready', hosts, ...standing };
  });
  const records = toRecords(fleet, slices, systemClock.wallMs());
  await fillStore(store, records);
  let ticks = 0;
  const controller = new Controller({
    store,
    providers: new Map([['simulated', createStillCloud(records)]]),
    clock: systemClock,
    log: { write: () => {} },
    control: toControl(fleet),
    holder: 'bench',
    onCrash: (error) => {
      throw error;
    },
    onTick: () => ticks++,
  });
  controller.start();
  const report = (): void => void controller.report(toReports(slices, controller.now));
  const reporting = setInterval(report, REPORT_EVERY_MS);
  await sleep(SETTLE_MS / 5);
  report();
  await sleep(SETTLE_MS);
  const [before, startedMs, ticksBefore] = [process.cpuUsage(), performance.now(), ticks];
  await sleep(forMs);
  const { user, system } = process.cpuUsage(before);
  const tookMs = performance.now() - startedMs;
  const row = {
    groups: fleet.groups.length,
    slices: slices.length,
    seconds: round(tookMs / 1_000, 0),
    ticks: ticks - ticksBefore,
    cpuMs: round((user + system) / 1_000, 0),
    corePercent: round((user + system) / 10 / tookMs, 2),
    rssMiB: rssMiB(),
  };
  clearInterval(reporting);
  await controller.stop();
  await store.close();
  rmSync(folder, { recursive: true });
  return row;
}

const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

function createFleet(): Fleet {
  const groups = Array.from({ length: COUNT }, (_, n) => ({
    name: groupName(`group-${n}`),
    provider: 'simulated',
    device: { type: 'cpu', variant: null },
    host: { cpu: 16_000, memory: 64 * 2 ** 30 },
    hostsPerSlice: 1,
    min: 0,
    spare: 0,
    max: 10,
    priority: 100,
    priceMicroUsdPerHour: 700_000 + n * 1_000,
    preemptible: false,
    attributes: { zone: `zone-${n % 7}` },
    quotaPool: null,
  }));
  return {
    name: 'idle',
    strategy: 'cost',
    limits: {
      slicesMax: 500,
      spendMaxMicroUsdPerHour: null,
      createsPerMinute: 60,
      concurrentLaunches: 10,
      upscalingSpeed: 1,
    },
    registrationGraceMs: 60_000,
    groups,
    quotaPools: [],
  };
}

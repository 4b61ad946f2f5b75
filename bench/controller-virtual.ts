import { checkConfig } from '../src/config/config-file.ts';
import type { Control } from '../src/model/control.ts';
import type { EntryForm } from '../src/model/demand.ts';
import { entryId } from '../src/model/ids.ts';
import { SimulatedFleet } from '../src/sim/fleet.ts';
import { createMemoryStore } from '../src/store/memory/store.ts';
import { must } from '../src/support/assert.ts';
import { forkRandom } from '../src/support/random.ts';
import { round } from './measure.ts';

const HOUR_MS = 3_600_000;
const GIB = 2 ** 30;

/** Groups of plain nodes at one simulated provider, with all rates lifted. */
function createControl(groups: number, max: number): Control {
  const { config, findings } = checkConfig(
    {
      fleet: 'bench',
      strategy: 'cost',
      limits: { createsPerMinute: 'none', concurrentLaunches: 'none', upscalingSpeed: 'none' },
      providers: { cloud: { type: 'simulated' } },
      groups: Array.from({ length: groups }, (_, n) => ({
        name: `cpu-${n}`,
        provider: 'cloud',
        device: 'cpu',
        host: { cpu: 16, memory: '64GiB' },
        max,
        pricePerHour: 0.68 + n / 100,
        idleTimeout: '10m',
      })),
    },
    [],
  );
  return must(config, `a valid config: ${JSON.stringify(findings)}`).control;
}

const formOf = (cpu: number): EntryForm => {
  const resources = { cpu: cpu * 1_000, memory: cpu * 3 * GIB };
  return { kind: 'single', ask: { device: null, preemptible: null, constraints: [], resources } };
};

function submit(fleet: SimulatedFleet, name: string, form: EntryForm, runMs: number): void {
  const standing = { priority: 0, owner: null, taskIds: [], invalid: null };
  const entry = { id: entryId(name), count: 1, form, submittedAtMs: fleet.nowMs, ...standing };
  fleet.submit({ entry, runMs });
}

const LAUNCHES = 1_000;
const PROVIDER_MS = 60_000;

/** From the decision to launch a thousand slices until all are ready, on virtual time. */
export async function measureLaunches(): Promise<Readonly<Record<string, unknown>>> {
  const control = createControl(10, 200);
  const startedMs = performance.now();
  const fleet = new SimulatedFleet({
    seed: 1,
    control,
    // Machines are up after a fixed time, with nothing to bootstrap.
    offers: control.fleet.groups.map(({ name }) => ({
      group: name,
      start: { fromMs: PROVIDER_MS, toMs: PROVIDER_MS },
      bootstrap: { fromMs: 0, toMs: 0 },
    })),
    watcher: {
      onTick: ({ slices }, { steps }) => {
        const launches = steps.filter(({ kind }) => kind === 'launch').length;
        if (launches > 0) decided.push({ atMs: fleet.clock.monotonicMs(), launches });
        if (slices.length >= LAUNCHES && slices.every(({ status }) => status === 'ready')) {
          ready.push(fleet.clock.monotonicMs());
        }
      },
    },
  });
  const decided: { readonly atMs: number; readonly launches: number }[] = [];
  const ready: number[] = [];
  await fleet.run(60_000);
  for (let n = 0; n < LAUNCHES; n++) submit(fleet, `work-${n}`, formOf(16), HOUR_MS);
  for (let n = 0; n < 300 && ready.length === 0; n++) await fleet.run(1_000);
  await fleet.stop();
  const first = must(decided[0], 'a decision to launch');
  const took = must(ready[0], 'all of them are ready') - first.atMs;
  return {
    launches: decided.reduce((sum, { launches }) => sum + launches, 0),
    decisions: decided.length,
    providerMs: PROVIDER_MS,
    tookMs: took,
    beyondMs: took - PROVIDER_MS,
    tickMs: control.evaluationIntervalMs,
    ticksBeyond: round((took - PROVIDER_MS) / control.evaluationIntervalMs, 2),
    realMs: round(performance.now() - startedMs, 0),
  };
}

/**
 * A fleet of about a hundred slices, each full with four pieces of work: simulated time per real
 * time. Work runs for `runHours` on average and is replaced as it ends.
 */
export async function measureSimulation(
  hours: number,
  runHours: number,
): Promise<Readonly<Record<string, unknown>>> {
  const control = createControl(5, 60);
  let ticks = 0;
  let sliceSum = 0;
  const fleet = new SimulatedFleet({
    seed: 1,
    control,
    store: createMemoryStore({ journalSizeMax: 16 * 2 ** 20 }),
    reportAgainMs: 30_000,
    watcher: {
      onTick: ({ slices }) => {
        ticks++;
        sliceSum += slices.length;
      },
    },
  });
  startArrivals(fleet, runHours * HOUR_MS);
  await fleet.run(2 * runHours * HOUR_MS); // fills up, and warms up
  const [cpuBefore, startedMs] = [process.cpuUsage(), performance.now()];
  ticks = sliceSum = 0;
  const finishedBefore = fleet.scheduler.finished.length;
  await fleet.run(hours * HOUR_MS);
  const tookMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  await fleet.stop();
  const simulatedS = hours * 3_600;
  return {
    runHours,
    simulatedHours: hours,
    slicesMean: round(sliceSum / ticks, 0),
    ticks,
    finished: fleet.scheduler.finished.length - finishedBefore,
    realS: round(tookMs / 1_000, 2),
    perRealSecond: round(simulatedS / (tookMs / 1_000), 0),
    perCpuSecond: round(simulatedS / ((user + system) / 1e6), 0),
  };
}

/** 400 pieces of work at a time on average, four to a node. */
function startArrivals(fleet: SimulatedFleet, runMeanMs: number): void {
  const random = forkRandom(1, 'arrivals');
  const forms = [2, 4, 4, 6].map(formOf);
  let count = 0;
  const arrive = (): void => {
    const form = must(forms[count % forms.length], 'a form');
    submit(fleet, `work-${count++}`, form, Math.round(runMeanMs * (0.5 + random())));
    fleet.clock.after((-Math.log(1 - random()) * runMeanMs) / 400, arrive);
  };
  arrive();
}

import type { Scenario } from '../config/scenario.ts';
import type { Group } from '../model/group.ts';
import { epochMs } from '../model/ids.ts';
import type { Solver } from '../ports/solver.ts';
import type { Store } from '../ports/store.ts';
import { hostileFaults } from '../providers/simulated/faults.ts';
import { SimulatedFleet } from './fleet.ts';
import { type Happening, startIncidents, startPreemptions } from './incidents.ts';
import { Recorder } from './recorder.ts';
import { type Sample, type SimulationReport, summarizeWaits } from './report.ts';
import { measureWorkBound } from './work-bound.ts';
import { startWorkload } from './workload.ts';

const HOUR_MS = 3_600_000;
/** Simulated time between two looks at whether to go on. */
const STEP_MS = 5 * 60_000;
/** Of hosts whose work goes on as before: a scheduler that said so every time would say nothing. */
const REPORT_AGAIN_MS = 60_000;

export interface RunOptions {
  readonly solver: Solver;
  /** Ends the run early, with a report of what was done until then. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  /** Given the journal of the run when it has ended. */
  readonly onRecorded?: (journal: RecordedJournal) => Promise<void>;
}

/** What the controller has recorded of its ticks. */
export type RecordedJournal = Pick<Store, 'readTicks' | 'readParts' | 'close'> & {
  readonly fleet: string;
};

/** How far a run has come. */
export interface Progress {
  readonly simulatedMs: number;
  readonly totalMs: number;
  readonly tookMs: number;
  readonly now: Sample | null;
}

/** Runs a scenario: the production controller on virtual time, over simulated clouds. */
export async function runScenario(
  scenario: Scenario,
  options: RunOptions,
): Promise<SimulationReport> {
  const startedMs = performance.now();
  const groups = joinGroups(scenario);
  const recorder = new Recorder(groups);
  const fleet = openFleet(scenario, recorder);
  const startAtMs = fleet.nowMs;
  const endMs = Math.round(scenario.hours * HOUR_MS);
  const happenings: Happening[] = [];
  startWorkload(fleet, scenario.workload, { seed: scenario.seed, endMs });
  startIncidents(fleet, scenario.events, (happening) => happenings.push(happening));
  startPreemptions(fleet, scenario.machines, scenario.seed);
  recorder.watch(fleet);
  for (;;) {
    const simulatedMs = fleet.clock.monotonicMs();
    const tookMs = performance.now() - startedMs;
    options.onProgress({
      simulatedMs,
      totalMs: endMs,
      tookMs,
      now: recorder.samples.at(-1) ?? null,
    });
    if (simulatedMs >= endMs || options.signal.aborted) break;
    await fleet.run(Math.min(STEP_MS, endMs - simulatedMs));
  }
  recorder.finish(fleet, epochMs(fleet.clock.monotonicMs()));
  const report = await summarize({ scenario, fleet, recorder, groups, happenings }, options.solver);
  await fleet.stop();
  await options.onRecorded?.({ ...fleet.store, fleet: scenario.config.fleet.name });
  const tookMs = performance.now() - startedMs;
  return { ...report, startAtMs, isComplete: report.simulatedMs >= endMs, tookMs };
}

/** Groups of all configurations that the scenario brings, each as it was first. */
function joinGroups({ config, events }: Scenario): readonly Group[] {
  const later = events.flatMap((event) => (event.kind === 'config' ? [event.control.fleet] : []));
  const groups = new Map<string, Group>();
  for (const group of [config.fleet, ...later].flatMap((fleet) => fleet.groups)) {
    const known = groups.get(group.name);
    // The most that it may ever be: the bound must hold for the whole run.
    groups.set(group.name, { ...(known ?? group), max: Math.max(known?.max ?? 0, group.max) });
  }
  return [...groups.values()];
}

function openFleet(scenario: Scenario, recorder: Recorder): SimulatedFleet {
  const { config, seed, startAtMs, machines, faults, events } = scenario;
  return new SimulatedFleet({
    seed,
    control: config.control,
    laterControls: events.flatMap((event) => (event.kind === 'config' ? [event.control] : [])),
    offers: machines,
    faults: {
      ...(faults.preset === 'hostile' ? hostileFaults : {}),
      ...Object.fromEntries(faults.own),
    },
    reportAgainMs: REPORT_AGAIN_MS,
    watcher: recorder,
    log: recorder,
    ...(startAtMs === null ? {} : { wallStartMs: startAtMs }),
  });
}

interface Ended {
  readonly scenario: Scenario;
  readonly fleet: SimulatedFleet;
  readonly recorder: Recorder;
  readonly groups: readonly Group[];
  readonly happenings: readonly Happening[];
}

async function summarize(
  { scenario, fleet, recorder, groups, happenings }: Ended,
  solver: Solver,
): Promise<Omit<SimulationReport, 'startAtMs' | 'isComplete' | 'tookMs'>> {
  const { scheduler } = fleet;
  const simulatedMs = fleet.clock.monotonicMs();
  const { samples, work } = recorder;
  const summaries = recorder.summarize(fleet);
  const costMicroUsd = summaries.reduce((sum, { costMicroUsd: own }) => sum + own, 0);
  const hours = simulatedMs / HOUR_MS;
  const peak = samples.reduce(
    (most, sample) => (sample.microUsdPerHour > most.microUsdPerHour ? sample : most),
    { microUsdPerHour: 0, atMs: fleet.nowMs },
  );
  const waiting = scheduler.waits(epochMs(simulatedMs));
  const counts = { finished: scheduler.finished.length, running: scheduler.runningCount };
  const pending = scheduler.pendingCount;
  return {
    fleet: scenario.config.fleet.name,
    strategy: scenario.config.fleet.strategy,
    seed: scenario.seed,
    simulatedMs,
    cost: {
      microUsd: costMicroUsd,
      peakMicroUsdPerHour: peak.microUsdPerHour,
      peakAtMs: peak.atMs,
      unpriced: groups.flatMap((one) => (one.priceMicroUsdPerHour === null ? [one.name] : [])),
    },
    bound: await measureWorkBound(solver, { groups, work, hours, costMicroUsd }),
    work: {
      arrived: counts.finished + counts.running + pending,
      ...counts,
      pending,
      restarts: recorder.restarts,
      lostMs: recorder.lostMs,
      skippedRows: scenario.workload.reduce(
        (sum, source) => sum + (source.kind === 'trace' ? source.skippedRows : 0),
        0,
      ),
    },
    waits: summarizeWaits(scheduler.startWaitsMs),
    stillWaiting: { count: waiting.length, longestMs: Math.max(0, ...waiting) },
    groups: summaries,
    refusals: recorder.refusals,
    drains: recorder.drains,
    cancels: recorder.cancels,
    losses: recorder.losses,
    deferredHours: recorder.deferredHours,
    reasons: recorder.reasons.finish(fleet.nowMs),
    samples,
    peakSlices: samples.reduce((most, { slices }) => Math.max(most, slices), 0),
    happenings,
    crashes: recorder.crashes,
    ticks: recorder.ticks,
  };
}

import { SAMPLES_PER_HOUR, toTimeline } from '../timeline.ts';
import type { SimulationReport } from '../../wiring.ts';
import { happeningText } from './simulation-words.ts';

const HOUR_MS = 3_600_000;
const usd = (microUsd: number): number => Number((microUsd / 1e6).toFixed(6));
const iso = (ms: number): string => new Date(ms).toISOString();

/** A simulation as data: money in US dollars, durations in ms, times in ISO 8601, ratios 0 to 1. */
export function toSimulationJson(report: SimulationReport, file: string): unknown {
  const { cost, bound, work, waits, stillWaiting, simulatedMs, tookMs } = report;
  const hours = simulatedMs / HOUR_MS;
  return {
    format: 'bellows-simulation/1',
    file,
    fleet: report.fleet,
    strategy: report.strategy,
    seed: report.seed,
    start: iso(report.startAtMs),
    hours,
    complete: report.isComplete,
    cost: {
      usd: usd(cost.microUsd),
      usdPerHourMean: hours === 0 ? 0 : usd(cost.microUsd / hours),
      usdPerHourMax: usd(cost.peakMicroUsdPerHour),
      maxAt: iso(cost.peakAtMs),
      unpriced: cost.unpriced,
    },
    bound:
      bound.kind === 'known'
        ? { kind: 'known', usd: usd(bound.boundMicroUsd), ratio: bound.ratio }
        : bound,
    work,
    waits,
    stillWaiting,
    slicesMax: report.peakSlices,
    groups: report.groups.map(({ costMicroUsd, ...group }) => {
      return { ...group, costUsd: usd(costMicroUsd) };
    }),
    refusals: Object.fromEntries(report.refusals),
    drains: Object.fromEntries(report.drains),
    cancels: Object.fromEntries(report.cancels),
    losses: Object.fromEntries(report.losses),
    deferredSliceHours: Object.fromEntries(report.deferredHours),
    reasons: report.reasons.map(({ fromMs, toMs, ...reason }) => {
      return { ...reason, from: iso(fromMs), to: iso(toMs) };
    }),
    timeline: toTimeline(report.samples.slice(0, -1), SAMPLES_PER_HOUR).map(
      ({ atMs, microUsdPerHour, ...means }) => {
        return { at: iso(atMs), ...means, usdPerHour: usd(microUsdPerHour) };
      },
    ),
    events: report.happenings.map((happening) => {
      const { atMs, event, hit } = happening;
      return { at: iso(atMs), kind: event.kind, hit, text: happeningText(happening) };
    }),
    crashes: report.crashes,
    ticks: report.ticks,
    tookMs: Math.round(tookMs),
    speed: Math.round(simulatedMs / Math.max(1, tookMs)),
  };
}

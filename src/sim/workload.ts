import type {
  RunTime,
  SyntheticSource,
  TraceSource,
  WorkShape,
  WorkSource,
} from '../config/scenario.ts';
import type { EntryForm } from '../model/demand.ts';
import { entryId } from '../model/ids.ts';
import { must, unreachable } from '../support/assert.ts';
import { forkRandom, type Random } from '../support/random.ts';
import type { SimulatedFleet } from './fleet.ts';

const HOUR_MS = 3_600_000;
const HOURS_PER_DAY = 24;
/** Of the normal distribution: 95 % lie below so many deviations. */
const P95_DEVIATIONS = 1.6448536269514722;

/** Lets work arrive from now until `endMs` of the clock. All chance comes from the seed. */
export function startWorkload(
  fleet: SimulatedFleet,
  sources: readonly WorkSource[],
  { seed, endMs }: { readonly seed: number; readonly endMs: number },
): void {
  for (const source of sources) {
    if (source.kind === 'trace') startTrace(fleet, source);
    else startSynthetic(fleet, source, { seed, endMs });
  }
}

interface Arriving {
  readonly form: EntryForm;
  readonly runMs: number;
  readonly priority: number;
  readonly owner: string | null;
}

/** Submits work under names of its source: `id-1`, `id-2` and so on. */
function createSubmit(fleet: SimulatedFleet, id: string): (work: Arriving) => void {
  let count = 0;
  return ({ form, runMs, priority, owner }) => {
    const name = entryId(`${id}-${++count}`);
    const standing = { priority, owner, submittedAtMs: fleet.nowMs, taskIds: [], invalid: null };
    fleet.submit({ entry: { id: name, count: 1, form, ...standing }, runMs });
  };
}

/** One timer at a time: a trace may have millions of rows. */
function startTrace(fleet: SimulatedFleet, { id, jobs }: TraceSource): void {
  const submit = createSubmit(fleet, id);
  let next = 0;
  const arrive = (): void => {
    const nowMs = fleet.clock.monotonicMs();
    for (;;) {
      const job = jobs[next];
      if (job === undefined) return;
      if (job.atMs > nowMs) {
        fleet.clock.after(job.atMs - nowMs, arrive);
        return;
      }
      submit(job);
      next++;
    }
  };
  arrive();
}

function startSynthetic(
  fleet: SimulatedFleet,
  source: SyntheticSource,
  { seed, endMs }: { readonly seed: number; readonly endMs: number },
): void {
  const { id, priority, owner } = source;
  const submit = createSubmit(fleet, id);
  const shapes = forkRandom(seed, `shape of ${id}`);
  const runTimes = forkRandom(seed, `run time of ${id}`);
  const arrive = (): void => {
    for (let n = 0; n < source.count; n++) {
      const shape = pickShape(source.shapes, shapes());
      const runMs = drawRunTime(shape.runTime, runTimes);
      submit({ form: shape.form, runMs, priority, owner });
    }
  };
  const toMs = Math.min(endMs, source.toMs ?? Infinity);
  arriveByChance(fleet, source, { toMs, random: forkRandom(seed, `arrivals of ${id}`), arrive });
  for (const { atMs, count, overMs, everyMs } of source.bursts) {
    for (let startMs = source.fromMs + atMs; startMs < toMs; startMs += everyMs ?? Infinity) {
      for (let n = 0; n < count; n++) {
        fleet.clock.after(startMs + Math.round((overMs * n) / count), arrive);
      }
    }
  }
}

/** A Poisson process whose rate follows the hour: drawn at the highest rate, then thinned. */
function arriveByChance(
  fleet: SimulatedFleet,
  { perHour, fromMs }: SyntheticSource,
  process: { readonly toMs: number; readonly random: Random; readonly arrive: () => void },
): void {
  const { toMs, random, arrive } = process;
  const most = Math.max(...perHour);
  if (most <= 0) return;
  const wait = (sinceMs: number): void => {
    const atMs = sinceMs + Math.round((-Math.log(1 - random()) / most) * HOUR_MS);
    if (atMs >= toMs) return;
    fleet.clock.after(atMs - fleet.clock.monotonicMs(), () => {
      const hour = Math.floor(fleet.nowMs / HOUR_MS) % HOURS_PER_DAY;
      if (random() * most < (perHour[hour] ?? 0)) arrive();
      wait(atMs);
    });
  };
  wait(fromMs);
}

function pickShape(shapes: readonly WorkShape[], random: number): WorkShape {
  let left = random * shapes.reduce((sum, { weight }) => sum + weight, 0);
  for (const shape of shapes) {
    left -= shape.weight;
    if (left < 0) return shape;
  }
  return must(shapes.at(-1), 'a source has a shape');
}

function drawRunTime(runTime: RunTime, random: Random): number {
  switch (runTime.kind) {
    case 'fixed':
      return runTime.ms;
    case 'even':
      return Math.round(runTime.fromMs + (runTime.toMs - runTime.fromMs) * random());
    case 'exponential':
      return Math.round(-Math.log(1 - random()) * runTime.meanMs);
    case 'log-normal': {
      const deviation = Math.log(runTime.p95Ms / runTime.medianMs) / P95_DEVIATIONS;
      return Math.round(runTime.medianMs * Math.exp(deviation * drawNormal(random)));
    }
    default:
      return unreachable(runTime);
  }
}

/** Box and Muller's way, one of its two numbers. */
const drawNormal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

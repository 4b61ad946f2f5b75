import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../src/support/random.ts';
import { openSolver } from '../src/wiring.ts';
import { cpuMs, findDataFolder, round } from './measure.ts';
import { workBound } from './replay-bound.ts';
import { replay, type ReplayOutcome } from './replay-engine.ts';
import { bellows, firstFit } from './replay-policies.ts';
import type { ReplayPolicyMaker } from './replay-policy.ts';
import { readReplayProblem, type ReplayProblem } from './replay-problems.ts';

// npm run bench -- replay [--data DIR] [--json] [--shifted N]

/** What is replayed, and how. */
export interface ReplayBench {
  readonly name: string;
  /** Of the problem files. */
  readonly files: RegExp;
  readonly read: (path: string) => ReplayProblem;
  readonly policies: readonly { readonly name: string; readonly make: ReplayPolicyMaker }[];
  /** A shifted copy moves each arrival by up to so much. */
  readonly shiftMaxMs: number;
}

/** Work that comes and goes: money, and how long it waits, beside the baseline. */
export async function benchReplay(args: readonly string[]): Promise<void> {
  await runReplays(
    {
      name: 'replay',
      files: /^replay-.*\.json$/,
      read: readReplayProblem,
      policies: [
        { name: 'first fit', make: firstFit },
        { name: 'bellows', make: bellows() },
      ],
      shiftMaxMs: 60_000,
    },
    args,
  );
}

interface Row {
  readonly problem: string;
  readonly policy: string;
  /** 0 for the trace as published; copies are numbered from 1. */
  readonly shifted: number;
  readonly cost: number;
  readonly bound: number;
  readonly ratio: number;
  /** Cost over that of the first policy on the same arrivals. */
  readonly ofBaseline: number;
  readonly meanS: number;
  readonly p95S: number;
  readonly p99S: number;
  readonly maxS: number;
  readonly launches: number;
  readonly gpuUse: number;
  readonly refused: number;
  /** Processor time of the whole replay. */
  readonly ms: number;
}

const columns: readonly (readonly [keyof Row, number])[] = [
  ['problem', 20],
  ['policy', 11],
  ['shifted', 9],
  ['cost', 9],
  ['bound', 9],
  ['ratio', 8],
  ['ofBaseline', 12],
  ['meanS', 8],
  ['p95S', 8],
  ['p99S', 8],
  ['maxS', 8],
  ['launches', 10],
  ['gpuUse', 8],
  ['refused', 9],
  ['ms', 7],
];

/** Runs every problem under every policy, as published and shifted, and prints the rows. */
export async function runReplays(bench: ReplayBench, args: readonly string[]): Promise<void> {
  const files = findProblems(bench.files, args);
  if (files.length === 0) {
    console.log(
      `${bench.name}: no problems. Point --data or BELLOWS_PROBLEMS at the folder that has`,
    );
    console.log('them in problems/. Nothing was measured.');
    return;
  }
  const isJson = args.includes('--json');
  const at = args.indexOf('--shifted');
  const copies = at < 0 ? 0 : Math.max(0, Math.floor(Number(args[at + 1]) || 0));
  if (!isJson) console.log(columns.map(([title, width]) => title.padStart(width)).join(''));
  for (const file of files) {
    const problem = bench.read(file);
    const bound = await workBound(openSolver(), problem);
    const rows = Array.from({ length: copies + 1 }, (_, n) => runCopy(bench, problem, bound, n));
    for (const row of rows.flat()) printRow(row, isJson);
    if (copies > 0 && !isJson) printMeans(rows.flat());
  }
}

function runCopy(
  bench: ReplayBench,
  problem: ReplayProblem,
  bound: number,
  shifted: number,
): Row[] {
  const copy = shifted === 0 ? problem : shiftArrivals(problem, shifted, bench.shiftMaxMs);
  const rows: Row[] = [];
  for (const { name, make } of bench.policies) {
    const outcomes: ReplayOutcome[] = [];
    const ms = cpuMs(() => outcomes.push(replay(copy, make)));
    for (const outcome of outcomes) {
      const cost = outcome.costMicroUsd;
      rows.push({
        problem: problem.name,
        policy: name,
        shifted,
        cost: round(cost / 1e6, 0),
        bound: round(bound / 1e6, 0),
        ratio: round(cost / bound, 3),
        ofBaseline: round(cost / 1e6 / (rows[0]?.cost ?? cost / 1e6), 3),
        ...waitsOf(outcome.waitsMs),
        launches: outcome.launchCount,
        gpuUse: round(outcome.deviceUseRatio, 3),
        refused: outcome.refusedCount,
        ms: round(ms, 0),
      });
    }
  }
  return rows;
}

/** `waitsMs` is sorted. */
function waitsOf(waitsMs: Float64Array): Pick<Row, 'meanS' | 'p95S' | 'p99S' | 'maxS'> {
  const at = (share: number): number => {
    const index = Math.min(waitsMs.length - 1, Math.floor(waitsMs.length * share));
    return round((waitsMs[index] ?? 0) / 1_000, 1);
  };
  const meanS = waitsMs.reduce((sum, wait) => sum + wait, 0) / 1_000 / Math.max(1, waitsMs.length);
  return { meanS: round(meanS, 1), p95S: at(0.95), p99S: at(0.99), maxS: at(1) };
}

/** One replay is chaotic: a copy with each arrival moved a little shows what is luck. */
function shiftArrivals(problem: ReplayProblem, seed: number, maxMs: number): ReplayProblem {
  const random = seededRandom(seed);
  const demands = problem.demands
    .map((demand) => ({ ...demand, arrivalMs: demand.arrivalMs + random() * maxMs }))
    .sort((a, b) => a.arrivalMs - b.arrivalMs);
  return { ...problem, demands };
}

function printRow(row: Row, isJson: boolean): void {
  if (isJson) console.log(JSON.stringify(row));
  else console.log(columns.map(([key, width]) => String(row[key]).padStart(width)).join(''));
}

function printMeans(rows: readonly Row[]): void {
  for (const policy of new Set(rows.map((row) => row.policy))) {
    const own = rows.filter((row) => row.policy === policy);
    const mean = (read: (row: Row) => number): number =>
      own.reduce((sum, row) => sum + read(row), 0) / own.length;
    const ratio = mean((row) => row.ratio).toFixed(3);
    const p95 = mean((row) => row.p95S).toFixed(0);
    console.log(`    ${policy}: mean of ${own.length} runs ${ratio}, p95 ${p95} s`);
  }
}

function findProblems(pattern: RegExp, args: readonly string[]): readonly string[] {
  const folder = findDataFolder(args);
  if (folder === null) return [];
  for (const candidate of [join(folder, 'problems'), join(folder, 'data', 'problems'), folder]) {
    const names = listNames(candidate).filter((name) => pattern.test(name));
    if (names.length > 0) return names.map((name) => join(candidate, name));
  }
  return [];
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return []; // not there: the caller looks elsewhere, and says so when nothing is found
  }
}

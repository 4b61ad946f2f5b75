import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UtilizationPlan } from '../src/policy/demand/utilization/outcome.ts';
import { planUtilization } from '../src/policy/demand/utilization/plan.ts';
import type { UtilizationProblem } from '../src/policy/demand/utilization/problem.ts';

/** A sized problem, with the processor time that the original took for it and its answer. */
interface BenchCase {
  readonly id: string;
  readonly given: UtilizationProblem & {
    readonly timing: { readonly cpuS: number; readonly capped: boolean };
  };
  /** Absent where the original was stopped at its cap. */
  readonly expect?: Pick<UtilizationPlan, 'launch' | 'terminate' | 'infeasible'>;
}

interface BenchRow {
  readonly problem: string;
  readonly rayCpuS: number;
  /** The original did not finish: its time is at least this. */
  readonly isCapped: boolean;
  readonly oursCpuMs: number;
  /** How many times faster; at least that where capped. */
  readonly ratio: number;
  readonly answer: 'equal' | 'different' | 'unknown';
  readonly launchedCount: number;
}

const FILE = 'utilization-bench.json';
const RUNS = 5;
/** Warm enough: by then the compiler, whose time would count as ours, has done most of its work. */
const WARM_UP_MS = 300;
/** A problem that takes longer than this is run once: its noise is small against its time. */
const SLOW_MS = 5_000;

/**
 * Times the utilization planner on sized problems, in processor time of the whole process (garbage
 * collection included), against the recorded times of the original. `--data DIR` says where the
 * problems are, `--json` prints one line of JSON per problem.
 */
export async function benchUtilization(args: readonly string[]): Promise<void> {
  const path = findData(args);
  if (path === null) {
    console.log(
      `utilization: no ${FILE} found. Point --data or BELLOWS_PROBLEMS at the folder that`,
    );
    console.log(`has it, or has it in oracles/. Nothing was measured.`);
    return;
  }
  // The file is written by our own tools; its shape is BenchCase.
  const { cases } = JSON.parse(readFileSync(path, 'utf8')) as { cases: readonly BenchCase[] };
  const isJson = args.includes('--json');
  if (!isJson) printHeader();
  for (const one of cases) {
    const row = measure(one);
    if (isJson) console.log(JSON.stringify(row));
    else printRow(row);
  }
}

function findData(args: readonly string[]): string | null {
  const at = args.indexOf('--data');
  const folder = at < 0 ? process.env['BELLOWS_PROBLEMS'] : args[at + 1];
  if (folder === undefined) return null;
  const paths = [join(folder, 'oracles', FILE), join(folder, FILE)];
  return paths.find((path) => existsSync(path)) ?? null;
}

function measure({ id, given, expect }: BenchCase): BenchRow {
  const plan = planUtilization(given);
  for (let warmUpMs = 0; warmUpMs < WARM_UP_MS;) warmUpMs += timeMs(given);
  const times: number[] = [];
  while (times.length < RUNS && (times[0] ?? 0) < SLOW_MS) times.push(timeMs(given));
  times.sort((a, b) => a - b);
  const oursCpuMs = times[Math.floor(times.length / 2)] ?? 0;
  const { cpuS, capped } = given.timing;
  return {
    problem: id,
    rayCpuS: cpuS,
    isCapped: capped,
    oursCpuMs,
    ratio: (cpuS * 1000) / oursCpuMs,
    answer: expect === undefined ? 'unknown' : isSame(expect, plan) ? 'equal' : 'different',
    launchedCount: plan.launched.length,
  };
}

function timeMs(problem: UtilizationProblem): number {
  const before = process.cpuUsage();
  planUtilization(problem);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Every key of `expected` has an equal value; numbers may differ by 1e-9. */
function isSame(expected: unknown, actual: unknown): boolean {
  if (typeof expected === 'number') {
    return typeof actual === 'number' && Math.abs(expected - actual) <= 1e-9;
  }
  if (typeof expected !== 'object' || expected === null) return expected === actual;
  if (typeof actual !== 'object' || actual === null) return false;
  if (Array.isArray(expected) && expected.length !== Object.keys(actual).length) return false;
  const found = new Map(Object.entries(actual));
  return Object.entries(expected).every(([key, value]) => isSame(value, found.get(key)));
}

const WIDTHS = [22, 11, 10, 9, 8, 9];

function printLine(cells: readonly string[]): void {
  const [first = '', ...others] = cells.map((cell, i) =>
    i === 0 ? cell.padEnd(WIDTHS[i] ?? 0) : cell.padStart(WIDTHS[i] ?? 0),
  );
  console.log([first, ...others].join('  '));
}

const printHeader = (): void =>
  printLine(['problem', 'Ray cpu s', 'ours ms', 'ratio', 'equal', 'launched']);

function printRow(row: BenchRow): void {
  const bound = row.isCapped ? '>' : '';
  const answers = { equal: 'yes', different: 'no', unknown: '–' };
  printLine([
    row.problem,
    `${bound}${row.rayCpuS.toFixed(3)}`,
    row.oursCpuMs.toFixed(1),
    `${bound}${row.ratio.toFixed(0)}x`,
    answers[row.answer],
    String(row.launchedCount),
  ]);
}

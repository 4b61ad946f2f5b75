import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measureBound } from '../src/controller/bound.ts';
import { strategies, type Strategy } from '../src/model/fleet.ts';
import type { Snapshot } from '../src/model/snapshot.ts';
import { decideDemand } from '../src/policy/demand/decide.ts';
import { openSolver } from '../src/wiring.ts';
import { cpuMs, findDataFolder, round, rssMiB, timeCpu } from './measure.ts';
import { type PackFile, readPackFile, toPlanFile } from './pack-problems.ts';
import { planOf, toSnapshot } from './pack-snapshot.ts';

// npm run bench -- pack [--json] [--strategy NAME] [--plan DIR] FILE...
// npm run bench -- pack --data DIR     the static problems of DIR/problems, growth and first call

interface Row {
  readonly problem: string;
  readonly demands: number;
  readonly shapes: number;
  readonly strategy: Strategy;
  readonly cost: number;
  readonly bound: number;
  readonly ratio: number;
  readonly unplaced: number;
  /** Processor time of one decision, median of 5 after warm-up. */
  readonly ms: number;
  readonly boundMs: number;
  readonly rssMiB: number;
}

const MICRO = 1_000_000;

export async function benchPack(args: readonly string[]): Promise<void> {
  const flags = parseFlags(args);
  const files = flags.files.length > 0 ? flags.files : findProblems(args);
  if (files.length === 0) {
    console.log(
      'pack: no problems. Name files (bellows-pack/1), or point --data or BELLOWS_PROBLEMS',
    );
    console.log('at the folder that has them in problems/. Nothing was measured.');
    return;
  }
  if (flags.first) {
    for (const file of files) printFirstCall(file);
    return;
  }
  if (!flags.json) console.log(columns.map(([title, width]) => title.padStart(width)).join(''));
  for (const file of files) {
    const problem = readPackFile(file);
    const row = await measure(problem, flags.strategy);
    if (flags.json) console.log(JSON.stringify(row));
    else console.log(columns.map(([key, width]) => String(row[key]).padStart(width)).join(''));
    if (flags.plan !== null) {
      mkdirSync(flags.plan, { recursive: true });
      const plan = JSON.stringify(toPlanFile(problem, planOf(toSnapshot(problem, 'cost'))));
      writeFileSync(join(flags.plan, `${problem.name}.json`), plan);
    }
  }
  if (flags.files.length === 0 && !flags.json) printMore(files, flags.strategy);
}

const columns: readonly (readonly [keyof Row, number])[] = [
  ['problem', 14],
  ['demands', 9],
  ['shapes', 8],
  ['cost', 12],
  ['bound', 12],
  ['ratio', 9],
  ['unplaced', 10],
  ['ms', 9],
  ['boundMs', 9],
  ['rssMiB', 8],
];

interface Flags {
  readonly json: boolean;
  readonly first: boolean;
  readonly strategy: Strategy;
  readonly plan: string | null;
  readonly files: readonly string[];
}

function parseFlags(args: readonly string[]): Flags {
  const valued = new Set(['--plan', '--strategy', '--data']);
  const valueOf = (flag: string): string | null => {
    const at = args.indexOf(flag);
    return at < 0 ? null : (args[at + 1] ?? null);
  };
  const files = args.filter((arg, at) => !arg.startsWith('--') && !valued.has(args[at - 1] ?? ''));
  return {
    json: args.includes('--json'),
    first: args.includes('--first'),
    strategy: strategies.find((name) => name === valueOf('--strategy')) ?? 'cost',
    plan: valueOf('--plan'),
    files,
  };
}

function findProblems(args: readonly string[]): readonly string[] {
  const folder = findDataFolder(args);
  if (folder === null) return [];
  for (const candidate of [join(folder, 'problems'), join(folder, 'data', 'problems'), folder]) {
    const names = listNames(candidate).filter((name) => /^(pack|multi|spec)-.*\.json$/.test(name));
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

async function measure(file: PackFile, strategy: Strategy): Promise<Row> {
  const snapshot = toSnapshot(file, strategy);
  const decision = decideDemand(snapshot);
  const { medianMs } = timeCpu(() => decideDemand(snapshot));
  const solver = openSolver();
  const before = process.cpuUsage();
  const bound = await measureBound(solver, snapshot, decision);
  const { user, system } = process.cpuUsage(before);
  const known = bound.kind === 'known' ? bound : { boundMicroUsdPerHour: NaN, ratio: NaN };
  return {
    problem: file.name,
    demands: countTasks(snapshot),
    shapes: snapshot.demand.length,
    strategy,
    cost: round(decision.costMicroUsdPerHour / MICRO, 4),
    bound: round(known.boundMicroUsdPerHour / MICRO, 4),
    ratio: round(known.ratio, 5),
    unplaced: decision.classes.reduce((sum, { unmetCount }) => sum + unmetCount, 0),
    ms: round(medianMs, 1),
    boundMs: round((user + system) / 1_000, 1),
    rssMiB: rssMiB(),
  };
}

const countTasks = ({ demand }: Snapshot): number =>
  demand.reduce((sum, { count }) => sum + count, 0);

/** Growth with tasks of the same shapes, and the first call in a fresh process. */
function printMore(files: readonly string[], strategy: Strategy): void {
  const base = files.find((file) => file.endsWith('pack-8k.json'));
  if (base === undefined) return;
  console.log('\nthe same shapes, more tasks      ms (processor time, median of 5)');
  for (const times of [1, 10, 100]) {
    const snapshot = toSnapshot(readPackFile(base), strategy, times);
    const { medianMs } = timeCpu(() => decideDemand(snapshot));
    console.log(
      `  ${String(countTasks(snapshot)).padStart(8)} tasks ${medianMs.toFixed(1).padStart(20)}`,
    );
  }
  console.log('\nfirst call in a fresh process     ms (processor time of the call)');
  for (const name of ['pack-8k.json', 'pack-80k.json', 'spec-8k.json']) {
    const file = files.find((candidate) => candidate.endsWith(name));
    if (file === undefined) continue;
    const args = [...process.execArgv, process.argv[1] ?? '', 'pack', '--first', file];
    process.stdout.write(spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout);
  }
}

function printFirstCall(file: string): void {
  const problem = readPackFile(file);
  const snapshot = toSnapshot(problem, 'cost');
  console.log(
    `  ${problem.name.padEnd(14)} ${cpuMs(() => decideDemand(snapshot))
      .toFixed(0)
      .padStart(14)}`,
  );
}

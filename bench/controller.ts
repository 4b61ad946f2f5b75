import { spawnSync } from 'node:child_process';
import { measureIdle } from './controller-idle.ts';
import { measureFullTick } from './controller-tick.ts';
import { measureLaunches, measureSimulation } from './controller-virtual.ts';

// npm run bench -- controller [--json] [--quick] [--only full-tick|idle|launches|sim|sim-busy]
// Each part runs in a process of its own: memory and compiled code of one are not the other's.

type Row = Readonly<Record<string, unknown>>;

const parts: Readonly<Record<string, (isQuick: boolean) => Promise<Row>>> = {
  'full-tick': (isQuick) => measureFullTick(isQuick ? 10 : 25),
  idle: (isQuick) => measureIdle(isQuick ? 15_000 : 60_000),
  launches: () => measureLaunches(),
  sim: (isQuick) => measureSimulation(isQuick ? 6 : 48, 2),
  'sim-busy': (isQuick) => measureSimulation(isQuick ? 6 : 24, 0.5),
};

export async function benchController(args: readonly string[]): Promise<void> {
  const at = args.indexOf('--only');
  const only = at < 0 ? null : (args[at + 1] ?? '');
  if (only !== null && parts[only] === undefined) {
    console.error(`controller: there is no "${only}"; there is ${Object.keys(parts).join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const part = parts[only ?? ''];
  if (only !== null && part !== undefined) {
    const row = { part: only, ...(await part(args.includes('--quick'))) };
    console.log(args.includes('--json') ? JSON.stringify(row) : describe(row));
    return;
  }
  const bundle = process.argv[1] ?? '';
  for (const name of Object.keys(parts)) {
    const child = [bundle, 'controller', ...args, '--only', name];
    const { status } = spawnSync(process.execPath, child, { stdio: 'inherit' });
    if (status !== 0) process.exitCode = 1;
  }
}

const describe = (row: Row): string =>
  Object.entries(row)
    .map(([key, value]) => `${key} ${String(value)}`)
    .join(', ');

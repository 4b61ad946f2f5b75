import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findHostProcesses } from '../test/crash/host-processes.ts';

// The built command as a user meets it: how soon it listens, how soon the first worker is there.

const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const ROUNDS = 7;
const HELP_ROUNDS = 21;

export async function benchService(): Promise<void> {
  console.log(`start, first worker: ${ROUNDS} rounds of \`bellows up\` on an empty data directory`);
  const listening: number[] = [];
  const ready: number[] = [];
  const memory: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const dataDir = mkdtempSync(join(tmpdir(), 'bellows-bench-'));
    const up = await start(dataDir);
    try {
      listening.push(up.listeningMs);
      ready.push(await measureFirstWorker(up.url));
      memory.push(up.residentMib());
    } finally {
      await up.kill();
      for (const { pid } of findHostProcesses(dataDir)) process.kill(pid, 'SIGKILL');
      rmSync(dataDir, { recursive: true, force: true });
    }
  }
  print('start to listening', listening, 500);
  print('demand pushed to first worker ready', ready, 1_500);
  console.log(`  resident with one worker: ${median(memory).toFixed(0)} MiB`);
  const bare = Array.from({ length: HELP_ROUNDS }, () => time(['-e', '0']));
  const help = Array.from({ length: HELP_ROUNDS }, () => time([main, '--help']));
  const over = help.map((ms, index) => ms - (bare[index] ?? 0));
  console.log(`\`bellows --help\`: ${HELP_ROUNDS} rounds, beside bare node in turn`);
  print('bare node', bare, null);
  print('bellows --help', help, null);
  print('difference', over, 60);
}

interface Up {
  readonly url: string;
  readonly listeningMs: number;
  residentMib(): number;
  kill(): Promise<void>;
}

async function start(dataDir: string): Promise<Up> {
  const startedMs = performance.now();
  const args = [main, 'up', '--data', dataDir, '--listen', '127.0.0.1:0'];
  const child: ChildProcess = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.on('exit', (code) => reject(new Error(`it ended with ${code}`)));
    child.stdout?.on('data', (data: Buffer) => {
      said += data.toString();
      const found = /listens on +(\S+)/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return {
    url,
    listeningMs: performance.now() - startedMs,
    residentMib() {
      const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', String(child.pid)]);
      return Number(stdout.toString()) / 1_024;
    },
    async kill() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function measureFirstWorker(url: string): Promise<number> {
  const call = async (method: string, body: object): Promise<{ totalCount?: number }> => {
    const reply = await fetch(`${url}/bellows.v1.AutoscalerService/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    // The cast: our own wire.
    return (await reply.json()) as { totalCount?: number };
  };
  const startedMs = performance.now();
  const entries = [{ id: 'a', single: { resources: { cpu: 1 } } }];
  await call('PushDemand', { source: 'bench', generation: 1, entries });
  while (((await call('ListSlices', { statuses: ['ready'] })).totalCount ?? 0) === 0) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return performance.now() - startedMs;
}

function time(args: readonly string[]): number {
  const startedMs = performance.now();
  spawnSync(process.execPath, args, { stdio: 'ignore' });
  return performance.now() - startedMs;
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

function print(what: string, values: readonly number[], bar: number | null): void {
  const sorted = [...values].sort((a, b) => a - b);
  const [least, most] = [sorted[0] ?? 0, sorted.at(-1) ?? 0];
  const against = bar === null ? '' : `, bar ${bar} ms`;
  console.log(
    `  ${what}: median ${median(values).toFixed(0)} ms (${least.toFixed(0)} to ${most.toFixed(0)})${against}`,
  );
}

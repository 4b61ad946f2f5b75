import { type ChildProcess, spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { findHostProcesses } from '../crash/host-processes.ts';
import { UpProcess, until, useDataDir } from './up-process.ts';

/** Runs a scheduler of the examples against a real `bellows up`, to its end; says what it printed. */
export async function runOwnScheduler(
  command: readonly [program: string, ...args: string[]],
): Promise<{ readonly lines: readonly string[]; readonly hostCountMax: number }> {
  const dataDir = useDataDir();
  const up = await UpProcess.start(dataDir);
  const [program, ...args] = command;
  const child: ChildProcess = spawn(program, args, {
    env: { ...process.env, BELLOWS_SERVER: await up.url() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout?.on('data', (data: Buffer) => (said += data.toString()));
  child.stderr?.on('data', (data: Buffer) => (said += data.toString()));
  let hostCountMax = 0;
  await until('all tasks are done', () => {
    const hosts = findHostProcesses(dataDir).filter(({ isHost }) => isHost);
    hostCountMax = Math.max(hostCountMax, hosts.length);
    return (said.match(/is done/g) ?? []).length >= 6;
  });
  // An operator's drain is obeyed like any other, and sooner.
  const { slices = [] } = await up.call<{ slices?: { id: string }[] }>('ListSlices', {});
  for (const { id } of slices) await up.call('DrainSlice', { sliceId: id, reason: 'test' });
  await until('no slice is left', () => said.includes('no slice is left'));
  await until('no process is left', () => findHostProcesses(dataDir).length === 0);
  return { lines: said.trimEnd().split('\n'), hostCountMax };
}

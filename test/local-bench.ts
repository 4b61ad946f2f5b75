import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { groupName, type SliceId, sliceId } from '../src/model/ids.ts';
import type { Machine } from '../src/model/machine.ts';
import type { LaunchOutcome, LaunchRequest, Provider } from '../src/ports/provider.ts';
import { groupByToken, type ProcessRow } from '../src/providers/local/process-table.ts';
import { readProcesses } from '../src/providers/local/processes.ts';
import { type LocalProviderOptions, openLocalProvider } from '../src/providers/local/provider.ts';
import { never } from './contract/provider-driver.ts';

/** A machine under load is slow; what takes longer than this hangs. */
const WITHIN_MS = 30_000;

export type Warning = readonly [event: string, fields: Readonly<Record<string, unknown>>];

/** A fleet of real processes in a folder of its own. Nothing of it outlives its test. */
export interface LocalBench {
  readonly dataDir: string;
  readonly provider: Provider;
  readonly warnings: readonly Warning[];
  /** A provider as the next life of the controller has it. */
  open(over?: Partial<LocalProviderOptions>): Provider;
  request(over?: Partial<LaunchRequest>): LaunchRequest;
  launch(request: LaunchRequest): Promise<LaunchOutcome>;
  list(): Promise<readonly Machine[]>;
  /** Looks again and again until the machines are as wanted. */
  until(isDone: (machines: readonly Machine[]) => boolean): Promise<readonly Machine[]>;
  end(...slices: readonly SliceId[]): Promise<void>;
  /** Living processes that carry the mark of a host in our folder. */
  processes(): Promise<readonly ProcessRow[]>;
  close(): Promise<void>;
}

export function openLocalBench(over: Partial<LocalProviderOptions> = {}): LocalBench {
  const dataDir = mkdtempSync(join(tmpdir(), 'bellows-local-'));
  const warnings: Warning[] = [];
  const opened: Provider[] = [];
  const log = {
    write(level: string, event: string, fields: Readonly<Record<string, unknown>>): void {
      if (level !== 'info') warnings.push([event, fields]);
    },
  };
  const basis = { fleet: 'test', dataDir, hostsMax: 64, env: {}, secretOf: () => undefined, log };
  const open = (more: Partial<LocalProviderOptions> = {}): Provider => {
    const provider = openLocalProvider({ ...basis, ...over, ...more });
    opened.push(provider);
    return provider;
  };
  const provider = open();
  let mintedCount = 0;
  const list = (): Promise<readonly Machine[]> => provider.list(never());
  const processes = (): Promise<readonly ProcessRow[]> => processesUnder(dataDir);
  const close = async (): Promise<void> => {
    for (const one of opened) await one.close();
    await poll(async () => {
      const left = await processes();
      for (const { pid } of left) kill(pid);
      return left.length === 0;
    });
    rmSync(dataDir, { recursive: true, force: true });
  };
  return {
    dataDir,
    provider,
    warnings,
    open,
    list,
    processes,
    close,
    request: (more = {}) => ({ ...aRequest(`s-${mintedCount++}`), ...more }),
    async launch(request) {
      const [outcome] = await provider.launch([request], never());
      if (outcome === undefined) throw new Error('no outcome');
      return outcome;
    },
    async until(isDone) {
      let machines: readonly Machine[] = [];
      await poll(
        async () => isDone((machines = await list())),
        () => JSON.stringify(machines),
      );
      return machines;
    },
    end: (...slices) => provider.terminate(slices, never()),
  };
}

/** Closed after the test, whatever became of it. */
export function useLocalBench(over: Partial<LocalProviderOptions> = {}): LocalBench {
  const bench = openLocalBench(over);
  onTestFinished(() => bench.close());
  return bench;
}

export const aRequest = (id: string): LaunchRequest => ({
  sliceId: sliceId(id),
  group: groupName('cpu'),
  hostCount: 1,
  host: { cpu: 1_000 },
  device: { type: 'cpu', variant: null },
  preemptible: false,
  attributes: {},
  launch: {},
  bootstrap: null,
});

export const aBootstrap = (
  script: string,
  over: Partial<NonNullable<LaunchRequest['bootstrap']>> = {},
): NonNullable<LaunchRequest['bootstrap']> => ({
  script,
  joinToken: null,
  attemptsMax: 1,
  timeoutMs: 20_000,
  ...over,
});

/** Asks again and again, until it is so or too late. */
export async function poll(
  isDone: () => boolean | Promise<boolean>,
  describe: () => string = () => 'still not so',
): Promise<void> {
  const deadlineMs = performance.now() + WITHIN_MS;
  while (!(await isDone())) {
    if (performance.now() > deadlineMs) throw new Error(`after ${WITHIN_MS} ms: ${describe()}`);
    await sleep(20);
  }
}

export async function processesUnder(dataDir: string): Promise<readonly ProcessRow[]> {
  const rows = await readProcesses();
  const isHere = ({ hostDir }: ProcessRow): boolean => hostDir?.startsWith(`${dataDir}/`) === true;
  const tokens = new Set(rows.filter(isHere).map(({ token }) => token));
  return [...groupByToken(rows)].filter(([token]) => tokens.has(token)).flatMap(([, ours]) => ours);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Ended by itself.
  }
}

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { groupName, sliceId } from '../src/model/ids.ts';
import type { Log } from '../src/ports/log.ts';
import { type LaunchRequest, type Provider, ProviderError } from '../src/ports/provider.ts';
import {
  type ExternalProviderOptions,
  openExternalProvider,
} from '../src/providers/external/provider.ts';

// A fleet whose machines come from a few words of JavaScript: for the tests of the external provider.

/** Where the programs of one test file run. */
export const folder = mkdtempSync(join(tmpdir(), 'bellows-external-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

export const SECRET = 'hush-"quoted"-token';
export type Line = Parameters<Log['write']>;

export interface ProgramBench {
  readonly provider: Provider;
  readonly lines: readonly Line[];
  readonly eventsOf: (event: string) => readonly Line[];
}

/** A provider whose program is `code`, and what it wrote into the log. */
export function openWith(code: string, over: Partial<ExternalProviderOptions> = {}): ProgramBench {
  const lines: Line[] = [];
  const provider = openExternalProvider({
    name: 'mine',
    fleet: 'research',
    command: [process.execPath, '-e', code],
    cwd: folder,
    outputMaxBytes: 100_000,
    env: {},
    secretOf: (name) => (name === 'JOIN' ? SECRET : undefined),
    log: { write: (...line) => void lines.push(line) },
    ...over,
  });
  onTestFinished(() => provider.close());
  return { provider, lines, eventsOf: (event) => lines.filter((line) => line[1] === event) };
}

export const aRequest = (id: string, over: Partial<LaunchRequest> = {}): LaunchRequest => ({
  sliceId: sliceId(id),
  group: groupName('l4'),
  hostCount: 2,
  host: { cpu: 16_000, gpu: 500, memory: 64 * 2 ** 30 },
  device: { type: 'gpu', variant: 'L4' },
  preemptible: true,
  attributes: { zone: 'a' },
  launch: { image: 'debian' },
  bootstrap: null,
  ...over,
});
export const bootstrap = { script: 'join', joinToken: 'JOIN', attemptsMax: 3, timeoutMs: 60_000 };

export async function errorOf(call: Promise<unknown>): Promise<ProviderError> {
  const error: unknown = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof ProviderError) return error;
  throw new Error('no ProviderError', { cause: error });
}

/** A process that is dead and not yet reaped by its parent does no harm. */
export function isAlive(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ');
  } catch {
    return false; // it went between the two looks
  }
}

export async function until<T>(look: () => T | undefined | false): Promise<T> {
  const deadlineMs = Date.now() + 20_000;
  for (;;) {
    const seen = look();
    if (seen !== undefined && seen !== false) return seen;
    if (Date.now() > deadlineMs) throw new Error('it did not come');
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
}

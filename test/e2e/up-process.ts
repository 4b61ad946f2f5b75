import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { findHostProcesses } from '../crash/host-processes.ts';
import { main, root } from './cli.ts';

/** Polling in tests: often enough to be quick, long enough for a loaded machine. */
const LOOK_MS = 25;
export const PATIENCE_MS = 30_000;

/** Looks again and again until there is an answer. */
export async function until<T>(what: string, look: () => T | Promise<T>): Promise<NonNullable<T>> {
  const endMs = Date.now() + PATIENCE_MS;
  for (;;) {
    const seen = await look();
    if (seen !== null && seen !== undefined && seen !== false) return seen;
    if (Date.now() > endMs) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** A data directory for one test; what still runs below it is ended afterwards. */
export function useDataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bellows-up-'));
  onTestFinished(() => endHosts(folder));
  return folder;
}

/** A `bellows up` for all tests of a block. */
export function useServer(): { readonly url: string } {
  const dataDir = mkdtempSync(join(tmpdir(), 'bellows-up-'));
  let up: UpProcess | null = null;
  const server = { url: '' };
  beforeAll(async () => {
    up = new UpProcess(['--data', dataDir, '--listen', '127.0.0.1:0']);
    server.url = await up.url();
  });
  afterAll(async () => {
    await up?.kill();
    endHosts(dataDir);
  });
  return server;
}

function endHosts(dataDir: string): void {
  for (const { pid } of findHostProcesses(dataDir)) process.kill(pid, 'SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
}

/** A running `bellows up`. */
export class UpProcess {
  stdout = '';
  stderr = '';
  readonly #child: ChildProcess;

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(process.execPath, [main, 'up', ...args], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.on('data', (data: Buffer) => (this.stdout += data.toString()));
    this.#child.stderr?.on('data', (data: Buffer) => (this.stderr += data.toString()));
  }

  /** Starts one on a free port, and waits until it listens. */
  static async start(dataDir: string, ...args: readonly string[]): Promise<UpProcess> {
    const up = UpProcess.run('--data', dataDir, '--listen', '127.0.0.1:0', ...args);
    await up.url();
    return up;
  }

  /** Runs one; it is ended with the test. */
  static run(...args: readonly string[]): UpProcess {
    const up = new UpProcess(args);
    onTestFinished(() => up.kill());
    return up;
  }

  url(): Promise<string> {
    return until(`it listens; it says ${this.stdout} ${this.stderr}`, () => {
      if (this.exitCode !== null) throw new Error(`it ended: ${this.stderr}`);
      return /listens on +(\S+)/.exec(this.stdout)?.[1];
    });
  }

  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  /** Waits for its end, and says its exit code. */
  async ended(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      await once(this.#child, 'exit');
    }
    return this.#child.exitCode;
  }

  /** What its log says of an event. */
  said(event: string): readonly Readonly<Record<string, unknown>>[] {
    return this.stderr.split('\n').flatMap((line) => {
      if (!line.includes(`"event":"${event}"`)) return [];
      // The cast: our own log, one JSON object a line.
      return [JSON.parse(line) as Readonly<Record<string, unknown>>];
    });
  }

  async call<T>(method: string, body: object): Promise<T> {
    const reply = await fetch(`${await this.url()}/bellows.v1.AutoscalerService/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer: unknown = await reply.json();
    if (!reply.ok) throw new Error(JSON.stringify(answer));
    // The cast: the caller knows what the method answers.
    return answer as T;
  }
}

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';

// The built command as a user runs it: a process with streams and an exit code.

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const main = join(root, 'dist/cli/main.js');
/** Nothing we run may take longer; what does is killed and fails. */
const TIMEOUT_MS = 10_000;

export interface Run {
  /** Null when it was killed, for want of an end. */
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  readonly input?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs `bellows ARGS` and waits for its end. */
export function bellows(args: readonly string[], options: RunOptions = {}): Run {
  return execute(process.execPath, [main, ...args], options);
}

/** Runs a line of shell. */
export const shell = (line: string): Run => execute('/bin/sh', ['-c', line], {});

function execute(command: string, args: readonly string[], options: RunOptions): Run {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: options.cwd ?? root,
    encoding: 'utf8',
    env: { ...process.env, ...options.env },
    input: options.input ?? '',
    maxBuffer: 64 * 1_024 * 1_024,
    timeout: TIMEOUT_MS,
  });
  return { exit: status, stdout, stderr };
}

/** A folder of files for one test file, gone after it; fails early where there is no build. */
export function useFolder(): (name: string, content: string | Uint8Array) => string {
  const folder = mkdtempSync(join(tmpdir(), 'bellows-e2e-'));
  beforeAll(() => {
    if (!existsSync(main)) throw new Error(`${main} is missing: run \`npm run build\` first`);
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  return (name, content) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
}

export const lines = (text: string): readonly string[] => text.trimEnd().split('\n');

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bootstrap } from '../../model/bootstrap.ts';
import { unreachable } from '../../support/assert.ts';
import { type HostLog, LineCutter } from './host-log.ts';
import { SCRIPT_FILE } from './layout.ts';
import { FAILURE_LENGTH_MAX } from './records.ts';

const PAUSE_MS = 1_000;
/** After a failed run, for the last of its output. What it left running may hold the pipe for ever. */
const LAST_WORDS_MS = 200;
/** Longer waits do not fit into a timer. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export interface BootstrapSetting {
  readonly hostDir: string;
  readonly bootstrap: Bootstrap;
  readonly log: HostLog;
  /** Ends all that the last run left, however it hides. */
  readonly endLeftovers: () => Promise<void>;
  /** Aborts when the host is told to end: nothing is begun then. */
  readonly signal: AbortSignal;
}

/** How one run went. */
type Run =
  | { readonly kind: 'done' }
  | { readonly kind: 'exited'; readonly code: number; readonly lastLine: string }
  | { readonly kind: 'killed'; readonly signal: string; readonly lastLine: string }
  | { readonly kind: 'timed-out'; readonly lastLine: string }
  | { readonly kind: 'not-started'; readonly detail: string };

/**
 * Runs the script until it ends with 0, at most `attemptsMax` times. Null when it did; else why the
 * host is given up. What a good run left in the background stays.
 */
export async function runBootstrap(setting: BootstrapSetting): Promise<string | null> {
  const { bootstrap, log, endLeftovers, signal } = setting;
  const { attemptsMax } = bootstrap;
  // A file, not an argument: every user of the machine can read the arguments of a process.
  writeFileSync(join(setting.hostDir, SCRIPT_FILE), bootstrap.script, { mode: 0o600 });
  for (let attempt = 1; ; attempt++) {
    log.note(`bootstrap, attempt ${attempt} of ${attemptsMax}`);
    const run = await runOnce(setting, attempt);
    if (run.kind === 'done') return null;
    const how = describeRun(run, bootstrap.timeoutMs);
    log.note(`bootstrap failed: ${how}`);
    await endLeftovers();
    if (attempt === attemptsMax) return cut(`after ${countAttempts(attempt)}: ${how}`);
    await sleep(PAUSE_MS);
    if (signal.aborted) return 'told to end';
  }
}

function runOnce({ hostDir, bootstrap, log }: BootstrapSetting, attempt: number): Promise<Run> {
  const child = spawn('sh', [`./${SCRIPT_FILE}`], {
    cwd: hostDir,
    env: { ...process.env, BELLOWS_ATTEMPT: String(attempt) },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let lastLine = '';
  const cutters = [child.stdout, child.stderr].map((stream) => {
    const cutter = new LineCutter((line) => {
      const written = log.write(line).trim();
      if (written !== '') lastLine = written;
    });
    stream.on('data', (chunk: Buffer) => cutter.push(chunk));
    return cutter;
  });
  return new Promise((resolve) => {
    const finish = (toRun: () => Run): void => {
      clearTimeout(timer);
      for (const cutter of cutters) cutter.flush();
      resolve(toRun());
    };
    const timer = setTimeout(
      () => finish(() => ({ kind: 'timed-out', lastLine })),
      Math.min(bootstrap.timeoutMs, TIMER_MS_MAX),
    );
    child.once('error', ({ message }) => finish(() => ({ kind: 'not-started', detail: message })));
    child.once('exit', (code, signal) => {
      if (code === 0) return finish(() => ({ kind: 'done' }));
      const toRun = (): Run =>
        code === null
          ? { kind: 'killed', signal: signal ?? 'a signal', lastLine }
          : { kind: 'exited', code, lastLine };
      const lastWords = setTimeout(() => finish(toRun), LAST_WORDS_MS);
      child.once('close', () => {
        clearTimeout(lastWords);
        finish(toRun);
      });
      return undefined;
    });
  });
}

function describeRun(run: Exclude<Run, { kind: 'done' }>, timeoutMs: number): string {
  switch (run.kind) {
    case 'exited':
      return `exit code ${run.code}${lastWords(run.lastLine)}`;
    case 'killed':
      return `killed by ${run.signal}${lastWords(run.lastLine)}`;
    case 'timed-out':
      return `not done within ${timeoutMs} ms${lastWords(run.lastLine)}`;
    case 'not-started':
      return `sh could not be started: ${run.detail}`;
    default:
      return unreachable(run);
  }
}

const countAttempts = (count: number): string => (count === 1 ? '1 attempt' : `${count} attempts`);
const lastWords = (line: string): string => (line === '' ? ', without a word' : `: ${line}`);

const cut = (text: string): string =>
  text.length <= FAILURE_LENGTH_MAX ? text : `${text.slice(0, FAILURE_LENGTH_MAX - 1)}…`;

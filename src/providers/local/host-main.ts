import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runBootstrap } from './host-bootstrap.ts';
import { HostLog } from './host-log.ts';
import { HOST_FILE, LOG_FILE, STATE_FILE, surroundingsOf } from './layout.ts';
import { groupByToken, type ProcessRow } from './process-table.ts';
import {
  HOST_DIR_VARIABLE,
  readBootId,
  readProcesses,
  readStat,
  signalProcess,
  TOKEN_VARIABLE,
} from './processes.ts';
import {
  type HostRecord,
  type HostState,
  hostToken,
  type Intent,
  parseIntent,
  toText,
} from './records.ts';

// The program that a host is. It claims its folder, runs the bootstrap, and stays until it is told to
// end. It needs nobody: the controller that started it may die, and another take over.

/** For what runs on the host to end by itself; less than the provider's, which ends the host too. */
const GRACE_MS = 4_000;
const GIVE_UP_MS = 2 * GRACE_MS;
/** Between two looks whether the processes have ended. */
const LOOK_MS = 25;
/** Between two looks whether the slice was released, or its folder removed, with nobody to say so. */
const WATCH_MS = 2_000;

const hostDir = process.env[HOST_DIR_VARIABLE];
const token = process.env[TOKEN_VARIABLE];
if (hostDir === undefined || token === undefined) {
  process.stderr.write('This program is started by the local provider of Bellows, not by hand.\n');
  process.exit(2);
}
await live(hostDir, token);

async function live(hostDir: string, token: string): Promise<void> {
  const { intentFile, endedFile } = surroundingsOf(hostDir);
  // Before the claim: from then on somebody may tell us to end.
  const end = new AbortController();
  const told = new Promise<null>((resolve) => {
    end.signal.addEventListener('abort', () => resolve(null));
  });
  const endNow = (): void => end.abort();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, endNow);
  process.on('SIGHUP', () => undefined);

  const intent = claim(hostDir, intentFile, token);
  // Who releases a slice writes first and looks for processes then. So either our claim was there
  // to be found, or what was written is here to be read.
  if (intent === null || existsSync(endedFile)) process.exit(0);

  const log = new HostLog(join(hostDir, LOG_FILE), [process.env['BELLOWS_JOIN_TOKEN'] ?? '']);
  log.note(`host ${process.env['BELLOWS_HOST_INDEX']} of slice ${process.env['BELLOWS_SLICE']}`);
  const state = keepState(hostDir, log);
  const watch = setInterval(() => {
    state.writeAgain();
    if (existsSync(endedFile) || !existsSync(join(hostDir, HOST_FILE))) endNow();
  }, WATCH_MS);

  const givenUp = prepare({ hostDir, token, intent, log, state, signal: end.signal });
  const failure = await Promise.race([told, givenUp]);
  clearInterval(watch);
  await endOthers(token);
  if (failure === null) log.note('ended as told');
  else log.note(`given up ${failure}`);
  state.set(failure === null ? { kind: 'ended' } : { kind: 'failed', failure });
  process.exit(failure === null ? 0 : 1);
}

interface Preparation {
  readonly hostDir: string;
  readonly token: string;
  readonly intent: Intent;
  readonly log: HostLog;
  readonly state: { set(state: HostState): void };
  /** Aborts when the host is told to end. */
  readonly signal: AbortSignal;
}

/** Resolves only when the host is given up, with the reason. */
async function prepare(preparation: Preparation): Promise<string> {
  const { hostDir, token, intent, log, state, signal } = preparation;
  const { bootstrap } = intent;
  if (bootstrap !== null) {
    state.set({ kind: 'running' });
    const endLeftovers = (): Promise<void> => endOthers(token);
    const setting = { hostDir, bootstrap, log, endLeftovers, signal };
    const failure = await runBootstrap(setting).catch((error) => `it cannot be run: ${error}`);
    if (failure !== null) return failure;
  }
  log.note('ready');
  state.set({ kind: 'ready' });
  return new Promise(() => undefined);
}

/**
 * Makes this process the host, once and for all: the record comes into being whole, under a name that
 * only one can take. Null when another has it, or when the slice is gone.
 */
function claim(hostDir: string, intentFile: string, token: string): Intent | null {
  const draft = join(hostDir, `${HOST_FILE}.${process.pid}`);
  try {
    const intent = parseIntent(readFileSync(intentFile, 'utf8'));
    if (intent === null || hostToken(intent, Number(basename(hostDir))) !== token) return null;
    writeFileSync(draft, toText(identify(intent, token)), { mode: 0o600 });
    linkSync(draft, join(hostDir, HOST_FILE));
    return intent;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'EEXIST' || code === 'ENOENT') return null;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function identify({ group }: Intent, token: string): HostRecord {
  const [stat, bootId] = [readStat(process.pid), readBootId()];
  if (stat === null || bootId === null) throw new Error('/proc does not show this process');
  return { token, group, pid: process.pid, startTicks: stat.startTicks, bootId };
}

/** The state, in its file. What a full disk refuses is written later. */
function keepState(
  hostDir: string,
  log: HostLog,
): { set(state: HostState): void; writeAgain(): void } {
  let unwritten: HostState | null = null;
  const write = (): void => {
    if (unwritten === null) return;
    try {
      const draft = join(hostDir, `${STATE_FILE}.draft`);
      writeFileSync(draft, toText(unwritten), { mode: 0o600 });
      renameSync(draft, join(hostDir, STATE_FILE));
      unwritten = null;
    } catch (error) {
      log.note(`cannot write the state, will try again: ${String(error)}`);
    }
  };
  return {
    set(state) {
      unwritten = state;
      write();
    },
    writeAgain: write,
  };
}

/** Ends everything of this host but itself: asked first, made to after the grace. */
async function endOthers(token: string): Promise<void> {
  const beganMs = performance.now();
  const asked = new Set<string>();
  // Twice none: one that forks while we look may be missed once. What even a kill does not end hangs
  // in the kernel; whoever released the slice goes on with it.
  for (let emptyCount = 0; emptyCount < 2 && performance.now() - beganMs < GIVE_UP_MS;) {
    const others = await findOthers(token);
    emptyCount = others.length === 0 ? emptyCount + 1 : 0;
    const isOverdue = performance.now() - beganMs > GRACE_MS;
    for (const row of others) {
      const name = `${row.pid} ${row.startTicks}`;
      if (isOverdue) signalProcess(row, 'SIGKILL');
      else if (!asked.has(name)) signalProcess(row, 'SIGTERM');
      asked.add(name);
    }
    if (emptyCount < 2) await sleep(LOOK_MS);
  }
}

async function findOthers(token: string): Promise<readonly ProcessRow[]> {
  const ours = groupByToken(await readProcesses()).get(token) ?? [];
  return ours.filter(({ pid }) => pid !== process.pid);
}

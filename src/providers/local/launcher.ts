import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Refusal } from '../../model/refusal.ts';
import { ProviderError } from '../../ports/provider.ts';
import { toRefusal } from './errors.ts';
import type { FleetDirectory } from './fleet-directory.ts';
import { findHostFile } from './host-file.ts';
import { LOG_FILE } from './layout.ts';
import { HOST_DIR_VARIABLE, TOKEN_VARIABLE } from './processes.ts';
import type { Reaper } from './reaper.ts';
import { hostToken, type Intent } from './records.ts';
import { findMissingSecret } from './request.ts';

/** A host does almost nothing itself: little heap, no threads to compile with. */
const NODE_FLAGS = ['--max-old-space-size=32', '--max-semi-space-size=1', '--v8-pool-size=0'];
/** Of ours, what every program may need. All the rest stays here: it may hold secrets of others. */
const INHERITED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'TZ', 'LANG', 'LC_ALL'];
const LOOK_MS = 5;
const CLAIM_WITHIN_MS = 30_000;
/** Longer than an ending takes that goes as it should. */
const END_WITHIN_MS = 15_000;

export interface LaunchSetting {
  readonly fleet: string;
  readonly directory: FleetDirectory;
  readonly reaper: Reaper;
  readonly env: Readonly<Record<string, string>>;
  readonly secretOf: (name: string) => string | undefined;
}

interface Launch {
  readonly slice: string;
  readonly intent: Intent;
  readonly signal: AbortSignal;
}

/** How a host that was started fares, before it has made its claim. */
interface Start {
  readonly hostIndex: number;
  /** Set once it is known that no claim will come of it. */
  failure: Refusal | null;
}

/**
 * Starts the hosts of a slice whose intent is written, as far as they have not started yet. Null when
 * each has claimed its folder; else why there is none, and then there is none.
 */
export async function startHosts(setting: LaunchSetting, launch: Launch): Promise<Refusal | null> {
  const { directory } = setting;
  const { slice, intent } = launch;
  const starts: Start[] = [];
  for (let hostIndex = 0; hostIndex < intent.hostCount; hostIndex++) {
    if (await directory.isClaimed(slice, hostIndex)) continue;
    launch.signal.throwIfAborted();
    const start = await startHost(setting, launch, hostIndex);
    starts.push(start);
    if (start.failure !== null) break;
  }
  const failure = await waitForClaims(setting, launch, starts);
  if (failure !== null) await giveUp(setting, slice);
  return failure;
}

async function waitForClaims(
  { directory }: LaunchSetting,
  { slice, signal }: Launch,
  starts: readonly Start[],
): Promise<Refusal | null> {
  const deadlineMs = performance.now() + CLAIM_WITHIN_MS;
  let waiting = starts;
  for (;;) {
    if (await directory.isEnded(slice)) return released(slice);
    // Read before the claims are looked for: a claim made by who has ended since counts.
    const failure = waiting.find((start) => start.failure !== null)?.failure ?? null;
    const claims = await Promise.all(
      waiting.map(({ hostIndex }) => directory.isClaimed(slice, hostIndex)),
    );
    waiting = waiting.filter((_, place) => claims[place] === false);
    if (waiting.length === 0) return null;
    if (failure !== null) return withLastWords(directory, slice, waiting, failure);
    if (performance.now() > deadlineMs) {
      const which = waiting.map(({ hostIndex }) => hostIndex).join(', ');
      const detail = `no sign of host ${which} within ${CLAIM_WITHIN_MS / 1_000} s; is the machine overloaded?`;
      return { kind: 'unknown', detail };
    }
    await sleep(LOOK_MS);
    signal.throwIfAborted();
  }
}

/** For a slice that was released: its id is not used again. */
export const released = (slice: string): Refusal => ({
  kind: 'unknown',
  detail: `slice ${slice} was released`,
});

async function withLastWords(
  directory: FleetDirectory,
  slice: string,
  waiting: readonly Start[],
  failure: Refusal,
): Promise<Refusal> {
  const failed = waiting.find((start) => start.failure === failure);
  const line = failed === undefined ? null : await directory.lastLine(slice, failed.hostIndex);
  return line === null ? failure : { ...failure, detail: `${failure.detail}: ${line}` };
}

/** All hosts or none: what has started is ended before the launch is refused. */
export async function giveUp(
  { directory, reaper }: Pick<LaunchSetting, 'directory' | 'reaper'>,
  slice: string,
): Promise<void> {
  await directory.markEnded(slice);
  const timer = new AbortController();
  const isEnded = await Promise.race([
    reaper.end(slice).then(() => true),
    sleep(END_WITHIN_MS, false, { signal: timer.signal, ref: false }).catch(() => false),
  ]);
  timer.abort();
  if (isEnded) return;
  throw new ProviderError('timeout', `hosts of slice ${slice} were told to end and have not yet`);
}

async function startHost(
  setting: LaunchSetting,
  { slice, intent }: Launch,
  hostIndex: number,
): Promise<Start> {
  const start: Start = { hostIndex, failure: null };
  const doing = `cannot start host ${hostIndex}`;
  const hostDir = setting.directory.hostDir(slice, hostIndex);
  const refuse = (error: unknown): void => {
    start.failure ??= toRefusal(error, doing);
  };
  // The slice may be an old one, and its secret gone since.
  start.failure = findMissingSecret(intent.bootstrap, setting.secretOf);
  if (start.failure !== null) return start;
  try {
    const child = spawnHost({
      hostFile: await findHostFile(),
      title: `${setting.fleet}/${slice}/${hostIndex}`,
      hostDir,
      env: environmentOf(setting, { slice, intent, hostIndex, hostDir }),
    });
    child.once('error', refuse);
    child.once('exit', (code, signal) => {
      const detail = `${doing}: it ended at once (${signal ?? `exit code ${code}`})`;
      start.failure ??= { kind: 'unknown', detail };
    });
    child.unref();
  } catch (error) {
    refuse(error);
  }
  return start;
}

function spawnHost(host: {
  readonly hostFile: string;
  readonly title: string;
  readonly hostDir: string;
  readonly env: Readonly<Record<string, string>>;
}): ChildProcess {
  // No pipe to us: the host must not notice when we die.
  const log = openSync(join(host.hostDir, LOG_FILE), 'a', 0o600);
  try {
    return spawn(process.execPath, [...NODE_FLAGS, host.hostFile, host.title], {
      cwd: host.hostDir,
      env: host.env,
      detached: true,
      stdio: ['ignore', log, log],
    });
  } finally {
    closeSync(log);
  }
}

function environmentOf(
  { fleet, env, secretOf }: LaunchSetting,
  host: {
    readonly slice: string;
    readonly intent: Intent;
    readonly hostIndex: number;
    readonly hostDir: string;
  },
): Record<string, string> {
  const { slice, intent, hostIndex, hostDir } = host;
  const inherited = INHERITED.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const joinToken = intent.bootstrap?.joinToken ?? null;
  const secret = joinToken === null ? undefined : secretOf(joinToken);
  return {
    ...Object.fromEntries(inherited),
    ...env,
    BELLOWS_FLEET: fleet,
    BELLOWS_SLICE: slice,
    BELLOWS_GROUP: intent.group,
    BELLOWS_HOST_INDEX: String(hostIndex),
    BELLOWS_HOST_COUNT: String(intent.hostCount),
    [HOST_DIR_VARIABLE]: hostDir,
    [TOKEN_VARIABLE]: hostToken(intent, hostIndex),
    ...(secret === undefined ? {} : { BELLOWS_JOIN_TOKEN: secret }),
  };
}

import type { Bootstrap } from '../../model/bootstrap.ts';
import { type GroupName, groupName } from '../../model/ids.ts';

// What is written into the folders, and read back. Written by hand and without a schema library: the
// program of a host reads these too, and must start in no time and hold little memory.

/** What was asked for, written before anything is started. */
export interface Intent {
  /** Drawn at random; what is made of it marks the processes of each host. */
  readonly token: string;
  readonly group: GroupName;
  readonly hostCount: number;
  readonly bootstrap: Bootstrap | null;
}

/** In the environment of every process of a host: by it they are known for ours. */
export const hostToken = ({ token }: Pick<Intent, 'token'>, hostIndex: number): string =>
  `${token}-${hostIndex}`;

/** Which process a host is. Its file is the claim on the folder too: made once, never changed. */
export interface HostRecord {
  /** The host's own, as `hostToken` makes it. */
  readonly token: string;
  readonly group: GroupName;
  readonly pid: number;
  /** Field 22 of /proc/PID/stat. With the boot, it tells two processes of the same pid apart. */
  readonly startTicks: string;
  readonly bootId: string;
}

/** How far a host is; none written: it has just begun. */
export type HostState =
  | { readonly kind: 'running' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly failure: string }
  /** It was told to end, and did. */
  | { readonly kind: 'ended' };

/** Of a failure, in a list: what does not fit on a line is in the log. */
export const FAILURE_LENGTH_MAX = 300;
const HOSTS_MAX = 10_000;

export const toText = (record: Intent | HostRecord | HostState): string =>
  `${JSON.stringify(record)}\n`;

export function parseIntent(text: string): Intent | null {
  const raw = parseObject(text);
  if (raw === null) return null;
  const { token, group, hostCount } = raw;
  const bootstrap = raw['bootstrap'] === null ? null : parseBootstrap(raw['bootstrap']);
  const isWhole = isText(token) && isText(group) && isCount(hostCount) && hostCount <= HOSTS_MAX;
  if (!isWhole || bootstrap === undefined) return null;
  return { token, group: groupName(group), hostCount, bootstrap };
}

function parseBootstrap(raw: unknown): Bootstrap | undefined {
  if (!isObject(raw)) return undefined;
  const { script, joinToken, attemptsMax, timeoutMs } = raw;
  const isWhole =
    typeof script === 'string' &&
    (joinToken === null || isText(joinToken)) &&
    isCount(attemptsMax) &&
    isCount(timeoutMs);
  return isWhole ? { script, joinToken, attemptsMax, timeoutMs } : undefined;
}

export function parseHost(text: string): HostRecord | null {
  const raw = parseObject(text);
  if (raw === null) return null;
  const { token, group, pid, startTicks, bootId } = raw;
  const isWhole =
    isText(token) && isText(group) && isCount(pid) && isText(startTicks) && isText(bootId);
  return isWhole ? { token, group: groupName(group), pid, startTicks, bootId } : null;
}

export function parseState(text: string): HostState | null {
  const raw = parseObject(text);
  switch (raw?.['kind']) {
    case 'running':
      return { kind: 'running' };
    case 'ready':
      return { kind: 'ready' };
    case 'ended':
      return { kind: 'ended' };
    case 'failed': {
      const failure = isText(raw['failure']) ? raw['failure'] : 'no reason was written';
      return { kind: 'failed', failure: failure.slice(0, FAILURE_LENGTH_MAX) };
    }
    default:
      return null;
  }
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const raw: unknown = JSON.parse(text);
    return isObject(raw) ? raw : null;
  } catch {
    // A torn or foreign file. Who reads it says so; here it is only not a record.
    return null;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
/** Not zero: a signal to pid 0 would go to everybody around. */
const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) > 0;

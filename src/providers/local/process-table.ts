import { addTo } from '../../support/group-by.ts';

/** One process of the system, as /proc shows it. */
export interface ProcessRow {
  readonly pid: number;
  readonly parentPid: number;
  readonly session: number;
  readonly startTicks: string;
  /** False for what has ended and waits for its parent to notice. */
  readonly isAlive: boolean;
  /** The token in its environment; null without one, or where it may not be read. */
  readonly token: string | null;
  /** The host folder in its environment. */
  readonly hostDir: string | null;
}

/** The parts of a row that /proc/PID/stat holds. */
export type StatRow = Omit<ProcessRow, 'token' | 'hostDir'>;

export function parseStat(text: string): StatRow | null {
  // The second field is a name in parentheses that may hold spaces and parentheses itself.
  const rest = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parentPid, , session] = rest;
  const startTicks = rest[19];
  const pid = Number.parseInt(text, 10);
  if (state === undefined || startTicks === undefined || !Number.isInteger(pid)) return null;
  return {
    pid,
    parentPid: Number(parentPid),
    session: Number(session),
    startTicks,
    isAlive: state !== 'Z' && state !== 'X',
  };
}

/** The value of a variable in a block of `NAME=value` that end in zero bytes. */
export function findVariable(block: Buffer, name: string): string | null {
  const wanted = `${name}=`;
  for (let at = block.indexOf(wanted); at !== -1; at = block.indexOf(wanted, at + 1)) {
    if (at > 0 && block[at - 1] !== 0) continue;
    const end = block.indexOf(0, at);
    return block.toString('utf8', at + wanted.length, end === -1 ? block.length : end);
  }
  return null;
}

/**
 * Living processes by the token of the host that they belong to. Ours is what carries a token. Some
 * programs overwrite their environment to show a title, so ours is also what such a process has
 * started, and what shares a session with one, unless that session has a living leader that is not
 * ours: somebody's terminal. Hosts begin sessions of their own, so nobody else's can be in them.
 */
export function groupByToken(rows: readonly ProcessRow[]): ReadonlyMap<string, ProcessRow[]> {
  const tokenOf = new Map<number, string>();
  for (const { pid, token } of rows) if (token !== null) tokenOf.set(pid, token);
  // A found process may have children in sessions of their own, and so on; each round finds one more.
  for (let foundCount = -1; foundCount !== tokenOf.size;) {
    foundCount = tokenOf.size;
    addChildren(rows, tokenOf);
    addSessions(rows, tokenOf);
  }
  const found = new Map<string, ProcessRow[]>();
  for (const row of rows) {
    const token = tokenOf.get(row.pid);
    if (token !== undefined && row.isAlive) addTo(found, token, row);
  }
  return found;
}

function addChildren(rows: readonly ProcessRow[], tokenOf: Map<number, string>): void {
  for (const { pid, parentPid } of rows) {
    const token = tokenOf.get(parentPid);
    if (token !== undefined && !tokenOf.has(pid)) tokenOf.set(pid, token);
  }
}

function addSessions(rows: readonly ProcessRow[], tokenOf: Map<number, string>): void {
  const pids = new Set(rows.map(({ pid }) => pid));
  const tokenOfSession = new Map<number, string>();
  for (const { pid, session } of rows) {
    const token = tokenOf.get(pid);
    const isOthers = pids.has(session) && !tokenOf.has(session);
    if (token !== undefined && session > 0 && !isOthers) tokenOfSession.set(session, token);
  }
  for (const { pid, session } of rows) {
    const token = tokenOfSession.get(session);
    if (token !== undefined && !tokenOf.has(pid)) tokenOf.set(pid, token);
  }
}

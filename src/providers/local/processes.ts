import { readdirSync, readFileSync } from 'node:fs';
import { findVariable, parseStat, type ProcessRow, type StatRow } from './process-table.ts';
import type { HostRecord } from './records.ts';

/** Carried by every process of a host. Not a secret: it opens nothing, it only marks. */
export const TOKEN_VARIABLE = 'BELLOWS_HOST_TOKEN';
export const HOST_DIR_VARIABLE = 'BELLOWS_HOST_DIR';

/** Processes read between two turns of the event loop: about a millisecond. */
const ROWS_PER_TURN = 32;

/** Names this start of the system; null where there is no /proc as Linux has it. */
export function readBootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    // Another system, or /proc is not mounted: the caller refuses to work then.
    return null;
  }
}

/** Null when there is no such process. */
export function readStat(pid: number): StatRow | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    // It has ended; that is the answer.
    return null;
  }
}

/** Every process of the system. */
export async function readProcesses(): Promise<readonly ProcessRow[]> {
  const rows: ProcessRow[] = [];
  let readCount = 0;
  for (const name of listProc()) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const stat = readStat(pid);
    if (stat !== null) rows.push({ ...stat, ...readMarks(pid) });
    if (++readCount % ROWS_PER_TURN === 0) await new Promise(setImmediate);
  }
  return rows;
}

function listProc(): readonly string[] {
  try {
    return readdirSync('/proc');
  } catch {
    // As with the boot id: without /proc nothing was started here, and there is nothing to find.
    return [];
  }
}

/** Nulls where it has ended or belongs to another user: then it is not provably ours. */
function readMarks(pid: number): Pick<ProcessRow, 'token' | 'hostDir'> {
  try {
    const block = readFileSync(`/proc/${pid}/environ`);
    return {
      token: findVariable(block, TOKEN_VARIABLE),
      hostDir: findVariable(block, HOST_DIR_VARIABLE),
    };
  } catch {
    return { token: null, hostDir: null };
  }
}

/** Whether the very process that was recorded lives: a pid alone may be anybody's by now. */
export function isLive(record: HostRecord, bootId: string): boolean {
  if (record.bootId !== bootId) return false;
  const stat = readStat(record.pid);
  return (
    stat !== null &&
    stat.isAlive &&
    stat.startTicks === record.startTicks &&
    readMarks(record.pid).token === record.token
  );
}

/**
 * Signals a process that was found to be ours, if it still is that process. Looked at again right
 * before, since its pid may have gone to another meanwhile.
 */
export function signalProcess(row: ProcessRow, signal: 'SIGTERM' | 'SIGKILL'): void {
  const now = readStat(row.pid);
  if (now === null || now.startTicks !== row.startTicks) return;
  if (row.token !== null && readMarks(row.pid).token !== row.token) return;
  try {
    process.kill(row.pid, signal);
  } catch {
    // Ended this moment, or changed its user: the next look finds it, or does not.
  }
}

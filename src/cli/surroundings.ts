import { userInfo } from 'node:os';
import { type Output, openOutput } from './output.ts';

/** What a command that talks to a server has besides its arguments: given, so that tests can give it. */
export interface Surroundings {
  readonly out: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nowMs: () => number;
  /** Of standard output; null when it is no terminal. */
  readonly screen: () => Screen | null;
  /** Who asks, where no token says it. */
  readonly userName: string;
  /** Times are shown in this zone; left out: that of the machine. */
  readonly timeZone?: string;
  /** Fires at Ctrl-C. Before it is first asked for, Ctrl-C ends the process as usual. */
  readonly interrupted: () => AbortSignal;
}

export interface Screen {
  readonly columns: number;
  readonly rows: number;
}

/** Those of this process. */
export function openSurroundings(out: Output = openOutput()): Surroundings {
  let interrupt: AbortController | null = null;
  return {
    out,
    env: process.env,
    nowMs: Date.now,
    screen: () => {
      const { isTTY, columns, rows } = process.stdout;
      return isTTY && process.env['TERM'] !== 'dumb' ? { columns, rows } : null;
    },
    userName: userName(),
    interrupted: () => {
      if (interrupt === null) {
        const controller = new AbortController();
        interrupt = controller;
        // Once: a second Ctrl-C ends the process, should the command hang.
        process.once('SIGINT', () => controller.abort());
        process.once('SIGTERM', () => controller.abort());
      }
      return interrupt.signal;
    },
  };
}

/** Containers often run under a number that has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return process.getuid === undefined ? 'unknown' : `uid ${process.getuid()}`;
  }
}

/** Resolves after a while, or at once when the signal fires. */
export function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}

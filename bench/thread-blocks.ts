import { closeSync, openSync, readSync } from 'node:fs';

/** Stretches of processor time that the main thread took without looking at its timers. */
export interface ThreadBlocks {
  /** The longest first. */
  longestMs(): readonly number[];
  reset(): void;
  stop(): void;
}

const EVERY_MS = 1;
const KEPT = 4;

/**
 * Like `watchBlocks`, by processor time: what other processes take from us does not count, so that it
 * says the same on a busy machine. Linux alone knows it; elsewhere it is 0.
 */
export function watchThread(): ThreadBlocks {
  const clock = openThreadClock();
  let lastMs = clock.nowMs();
  let longestMs: readonly number[] = [];
  const look = (): void => {
    const nowMs = clock.nowMs();
    const ms = nowMs - lastMs;
    if (longestMs.length < KEPT || ms > (longestMs.at(-1) ?? 0)) {
      longestMs = [...longestMs, ms].sort((a, b) => b - a).slice(0, KEPT);
    }
    lastMs = nowMs;
  };
  const timer = setInterval(look, EVERY_MS);
  return {
    longestMs: () => {
      look();
      return longestMs;
    },
    reset() {
      longestMs = [];
      lastMs = clock.nowMs();
    },
    stop() {
      clearInterval(timer);
      clock.close();
    },
  };
}

/** Nanoseconds that the thread ran come first in its schedstat; the main thread has the process's id. */
export function openThreadClock(): { nowMs(): number; close(): void } {
  if (process.platform !== 'linux') return { nowMs: () => 0, close: () => {} };
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const buffer = Buffer.alloc(100);
  return {
    nowMs() {
      const length = readSync(file, buffer, 0, buffer.length, 0);
      return Number(buffer.toString('latin1', 0, length).split(' ')[0]) / 1e6;
    },
    close: () => closeSync(file),
  };
}

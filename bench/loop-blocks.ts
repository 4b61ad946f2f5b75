import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How long the thread was held up at a time. */
export interface Blocks {
  /** Longest since the last `reset`, by a timer of our own. */
  longestMs(): number;
  /** The same by Node's own histogram; it also counts what it sleeps for, a millisecond or two. */
  histogramMs(): number;
  reset(): void;
  stop(): void;
}

const EVERY_MS = 2;

/** Watches the event loop: a timer that comes late was held up for so long. */
export function watchBlocks(): Blocks {
  const histogram = monitorEventLoopDelay({ resolution: EVERY_MS });
  histogram.enable();
  let lastMs = performance.now();
  let longestMs = 0;
  const look = (): void => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs - EVERY_MS);
    lastMs = nowMs;
  };
  const timer = setInterval(look, EVERY_MS);
  return {
    longestMs: () => {
      look();
      return longestMs;
    },
    histogramMs: () => histogram.max / 1e6,
    reset() {
      longestMs = 0;
      lastMs = performance.now();
      histogram.reset();
    },
    stop() {
      clearInterval(timer);
      histogram.disable();
    },
  };
}

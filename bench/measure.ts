/** Processor time of one call, in milliseconds: user and system, garbage collection included. */
export function cpuMs(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

export interface Timing {
  readonly medianMs: number;
  readonly minMs: number;
  readonly maxMs: number;
  /** Elapsed, not processor time: what the thread is held up for. */
  readonly wallMedianMs: number;
}

/** The value below which this share of them lies; 0 the least, 1 the greatest. */
export function quantile(values: readonly number[], ratio: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * ratio))] ?? 0;
}

const median = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

/**
 * Warm-up runs, then as many measured ones, garbage collection as it comes. (A forced collection
 * before each run would also throw compiled code away, and make every run two to three times as long.)
 */
export function timeCpu(run: () => unknown, { warmUp = 10, runs = 5 } = {}): Timing {
  for (let n = 0; n < warmUp; n++) run();
  const walls: number[] = [];
  const times = Array.from({ length: runs }, () => {
    const startedMs = performance.now();
    const ms = cpuMs(run);
    walls.push(performance.now() - startedMs);
    return ms;
  });
  return {
    medianMs: median(times),
    minMs: Math.min(...times),
    maxMs: Math.max(...times),
    wallMedianMs: median(walls),
  };
}

export const rssMiB = (): number => Math.round(process.memoryUsage().rss / 2 ** 20);

export const round = (value: number, digits: number): number => Number(value.toFixed(digits));

/** Where the workloads lie: `--data DIR`, else the variable BELLOWS_PROBLEMS; null when neither is set. */
export function findDataFolder(args: readonly string[]): string | null {
  const at = args.indexOf('--data');
  return (at < 0 ? undefined : args[at + 1]) ?? process.env['BELLOWS_PROBLEMS'] ?? null;
}

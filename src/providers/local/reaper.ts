import type { Log } from '../../ports/log.ts';
import { codeOf } from './errors.ts';
import type { FleetDirectory } from './fleet-directory.ts';
import { groupByToken, type ProcessRow } from './process-table.ts';
import { isLive, readBootId, readProcesses, signalProcess } from './processes.ts';
import { hostToken } from './records.ts';

/** From being told to end until being made to. */
const GRACE_MS = 5_000;
/** Between two looks at the processes: soon at first, then at leisure, since each reads all of /proc. */
const LOOK_FIRST_MS = 20;
const LOOK_LONGEST_MS = 250;
/** What has not ended after this hangs in the kernel, and is worth a word. */
const STUCK_MS = 30_000;

interface Ending {
  readonly sinceMs: number;
  /** Processes that were told, by pid and start. */
  readonly told: Set<string>;
  /** Looks in a row that found nothing: one that forks while we look may be missed once. */
  emptyCount: number;
  isReported: boolean;
  readonly done: Promise<void>;
  readonly finish: () => void;
}

type ByToken = ReadonlyMap<string, readonly ProcessRow[]>;

/** Ends the processes of released slices and removes their folders, beside the calls. */
export class Reaper {
  readonly #directory: FleetDirectory;
  readonly #log: Log;
  readonly #endings = new Map<string, Ending>();
  #running: Promise<void> | null = null;
  #lookMs = LOOK_FIRST_MS;
  #wake: () => void = () => undefined;
  #isClosed = false;

  constructor(directory: FleetDirectory, log: Log) {
    this.#directory = directory;
    this.#log = log;
  }

  /** Takes a slice in that is marked as ended. Resolves when nothing of it is left. */
  end(slice: string): Promise<void> {
    const known = this.#endings.get(slice);
    if (known !== undefined) return known.done;
    const { promise: done, resolve: finish } = withResolver();
    const sinceMs = performance.now();
    const ending = { sinceMs, told: new Set<string>(), emptyCount: 0, isReported: false };
    this.#endings.set(slice, { ...ending, done, finish });
    this.#lookMs = LOOK_FIRST_MS;
    this.#wake();
    if (!this.#isClosed) this.#running ??= this.#run();
    return done;
  }

  /** Stops looking; who was told to end does so by itself, and the next to open goes on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#endings.size > 0 && !this.#isClosed) {
      // Read anew for every slice that came meanwhile: one that was taken in now waits for the next.
      const endings = [...this.#endings];
      const rows = await readProcesses();
      const byToken = groupByToken(rows);
      for (const [slice, ending] of endings) {
        try {
          await this.#step(slice, ending, { rows, byToken });
        } catch (error) {
          this.#lookMs = LOOK_LONGEST_MS;
          this.#report(slice, ending, codeOf(error) ?? String(error));
        }
      }
      if (this.#endings.size > 0 && !this.#isClosed) await this.#pause();
    }
    this.#running = null;
  }

  async #step(
    slice: string,
    ending: Ending,
    seen: { readonly rows: readonly ProcessRow[]; readonly byToken: ByToken },
  ): Promise<void> {
    const tokens = await this.#tokensOf(slice, seen.rows);
    const rows = tokens.flatMap((token) => seen.byToken.get(token) ?? []);
    if (rows.length === 0) {
      if (++ending.emptyCount < 2) return;
      await this.#directory.remove(slice);
      this.#endings.delete(slice);
      ending.finish();
      return;
    }
    ending.emptyCount = 0;
    const waitedMs = performance.now() - ending.sinceMs;
    if (waitedMs > GRACE_MS) for (const row of rows) signalProcess(row, 'SIGKILL');
    else tell(await this.#toTell(slice, rows), ending);
    if (waitedMs > STUCK_MS) this.#report(slice, ending, `${rows.length} processes do not end`);
  }

  /** The hosts, which end what is theirs; where none lives, what they left. */
  async #toTell(slice: string, rows: readonly ProcessRow[]): Promise<readonly ProcessRow[]> {
    const bootId = readBootId() ?? '';
    const hosts = new Set<number>();
    for (const index of await this.#directory.hostIndexes(slice)) {
      const host = await this.#directory.readHost(slice, index);
      if (host.kind === 'read' && isLive(host.value, bootId)) hosts.add(host.value.pid);
    }
    return hosts.size === 0 ? rows : rows.filter(({ pid }) => hosts.has(pid));
  }

  async #tokensOf(slice: string, rows: readonly ProcessRow[]): Promise<readonly string[]> {
    const intent = await this.#directory.readIntent(slice);
    if (intent.kind === 'read') {
      const { value } = intent;
      return Array.from({ length: value.hostCount }, (_, index) => hostToken(value, index));
    }
    // The file was tampered with. The processes themselves say where they belong.
    const folder = `${this.#directory.sliceDir(slice)}/`;
    const ours = rows.filter(({ hostDir }) => hostDir?.startsWith(folder) === true);
    return [...new Set(ours.map(({ token }) => token).filter((token) => token !== null))];
  }

  #report(slice: string, ending: Ending, detail: string): void {
    if (ending.isReported) return;
    ending.isReported = true;
    this.#log.write('warn', 'local-slice-does-not-end', { slice, detail });
  }

  async #pause(): Promise<void> {
    const { promise, resolve } = withResolver();
    this.#wake = resolve;
    const timer = setTimeout(resolve, this.#lookMs);
    await promise;
    clearTimeout(timer);
    this.#lookMs = Math.min(this.#lookMs * 1.5, LOOK_LONGEST_MS);
  }
}

function tell(rows: readonly ProcessRow[], { told }: Ending): void {
  for (const row of rows) {
    const name = `${row.pid} ${row.startTicks}`;
    if (!told.has(name)) signalProcess(row, 'SIGTERM');
    told.add(name);
  }
}

function withResolver(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

import type { Log } from '../../ports/log.ts';
import { mapBounded } from './bounded.ts';
import type { FleetDirectory, Reading } from './fleet-directory.ts';
import { isLive, readBootId } from './processes.ts';
import { type HostRecord, type HostState, hostToken, type Intent } from './records.ts';

/** One host that has claimed its folder. */
export interface SeenHost {
  readonly hostIndex: number;
  readonly record: HostRecord;
  readonly state: HostState | null;
  readonly isLive: boolean;
}

/** One slice, as its folder and the system's processes show it. */
export interface SeenSlice {
  readonly slice: string;
  /** Null when it cannot be read. */
  readonly intent: Intent | null;
  readonly isEnded: boolean;
  readonly hosts: readonly SeenHost[];
}

/** Read at a time, each of them: files that are open together must not be too many. */
const SLICES_AT_ONCE = 8;
const HOSTS_AT_ONCE = 8;

/** Looks at everything there is of a fleet. What makes no sense is passed over, and told once. */
export class Census {
  readonly #directory: FleetDirectory;
  readonly #log: Log;
  #told = new Set<string>();

  constructor(directory: FleetDirectory, log: Log) {
    this.#directory = directory;
    this.#log = log;
  }

  async take(): Promise<readonly SeenSlice[]> {
    const slices = await this.#directory.slices();
    // After the slices: what was released in between then shows as ended, never the other way round.
    const ended = await this.#directory.endedSlices();
    const bootId = readBootId() ?? '';
    const wrong = new Set<string>();
    const seen = await mapBounded(slices, SLICES_AT_ONCE, (slice) =>
      this.#read(slice, { ended, bootId, wrong }),
    );
    this.#tell(wrong);
    return seen.filter((slice) => slice !== null);
  }

  async #read(
    slice: string,
    look: {
      readonly ended: ReadonlySet<string>;
      readonly bootId: string;
      readonly wrong: Set<string>;
    },
  ): Promise<SeenSlice | null> {
    const directory = this.#directory;
    const use = <T>(reading: Reading<T>, file: string): T | null => {
      if (reading.kind === 'unreadable') look.wrong.add(file);
      return reading.kind === 'read' ? reading.value : null;
    };
    const reading = await directory.readIntent(slice);
    if (reading.kind === 'missing') {
      // Slices come and go whole: what stays without an intent is a folder of somebody else's.
      if (await directory.hasSlice(slice)) look.wrong.add(`slices/${slice}`);
      return null;
    }
    const intent = use(reading, `slices/${slice}/intent.json`);
    const readHost = async (hostIndex: number): Promise<SeenHost | null> => {
      const place = `slices/${slice}/${hostIndex}`;
      const record = use(await directory.readHost(slice, hostIndex), `${place}/host.json`);
      if (record === null) return null;
      if (intent !== null && record.token !== hostToken(intent, hostIndex)) {
        look.wrong.add(`${place}/host.json`);
        return null;
      }
      // Looked at before the state is read: a host writes why it ends, and ends then.
      const isAlive = isLive(record, look.bootId);
      const state = use(await directory.readState(slice, hostIndex), `${place}/state.json`);
      return { hostIndex, record, state, isLive: isAlive };
    };
    const indexes =
      intent === null
        ? await directory.hostIndexes(slice)
        : Array.from({ length: intent.hostCount }, (_, index) => index);
    const hosts = await mapBounded(indexes, HOSTS_AT_ONCE, readHost);
    const claimed = hosts.filter((host) => host !== null);
    return { slice, intent, isEnded: look.ended.has(slice), hosts: claimed };
  }

  #tell(wrong: ReadonlySet<string>): void {
    for (const path of wrong) {
      if (!this.#told.has(path)) this.#log.write('warn', 'local-file-unreadable', { path });
    }
    // Only what is wrong now is remembered: as many as there are files.
    this.#told = new Set(wrong);
  }
}

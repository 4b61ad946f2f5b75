import { mkdirSync } from 'node:fs';
import {
  access,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, isMissing } from './errors.ts';
import {
  HOST_FILE,
  INTENT_FILE,
  isSafeName,
  type Layout,
  layoutOf,
  LOG_FILE,
  parseIndex,
  STATE_FILE,
} from './layout.ts';
import {
  type HostRecord,
  type HostState,
  type Intent,
  parseHost,
  parseIntent,
  parseState,
  toText,
} from './records.ts';

/** Logs kept of hosts that did not end in order. */
const FAILED_LOGS_MAX = 20;
/**
 * How long a released slice is remembered after its folder is gone: longer than a launch of it can
 * still be on its way. Also how old a draft must be for nobody to be at work on it.
 */
const KEEP_MS = 10 * 60_000;

/** What a file holds: what it should, nothing since it is not there, or something else. */
export type Reading<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable' };

/**
 * The files of one fleet. Everything comes into being whole, by rename or link, so that a kill at any
 * moment leaves a state and never half of one. Nothing is forced to the disk: files outlive the
 * death of a process, and the death of the machine ends the hosts too.
 */
export class FleetDirectory {
  readonly layout: Layout;

  /** Makes the folders, for the owner alone; throws what the system says where it cannot. */
  constructor(dataDir: string, fleet: string) {
    this.layout = layoutOf(dataDir, fleet);
    for (const folder of Object.values(this.layout)) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    }
  }

  sliceDir(slice: string): string {
    return join(this.layout.slices, slice);
  }

  hostDir(slice: string, hostIndex: number): string {
    return join(this.layout.slices, slice, String(hostIndex));
  }

  /** Writes an intent, with a folder for each host; false when the slice is there already. */
  async create(slice: string, intent: Intent): Promise<boolean> {
    const draft = await mkdtemp(join(this.layout.drafts, 'new-'));
    try {
      await writeFile(join(draft, INTENT_FILE), toText(intent), { mode: 0o600 });
      for (let index = 0; index < intent.hostCount; index++) {
        await mkdir(join(draft, String(index)), { mode: 0o700 });
      }
      await rename(draft, this.sliceDir(slice));
      return true;
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      const code = codeOf(error);
      if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
      throw error;
    }
  }

  /** Folders that bear the name of a slice, in order. */
  async slices(): Promise<readonly string[]> {
    const entries = await readdir(this.layout.slices, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && isSafeName(entry.name))
      .map(({ name }) => name)
      .sort();
  }

  hasSlice(slice: string): Promise<boolean> {
    return exists(this.sliceDir(slice));
  }

  async endedSlices(): Promise<ReadonlySet<string>> {
    return new Set(await readdir(this.layout.ended));
  }

  /** From now on the slice has ended, whatever is still on its way to start it. */
  markEnded(slice: string): Promise<void> {
    return writeFile(join(this.layout.ended, slice), '', { flag: 'a', mode: 0o600 });
  }

  isEnded(slice: string): Promise<boolean> {
    return exists(join(this.layout.ended, slice));
  }

  readIntent(slice: string): Promise<Reading<Intent>> {
    return read(join(this.sliceDir(slice), INTENT_FILE), parseIntent);
  }

  readHost(slice: string, hostIndex: number): Promise<Reading<HostRecord>> {
    return read(join(this.hostDir(slice, hostIndex), HOST_FILE), parseHost);
  }

  isClaimed(slice: string, hostIndex: number): Promise<boolean> {
    return exists(join(this.hostDir(slice, hostIndex), HOST_FILE));
  }

  readState(slice: string, hostIndex: number): Promise<Reading<HostState>> {
    return read(join(this.hostDir(slice, hostIndex), STATE_FILE), parseState);
  }

  async isOlderThan(slice: string, ageMs: number): Promise<boolean> {
    return isOlder(this.sliceDir(slice), ageMs);
  }

  /** Hosts by what lies in the folder, for a slice whose intent cannot be read. */
  async hostIndexes(slice: string): Promise<readonly number[]> {
    const names = await listNames(this.sliceDir(slice));
    return names.map(parseIndex).filter((index) => index !== null);
  }

  /** The last lines that a host wrote, for who could not see it start. */
  async lastLine(slice: string, hostIndex: number): Promise<string | null> {
    const log = await read(join(this.hostDir(slice, hostIndex), LOG_FILE), (text) => text);
    if (log.kind !== 'read') return null;
    const lines = log.value.split('\n').filter((line) => line.trim() !== '');
    return lines.at(-1)?.slice(0, 200) ?? null;
  }

  /** Removes an ended slice, and keeps what its hosts wrote that did not end in order. */
  async remove(slice: string): Promise<void> {
    for (const index of await this.hostIndexes(slice)) await this.#keepLog(slice, index);
    const grave = await mkdtemp(join(this.layout.drafts, 'old-'));
    try {
      // Out of sight at once; emptying it may take long.
      await rename(this.sliceDir(slice), join(grave, slice));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    await rm(grave, { recursive: true, force: true });
  }

  async #keepLog(slice: string, index: number): Promise<void> {
    const state = await this.readState(slice, index);
    if (state.kind === 'read' && state.value.kind === 'ended') return;
    const log = join(this.hostDir(slice, index), LOG_FILE);
    try {
      if ((await stat(log)).size === 0) return;
      const kept = join(this.layout.failed, `${slice}.${index}.log`);
      await rename(log, kept);
      // By age the oldest go: counted from here, not from its last line.
      const now = new Date();
      await utimes(kept, now, now);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  /** Clears away what nobody needs any more. */
  async prune(): Promise<void> {
    const { ended, drafts, failed } = this.layout;
    for (const name of await readdir(ended)) {
      const isOver =
        (await isOlder(join(ended, name), KEEP_MS)) && !(await exists(this.sliceDir(name)));
      if (isOver) await rm(join(ended, name), { force: true });
    }
    for (const name of await readdir(drafts)) {
      if (!(await isOlder(join(drafts, name), KEEP_MS))) continue;
      await rm(join(drafts, name), { recursive: true, force: true });
    }
    const logs: { readonly path: string; readonly atMs: number }[] = [];
    for (const name of await readdir(failed)) {
      const path = join(failed, name);
      logs.push({ path, atMs: (await stat(path)).mtimeMs });
    }
    logs.sort((a, b) => b.atMs - a.atMs);
    for (const { path } of logs.slice(FAILED_LOGS_MAX)) await rm(path, { force: true });
  }
}

const scarcities: ReadonlySet<string | null> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'EIO',
  'EAGAIN',
]);

async function read<T>(path: string, parse: (text: string) => T | null): Promise<Reading<T>> {
  try {
    const value = parse(await readFile(path, 'utf8'));
    return value === null ? { kind: 'unreadable' } : { kind: 'read', value };
  } catch (error) {
    if (isMissing(error)) return { kind: 'missing' };
    // What fails for want of something says nothing about the file: a host must not seem lost by it.
    if (scarcities.has(codeOf(error))) throw error;
    return { kind: 'unreadable' };
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function listNames(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function isOlder(path: string, ageMs: number): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs > ageMs;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

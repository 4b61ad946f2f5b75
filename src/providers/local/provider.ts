import { isAbsolute } from 'node:path';
import type { SliceId } from '../../model/ids.ts';
import type { Machine } from '../../model/machine.ts';
import type { Refusal } from '../../model/refusal.ts';
import type { Log } from '../../ports/log.ts';
import {
  type LaunchOutcome,
  type LaunchRequest,
  type Provider,
  ProviderError,
} from '../../ports/provider.ts';
import { assert } from '../../support/assert.ts';
import { Admission } from './admission.ts';
import { mapBounded } from './bounded.ts';
import { Census, type SeenSlice } from './census.ts';
import { codeOf, toProviderError } from './errors.ts';
import { FleetDirectory } from './fleet-directory.ts';
import { giveUp, type LaunchSetting, released, startHosts } from './launcher.ts';
import { isSafeName } from './layout.ts';
import { machineIdsOf, toMachines } from './mapping.ts';
import { Reaper } from './reaper.ts';

export interface LocalProviderOptions {
  /** Only hosts of this fleet are listed or touched. */
  readonly fleet: string;
  /** Absolute; made if missing, for the owner alone. */
  readonly dataDir: string;
  /** Most hosts of this fleet at a time. */
  readonly hostsMax: number;
  /** Given to every host and its bootstrap, besides what Bellows itself sets. */
  readonly env: Readonly<Record<string, string>>;
  /** Join tokens by name; undefined for one that nobody has set. */
  readonly secretOf: (name: string) => string | undefined;
  readonly log: Log;
}

/** Slices that are started at a time. */
const LAUNCHES_AT_ONCE = 8;
/** A slice of which nobody has claimed anything for so long is forgotten by all. */
const UNCLAIMED_MS = 60 * 60_000;
const PRUNE_EVERY_MS = 60_000;

/**
 * Hosts that are processes of this machine, each in a folder and a session of its own. Throws a
 * ProviderError when the folder cannot be made.
 */
export function openLocalProvider(options: LocalProviderOptions): Provider {
  const { fleet, dataDir } = options;
  assert(isAbsolute(dataDir), 'the composition root resolves dataDir');
  assert(isSafeName(fleet), 'the config schema admits only fleets that can name a folder');
  try {
    const provider = new LocalProvider(options, new FleetDirectory(dataDir, fleet));
    provider.resume();
    return provider;
  } catch (error) {
    if (codeOf(error) === null) throw error;
    throw toProviderError(error, `cannot keep hosts in ${dataDir}`);
  }
}

class LocalProvider implements Provider {
  /** Lists read the processes themselves. */
  readonly listLagMs = 0;
  readonly #options: LocalProviderOptions;
  readonly #directory: FleetDirectory;
  readonly #census: Census;
  readonly #reaper: Reaper;
  readonly #setting: LaunchSetting;
  readonly #admission: Admission;
  readonly #calls = new Set<AbortController>();
  #isClosed = false;
  #prunedMs = Number.NEGATIVE_INFINITY;

  constructor(options: LocalProviderOptions, directory: FleetDirectory) {
    this.#options = options;
    this.#directory = directory;
    this.#census = new Census(directory, options.log);
    this.#reaper = new Reaper(directory, options.log);
    const { fleet, env, secretOf } = options;
    this.#setting = { fleet, directory, reaper: this.#reaper, env, secretOf };
    this.#admission = new Admission(options, directory, () => this.#look());
  }

  /** Goes on with what an earlier life was told to end. */
  resume(): void {
    this.#look().catch((error: unknown) => {
      const detail = codeOf(error) ?? String(error);
      this.#options.log.write('warn', 'local-resume-failed', { detail });
    });
  }

  launch(batch: readonly LaunchRequest[], signal: AbortSignal): Promise<readonly LaunchOutcome[]> {
    return this.#call('launch', signal, async (signal) => {
      const refusals = await this.#admission.admit(batch, signal);
      return mapBounded(batch, LAUNCHES_AT_ONCE, async (request, place) => {
        const { sliceId } = request;
        const refusal = refusals[place];
        if (refusal !== null && refusal !== undefined) return { kind: 'refused', sliceId, refusal };
        return this.#start(request, signal);
      });
    });
  }

  terminate(sliceIds: readonly SliceId[], signal: AbortSignal): Promise<void> {
    return this.#call('terminate', signal, async () => {
      // What cannot name a folder was never launched.
      const slices = sliceIds.filter(isSafeName);
      await mapBounded(slices, LAUNCHES_AT_ONCE, (slice) => this.#directory.markEnded(slice));
      for (const slice of slices) {
        if (await this.#directory.hasSlice(slice)) void this.#reaper.end(slice);
      }
    });
  }

  list(signal: AbortSignal): Promise<readonly Machine[]> {
    return this.#call('list', signal, async () => (await this.#look()).flatMap(toMachines));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const call of this.#calls) call.abort();
    await this.#reaper.close();
  }

  /** Everything there is; what must end and nobody is at is taken up. */
  async #look(): Promise<readonly SeenSlice[]> {
    const seen = await this.#census.take();
    for (const { slice, isEnded, hosts } of seen) {
      if (!isEnded && hosts.length === 0) {
        // Started by nobody, or unreadable: in either case no list will ever show it.
        if (!(await this.#directory.isOlderThan(slice, UNCLAIMED_MS))) continue;
        await this.#directory.markEnded(slice);
      } else if (!isEnded) continue;
      void this.#reaper.end(slice);
    }
    if (performance.now() - this.#prunedMs > PRUNE_EVERY_MS) {
      this.#prunedMs = performance.now();
      await this.#directory.prune();
    }
    return seen;
  }

  async #start({ sliceId }: LaunchRequest, signal: AbortSignal): Promise<LaunchOutcome> {
    const intent = await this.#directory.readIntent(sliceId);
    const isReleased = intent.kind === 'missing' || (await this.#directory.isEnded(sliceId));
    if (isReleased || intent.kind !== 'read') {
      // Released by now, or damaged, and then nothing may stay of it. A refusal says that nothing is
      // left, so what still ends is waited for.
      await giveUp(this.#setting, sliceId);
      const refusal = isReleased ? released(sliceId) : damaged(sliceId);
      return { kind: 'refused', sliceId, refusal };
    }
    const launch = { slice: sliceId, intent: intent.value, signal };
    const refusal = await startHosts(this.#setting, launch);
    if (refusal !== null) return { kind: 'refused', sliceId, refusal };
    return { kind: 'accepted', sliceId, machineIds: machineIdsOf(sliceId, intent.value) };
  }

  /** A call ends when its caller gives up or the provider closes, whatever is still under way. */
  async #call<T>(
    name: string,
    caller: AbortSignal,
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const call = new AbortController();
    const { signal } = call;
    const stop = (): ProviderError =>
      this.#isClosed
        ? new ProviderError('unreachable', `${name}: the local provider is closed`)
        : new ProviderError('timeout', `${name}: the caller gave up`);
    if (this.#isClosed || caller.aborted) throw stop();
    const stopped = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(stop()), { once: true });
    });
    const giveUp = (): void => call.abort();
    caller.addEventListener('abort', giveUp, { once: true });
    this.#calls.add(call);
    try {
      return await Promise.race([stopped, run(signal)]);
    } catch (error) {
      if (signal.aborted) throw stop();
      throw codeOf(error) === null ? error : toProviderError(error, `${name} of local hosts`);
    } finally {
      caller.removeEventListener('abort', giveUp);
      this.#calls.delete(call);
    }
  }
}

const damaged = (slice: string): Refusal => ({
  kind: 'unknown',
  detail: `slices/${slice}/intent.json in dataDir is damaged; the slice was released`,
});

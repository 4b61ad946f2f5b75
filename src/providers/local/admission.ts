import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Refusal } from '../../model/refusal.ts';
import type { LaunchRequest } from '../../ports/provider.ts';
import type { SeenSlice } from './census.ts';
import { codeOf, toRefusal } from './errors.ts';
import type { FleetDirectory } from './fleet-directory.ts';
import { countHosts } from './mapping.ts';
import { findMissingSecret, findMistake } from './request.ts';

/** For released hosts to make room, before a launch is refused for want of it. */
const ROOM_WITHIN_MS = 7_000;
const ROOM_LOOK_MS = 50;

type SecretOf = (name: string) => string | undefined;

/** Decides what may be launched, and writes it down. */
export class Admission {
  readonly #hostsMax: number;
  readonly #secretOf: SecretOf;
  readonly #directory: FleetDirectory;
  readonly #look: () => Promise<readonly SeenSlice[]>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    options: { readonly hostsMax: number; readonly secretOf: SecretOf },
    directory: FleetDirectory,
    look: () => Promise<readonly SeenSlice[]>,
  ) {
    this.#hostsMax = options.hostsMax;
    this.#secretOf = options.secretOf;
    this.#directory = directory;
    this.#look = look;
  }

  /** Writes the intents that may be, one batch after the other: each counts what the last has taken. */
  admit(
    batch: readonly LaunchRequest[],
    signal: AbortSignal,
  ): Promise<readonly (Refusal | null)[]> {
    const run = async (): Promise<readonly (Refusal | null)[]> => {
      const refusals: (Refusal | null)[] = [];
      // Counted once for the batch; again only when it seems to be full.
      const room = { hostCount: sum(await this.#look()) };
      for (const request of batch) {
        signal.throwIfAborted();
        refusals.push(await this.#admitOne(request, room, signal));
      }
      return refusals;
    };
    const admitted = this.#last.then(run);
    this.#last = admitted.catch(() => undefined);
    return admitted;
  }

  async #admitOne(
    request: LaunchRequest,
    room: { hostCount: number },
    signal: AbortSignal,
  ): Promise<Refusal | null> {
    const { sliceId, group, hostCount, bootstrap } = request;
    const mistake = findMistake(request);
    if (mistake !== null) return mistake;
    // Written already, or released: who starts it sees to that.
    if (await this.#directory.isEnded(sliceId)) return null;
    if (await this.#directory.hasSlice(sliceId)) return null;
    const missing = findMissingSecret(bootstrap, this.#secretOf);
    if (missing !== null) return missing;
    const hostsMax = this.#hostsMax;
    if (room.hostCount + hostCount > hostsMax) {
      room.hostCount = await this.#waitForRoom(hostCount, signal);
    }
    if (room.hostCount + hostCount > hostsMax) {
      const detail =
        `${hostCount} more besides ${room.hostCount} hosts would be more than hostsMax ${hostsMax}; ` +
        'raise hostsMax of the local provider, or lower max of its groups';
      return { kind: 'quota-exceeded', quotaName: 'hostsMax', detail };
    }
    const token = randomBytes(16).toString('hex');
    try {
      const isMade = await this.#directory.create(sliceId, { token, group, hostCount, bootstrap });
      if (isMade) room.hostCount += hostCount;
      return null;
    } catch (error) {
      if (codeOf(error) === null) throw error;
      return toRefusal(error, 'cannot make the folder of the slice');
    }
  }

  /** Hosts on their way out still take their place, but not for long. Returns how many there are. */
  async #waitForRoom(wantedCount: number, signal: AbortSignal): Promise<number> {
    const hostsMax = this.#hostsMax;
    const deadlineMs = performance.now() + ROOM_WITHIN_MS;
    for (;;) {
      const seen = await this.#look();
      const stayingCount = sum(seen.filter(({ isEnded }) => !isEnded));
      const isHopeless = stayingCount + wantedCount > hostsMax || performance.now() > deadlineMs;
      if (sum(seen) + wantedCount <= hostsMax || isHopeless) return sum(seen);
      await sleep(ROOM_LOOK_MS);
      signal.throwIfAborted();
    }
  }
}

const sum = (seen: readonly SeenSlice[]): number =>
  seen.reduce((count, slice) => count + countHosts(slice), 0);

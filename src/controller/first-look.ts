import type { EpochMs } from '../model/ids.ts';
import type { Command } from './commands.ts';
import type { Memory } from './memory.ts';
import type { Sights } from './sights.ts';

/** A provider or a scheduler that keeps silent is waited for so long. */
const LOOK_MAX_MS = 20_000;
/** Whoever said what holds for longer than this pushes seldom, or never again: a person, for one. */
const SELDOM_MS = 20 * 60_000;

/**
 * A leader looks before it decides: every provider is listed and every scheduler has spoken since it
 * leads. What was pending before may run by now, and would be bought for twice.
 */
export class FirstLook {
  readonly #heard = new Set<string>();
  #sinceMs = 0;

  begin(nowMs: EpochMs): void {
    this.#sinceMs = nowMs;
    this.#heard.clear();
  }

  hear(command: Command): void {
    if (command.kind === 'push-demand') this.#heard.add(command.push.source);
  }

  isDone(nowMs: EpochMs, memory: Memory, sights: Sights, providers: Iterable<string>): boolean {
    if (nowMs - this.#sinceMs >= LOOK_MAX_MS) return true;
    return sights.hasListed(providers) && this.#unheard(nowMs, memory).length === 0;
  }

  /** Schedulers that had work pending, push often, and have not spoken yet. */
  #unheard(nowMs: EpochMs, memory: Memory): readonly string[] {
    return [...memory.demand.values()].flatMap(({ source, entries, expiresAtMs }) => {
      const isAwaited = entries.length > 0 && expiresAtMs - nowMs <= SELDOM_MS;
      return isAwaited && !this.#heard.has(source) ? [source] : [];
    });
  }

  /** Who keeps it waiting. */
  awaited(
    nowMs: EpochMs,
    memory: Memory,
    sights: Sights,
    providers: Iterable<string>,
  ): readonly string[] {
    const unlisted = [...providers].filter((name) => sights.listedMs(name) === null);
    return [
      ...unlisted.map((name) => `provider ${name}`),
      ...this.#unheard(nowMs, memory).map((source) => `scheduler ${source}`),
    ];
  }
}

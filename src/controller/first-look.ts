import type { EpochMs } from '../model/ids.ts';
import type { Command } from './commands.ts';
import type { Memory } from './memory.ts';
import type { Sights } from './sights.ts';

/** A provider or a scheduler that keeps silent is waited for so long. */
const LOOK_MAX_MS = 20_000;

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
    if (!sights.hasListed(providers)) return false;
    return [...memory.demand.entries()].every(([source]) => this.#heard.has(source));
  }

  /** Who keeps it waiting. */
  awaited(memory: Memory, sights: Sights, providers: Iterable<string>): readonly string[] {
    const unlisted = [...providers].filter((name) => sights.listedMs(name) === null);
    const unheard = [...memory.demand.entries()].filter(([source]) => !this.#heard.has(source));
    return [
      ...unlisted.map((name) => `provider ${name}`),
      ...unheard.map(([source]) => `scheduler ${source}`),
    ];
  }
}

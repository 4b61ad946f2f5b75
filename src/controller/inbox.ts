import { StoreError } from '../ports/store.ts';
import type { Command, CommandAnswer } from './commands.ts';

/** A command that waits for its pass, and whoever waits for it. */
export interface Waiting {
  readonly command: Command;
  readonly resolve: (answer: CommandAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** Commands in order of arrival. Nothing is acknowledged from here: the pass does that. */
export class Inbox {
  readonly #waiting: Waiting[] = [];

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** What waits, and what comes while somebody looks at it. */
  *commands(): Generator<Command> {
    for (const { command } of this.#waiting) yield command;
  }

  put(command: Command): Promise<CommandAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ command, resolve, reject });
    });
  }

  take(): readonly Waiting[] {
    return this.#waiting.splice(0);
  }

  /** Nobody will obey them any more. */
  close(): void {
    for (const { reject } of this.take()) reject(closed());
  }
}

export const closed = (): StoreError => new StoreError('unavailable', 'the controller is stopped');

import type { DemandPush } from '../model/push.ts';
import type { Turns } from '../support/turns.ts';
import type { Command } from './commands.ts';
import { type ArrivingPush, type PushOutcome, takePush, takePushInTurns } from './demand-push.ts';
import type { Memory } from './memory.ts';
import type { TickInputs } from './tick-input.ts';

/**
 * What is made of pushes before the pass that takes them in: a hundred thousand entries are merged and
 * grouped in turns, while others go on. The pass itself finds all of it done.
 */
export class PushAhead {
  readonly #inputs: TickInputs;
  readonly #made = new WeakMap<
    ArrivingPush,
    { readonly before: DemandPush | undefined; readonly outcome: PushOutcome }
  >();

  constructor(inputs: TickInputs) {
    this.#inputs = inputs;
  }

  /** Looks at commands that wait; those that come meanwhile are looked at, too. */
  *prepare(commands: Iterable<Command>, memory: Memory): Turns<void> {
    const latest = new Map<string, DemandPush>();
    for (const command of commands) {
      if (command.kind !== 'push-demand') continue;
      const { source } = command.push;
      const before = latest.get(source) ?? memory.demand.get(source);
      const outcome = yield* takePushInTurns(before, command);
      this.#made.set(command, { before, outcome });
      if (outcome.kind !== 'taken') continue;
      latest.set(source, outcome.push);
      yield* this.#inputs.prepare(outcome.push.entries, memory);
    }
  }

  /** As `takePush`; at once, where it was made ahead of what is there now. */
  take(before: DemandPush | undefined, arriving: ArrivingPush): PushOutcome {
    const made = this.#made.get(arriving);
    return made !== undefined && made.before === before ? made.outcome : takePush(before, arriving);
  }
}

import { assert } from '../../support/assert.ts';

/** Remembers how to undo what is done within trials; outside of trials it remembers nothing. */
export class TrialLog {
  readonly #undos: (() => void)[] = [];
  #depth = 0;

  get isOn(): boolean {
    return this.#depth > 0;
  }

  remember(undo: () => void): void {
    if (this.isOn) this.#undos.push(undo);
  }

  /** Starts a trial. Trials nest; each is kept or undone by its mark. */
  mark(): number {
    this.#depth++;
    return this.#undos.length;
  }

  keep(mark: number): void {
    assert(mark <= this.#undos.length, 'trials end newest first');
    this.#depth--;
    if (!this.isOn) this.#undos.length = 0;
  }

  undo(mark: number): void {
    assert(mark <= this.#undos.length, 'trials end newest first');
    while (this.#undos.length > mark) this.#undos.pop()?.();
    this.#depth--;
  }
}

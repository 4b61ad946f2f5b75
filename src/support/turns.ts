/** Work in stretches: whoever runs it may let others have a turn wherever it stops. */
export type Turns<T> = Generator<void, T, void>;

/** All of it, with a pause wherever it stops. */
export async function runInTurns<T>(turns: Turns<T>, pause: () => Promise<void>): Promise<T> {
  for (;;) {
    const next = turns.next();
    if (next.done === true) return next.value;
    await pause();
  }
}

/** All of it, without a stop. */
export function runThrough<T>(turns: Turns<T>): T {
  for (;;) {
    const next = turns.next();
    if (next.done === true) return next.value;
  }
}

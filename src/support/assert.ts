/** A bug in Bellows, never a mistake of the user: whoever catches it stops, reports and exits. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** States what must hold. `message` says why it must, for the reader of a crash report. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** Ends a switch over a closed union: a forgotten case does not compile. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable case: ${JSON.stringify(value)}`);
}

/** The value, where a lookup cannot miss by construction; `what` names it in the crash report. */
export function must<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new InvariantError(`missing: ${what}`);
  return value;
}

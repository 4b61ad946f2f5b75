import { Code, ConnectError } from '@connectrpc/connect';
import { describeValue, type Path, renderPath } from '../../config/problem.ts';

/** Problems listed of one message; what lies beyond is counted. */
const LISTED_MAX = 20;

/** Longest name of anything: an entry, a task, a source, a floor, an owner. */
export const ID_LENGTH_MAX = 253;

/**
 * All that is wrong with a message, so that its sender learns it at once. Fields are named as in the
 * proto: `entries[3].gang.task_ids`.
 */
export class Complaints {
  readonly #lines: string[] = [];
  #count = 0;

  add(path: Path, message: string, remedy: string): void {
    this.#count++;
    if (this.#count <= LISTED_MAX) this.#lines.push(`${renderPath(path)}: ${message}; ${remedy}`);
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Refuses the message if there is something to complain of. */
  settle(): void {
    if (this.isEmpty) return;
    const more = this.#count - LISTED_MAX;
    const lines = more > 0 ? [...this.#lines, `... and ${more} other problems`] : this.#lines;
    throw new ConnectError(lines.join('\n'), Code.InvalidArgument);
  }
}

/** A text that must be there, of a bounded length; what is wrong with it is noted. */
export function checkText(
  text: string,
  { path, lengthMax, complaints }: TextPlace & { readonly lengthMax: number },
): void {
  if (text.length > 0 && text.length <= lengthMax) return;
  if (text === '') complaints.add(path, 'is missing', 'set it');
  else complaints.add(path, tooLong(text), `write 1 to ${lengthMax}`);
}

/** The same of a text that may be left out. */
export function checkOptionalText(
  text: string,
  { path, lengthMax, complaints }: TextPlace & { readonly lengthMax: number },
): void {
  if (text.length > lengthMax) complaints.add(path, tooLong(text), `write at most ${lengthMax}`);
}

interface TextPlace {
  readonly path: Path;
  readonly complaints: Complaints;
}

const tooLong = (text: string): string => `${describeValue(text)} has ${text.length} letters`;

import { StringDecoder } from 'node:string_decoder';

/** Lines of standard error that one call may write into the log. */
export const LINES_MAX = 100;
/** Longest line that is kept, in characters. */
export const LINE_LENGTH_MAX = 300;
/** Held of a line until it ends: far more than is kept, so that secrets in it are found whole. */
const HELD_MAX = 16_384;

export interface ErrorLinesOptions {
  /** Takes secrets out of a line before it is cut. */
  readonly hide: (line: string) => string;
  /** Called for the first LINES_MAX lines that are not empty, cut to LINE_LENGTH_MAX. */
  readonly onLine: (line: string) => void;
}

/** What a program says on standard error, line by line, in bounded memory. */
export class ErrorLines {
  readonly #options: ErrorLinesOptions;
  readonly #decoder = new StringDecoder('utf8');
  #held = '';
  #last = '';
  #count = 0;

  constructor(options: ErrorLinesOptions) {
    this.#options = options;
  }

  /** The last line that was not empty; empty when there was none. */
  get last(): string {
    return this.#last;
  }

  /** Lines that were not passed on, because there were too many. */
  get unshownCount(): number {
    return Math.max(0, this.#count - LINES_MAX);
  }

  add(chunk: Buffer): void {
    const [first = '', ...rest] = this.#decoder.write(chunk).split('\n');
    this.#hold(first);
    for (const part of rest) {
      this.#finishLine();
      this.#hold(part);
    }
  }

  /** Nothing more will come: what is held is a line, although nothing ended it. */
  end(): void {
    this.#hold(this.#decoder.end());
    this.#finishLine();
  }

  #hold(part: string): void {
    const free = HELD_MAX - this.#held.length;
    if (free > 0) this.#held += part.slice(0, free);
  }

  #finishLine(): void {
    const line = cutLine(this.#options.hide(this.#held));
    this.#held = '';
    if (line === '') return;
    this.#last = line;
    this.#count += 1;
    if (this.#count <= LINES_MAX) this.#options.onLine(line);
  }
}

/** Text of a program as one line for people: no control characters, cut to a length. */
export function cutLine(text: string, lengthMax = LINE_LENGTH_MAX): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  if (line.length <= lengthMax) return line;
  // Half of a pair of code units is no character.
  return `${line.slice(0, lengthMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

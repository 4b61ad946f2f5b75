import { ProviderError } from '../../ports/provider.ts';
import { cutLine } from './error-lines.ts';

/** Exit codes that say more than "failed", as sysexits(3) numbers them. */
export const EXIT_TRY_LATER = 75;
export const EXIT_DENIED = 77;

/** How much of an answer that cannot be used is shown. */
const EXCERPT_MAX = 200;

/** Which call of which provider an error is about, and the program that was run for it. */
export interface CallPlace {
  readonly provider: string;
  readonly call: string;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly isFolder: (path: string) => boolean;
}

const say = ({ provider, call }: CallPlace, words: string): string =>
  `provider ${provider}, ${call}: ${words}`;

/** The program ended by itself, and not well. `lastLine` is what it said last on standard error. */
export function exitError(
  place: CallPlace,
  end: { readonly exitCode: number } | { readonly signal: string },
  lastLine: string,
): ProviderError {
  const said = lastLine === '' ? 'it said nothing on standard error' : lastLine;
  if ('signal' in end) {
    const words = `the program was ended by ${end.signal}, not by Bellows: ${said}`;
    return new ProviderError('unreachable', say(place, words));
  }
  const words = say(place, `the program ended with exit code ${end.exitCode}: ${said}`);
  switch (end.exitCode) {
    case EXIT_TRY_LATER:
      return new ProviderError('throttled', words);
    case EXIT_DENIED:
      return new ProviderError('denied', words);
    default:
      return new ProviderError('unreachable', words);
  }
}

/** The program could not be started at all. */
export function startError(place: CallPlace, error: Error): ProviderError {
  const code = 'code' in error ? String(error.code) : error.name;
  const program = JSON.stringify(place.command[0] ?? '');
  const options = { cause: error };
  const because = (kind: ProviderError['kind'], words: string): ProviderError =>
    new ProviderError(kind, say(place, `${program} cannot be started: ${words}`), options);
  // The system says ENOENT for both, and blames the program.
  if (!place.isFolder(place.cwd)) {
    return because('unreachable', `the folder ${place.cwd} that it runs in is not there`);
  }
  switch (code) {
    case 'ENOENT':
      return because(
        'unreachable',
        `no such program in PATH or, with a "/" in its name, from ${place.cwd} (${code}); correct the first word of command, or the first line (#!) of the file`,
      );
    case 'EACCES':
      return because(
        'denied',
        `it is not a file that may be executed (${code}); chmod +x it, or name its interpreter first, as in [node, machines.mjs]`,
      );
    default:
      return because('unreachable', `${code} ${cutLine(error.message)}`);
  }
}

/** The answer as a whole cannot be used. `output` is without secrets. */
export function answerError(place: CallPlace, problem: string, output: string): ProviderError {
  const shown = output === '' ? '' : `; it printed: ${cutLine(output, EXCERPT_MAX)}`;
  return new ProviderError('garbage', say(place, `${problem}${shown}`));
}

export function tooLongError(place: CallPlace, outputMaxBytes: number): ProviderError {
  const words = `the program printed more than ${outputMaxBytes} bytes and was ended; raise outputMax, or print the answer alone`;
  return new ProviderError('garbage', say(place, words));
}

export function deadlineError(place: CallPlace): ProviderError {
  const words =
    'the program had not answered by the deadline and was ended; raise callTimeout, or have it answer before the work is done';
  return new ProviderError('timeout', say(place, words));
}

export function closedError(place: CallPlace): ProviderError {
  return new ProviderError('unreachable', say(place, 'the provider is closed'));
}

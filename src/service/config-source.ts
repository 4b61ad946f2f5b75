import { readFileSync } from 'node:fs';
import { type Config, parseConfig } from '../config/config-file.ts';
import type { Problem } from '../config/problem.ts';
import { INPUT_SIZE_MAX, readInput } from '../config/read-file.ts';
import type { Clock } from '../ports/clock.ts';

/** Where a fleet's configuration comes from: a file, or the text that is built in. */
export type ConfigSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'built-in'; readonly text: string };

export type ConfigRead =
  | { readonly kind: 'ok'; readonly config: Config }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] };

export function readConfig(source: ConfigSource): ConfigRead {
  const name = source.kind === 'file' ? source.path : 'the built-in configuration';
  const input =
    source.kind === 'file'
      ? readInput(source.path, { sizeMax: INPUT_SIZE_MAX })
      : ({ kind: 'ok', text: source.text } as const);
  if (input.kind === 'bad') return { kind: 'bad', problems: [input.problem] };
  return parseConfig(input.text, name);
}

/** Files are looked at so often: works on every file system, and for files that are replaced. */
const LOOK_MS = 2_000;

/** Calls back when the content of a file has changed and then stayed for one look. */
export function watchConfig(path: string, clock: Clock, onChange: () => void): () => void {
  let known = readText(path);
  let pending: string | null = null;
  let timer: { cancel(): void } | null = null;
  const look = (): void => {
    const text = readText(path);
    // A file that cannot be read, or is half written, is looked at again.
    if (text !== null && text !== known) {
      if (text === pending) {
        known = text;
        pending = null;
        onChange();
      } else {
        pending = text;
      }
    }
    timer = clock.after(LOOK_MS, look);
  };
  timer = clock.after(LOOK_MS, look);
  return () => timer?.cancel();
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Gone for a moment while an editor replaces it, or for good: nothing to reload either way.
    return null;
  }
}

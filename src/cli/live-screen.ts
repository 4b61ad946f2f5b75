import type { Output } from './output.ts';
import type { Screen } from './surroundings.ts';

const HOME = '\u001B[H';
const ERASE_TO_LINE_END = '\u001B[K';
const ERASE_BELOW = '\u001B[J';
const CLEAR = '\u001B[2J';
const WRAP_OFF = '\u001B[?7l';
const WRAP_ON = '\u001B[?7h';

/** Text that is drawn over itself on a terminal: lines that do not fit are left out, none wraps. */
export function createLiveScreen(
  out: Output,
  screen: () => Screen | null,
): { readonly draw: (text: string) => void } {
  let isFirst = true;
  return {
    draw: (text) => {
      const rows = screen()?.rows ?? 24;
      const lines = text
        .replace(/\n$/, '')
        .split('\n')
        .slice(0, Math.max(1, rows - 1));
      const body = lines.map((line) => `${line}${ERASE_TO_LINE_END}\n`).join('');
      out.stdout(`${isFirst ? CLEAR : ''}${WRAP_OFF}${HOME}${body}${ERASE_BELOW}${WRAP_ON}`);
      isFirst = false;
    },
  };
}

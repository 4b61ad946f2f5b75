import type { Progress } from '../../wiring.ts';
import type { Output } from '../output.ts';

/** Real time between two looks of the line: often enough to be alive, seldom enough to cost nothing. */
const SHOWN_EVERY_MS = 100;
const HOUR_MS = 3_600_000;
const ERASE_LINE = '\r\u001B[2K';

/** One line on standard error that is written over and over, and gone at the end. */
export function createProgressLine(
  out: Output,
  { isShown }: { readonly isShown: boolean },
): { readonly show: (progress: Progress) => void; readonly clear: () => void } {
  let shownMs = -Infinity;
  return {
    show: (progress) => {
      if (!isShown || progress.tookMs - shownMs < SHOWN_EVERY_MS) return;
      shownMs = progress.tookMs;
      out.stderr(`${ERASE_LINE}${progressText(progress)}`);
    },
    clear: () => {
      if (isShown && shownMs >= 0) out.stderr(ERASE_LINE);
    },
  };
}

/** ` 37 %  08:53 of 24 h  12,400x  waiting 31, ready 48 slices`. */
function progressText({ simulatedMs, totalMs, tookMs, now }: Progress): string {
  const done = String(Math.floor((simulatedMs / totalMs) * 100)).padStart(3);
  const hours = Math.floor(simulatedMs / HOUR_MS);
  const minutes = Math.floor((simulatedMs % HOUR_MS) / 60_000);
  const clock = `${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
  const total = `${Number((totalMs / HOUR_MS).toFixed(2))} h`;
  const speed = Math.round(simulatedMs / Math.max(1, tookMs)).toLocaleString('en-US');
  const state = now === null ? '' : `  ${now.pending} waiting, ${now.ready} slices ready`;
  return `${done} %  ${clock} of ${total}  ${speed}x${state}`;
}

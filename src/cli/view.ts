import { type Moments, createMoments } from './render/moment.ts';
import { type Style, createStyle } from './render/style.ts';
import type { Surroundings } from './surroundings.ts';

/** How a command shows what it was told. */
export interface View {
  readonly style: Style;
  readonly moments: Moments;
  /** Of the screen; Infinity in a file or pipe, where nothing needs to be cut. */
  readonly columns: number;
}

/** As of now. */
export function createView({ out, nowMs, timeZone, screen }: Surroundings): View {
  return {
    style: createStyle(out.hasColour),
    moments: createMoments(nowMs(), timeZone),
    columns: screen()?.columns ?? Infinity,
  };
}

import type { Moments } from './moment.ts';
import type { Style } from './style.ts';

/** How a status is shown. */
export interface StatusView {
  readonly style: Style;
  readonly moments: Moments;
  /** Of the screen; Infinity where nothing needs to be cut. */
  readonly columns: number;
  readonly limits: StatusLimits;
}

/** Lines of each section; what lies beyond is counted. */
export interface StatusLimits {
  readonly groups: number;
  readonly classes: number;
  readonly reasons: number;
  readonly pauses: number;
  readonly troubles: number;
  readonly failures: number;
}

/** A usual fleet fits on a screen of forty lines. */
export const screenLimits: StatusLimits = {
  groups: 10,
  classes: 8,
  reasons: 3,
  pauses: 3,
  troubles: 3,
  failures: 5,
};

export const noLimits: StatusLimits = {
  groups: Infinity,
  classes: Infinity,
  reasons: Infinity,
  pauses: Infinity,
  troubles: Infinity,
  failures: Infinity,
};

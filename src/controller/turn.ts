import type { TickInput } from '../model/tick.ts';
import { nextEndMs } from '../planner/conditions.ts';
import { nextChangeMs } from '../policy/calendar.ts';

/** When a pause, a back-off or the hours of a calendar end: a decision made before may not hold. */
export function nextTurnMs(input: TickInput): number {
  const { calendars } = input.control;
  const hours = calendars.length === 0 ? null : nextChangeMs(input.control, input.atMs);
  return Math.min(nextEndMs(input) ?? Infinity, hours ?? Infinity);
}

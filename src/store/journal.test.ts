import { expect, test } from 'vitest';
import { chooseDrop } from './journal.ts';

const caps = { journalSizeMax: 100, journalAgeMaxMs: 10 };
const row = (atMs: number, isLatest = false) => ({ atMs, isLatest });

// prettier-ignore: a table is read by column
test.each([
  ['nothing while within both caps', row(90), row(90), 100, null],
  ['nothing of an empty journal', null, null, 999, null],
  ['the tick when it is too old', row(89), row(90), 0, 'tick'],
  ['the event when it is too old', row(90), row(89), 0, 'event'],
  ['the tick first when both are as old', row(50), row(50), 0, 'tick'],
  ['the older when there is too much', row(95), row(94), 101, 'event'],
  ['never the latest tick', row(0, true), row(90), 0, null],
  ['never the latest event', row(90), row(0, true), 0, null],
  ['the other when one is the latest', row(0, true), row(95), 101, 'event'],
  ['nothing when both are the latest', row(0, true), row(0, true), 999, null],
  ['the event of a journal without ticks', null, row(0), 0, 'event'],
] as const)('goes: %s', (_name, tick, event, bytes, choice) => {
  expect(chooseDrop({ tick, event }, { bytes, newestAtMs: 100 }, caps)).toBe(choice);
});

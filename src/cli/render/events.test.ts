import { expect, test } from 'vitest';
import { anEvent, inSeconds } from '../../../test/wire-messages.ts';
import { NOW_MS } from '../../../test/wire-server.ts';
import { renderEvents } from './events.ts';
import { createMoments } from './moment.ts';
import { isFailure } from './status-failures.ts';
import { createStyle } from './style.ts';

const moments = createMoments(NOW_MS, 'UTC');

test('time, kind and text in columns, the date when it is long ago', () => {
  const events = [
    anEvent({
      at: inSeconds(-200_000),
      kind: 'controller-started',
      text: 'host-1 took the lead (epoch 3)',
    }),
    anEvent({ kind: 'paused', text: 'ana paused launches\nof the fleet' }),
  ];
  expect(renderEvents(events, { style: createStyle(false), moments })).toBe(
    '2026-11-13 01:40:47  controller-started  host-1 took the lead (epoch 3)\n' +
      '09:12:11  paused              ana paused launches of the fleet\n',
  );
});

test('what went wrong stands out', () => {
  const [bad, good] = [anEvent(), anEvent({ kind: 'provider-back' })].map((event) =>
    renderEvents([event], { style: createStyle(true), moments }),
  );
  expect([bad?.includes('\u001B[31m'), good?.includes('\u001B')]).toEqual([true, false]);
});

// prettier-ignore: a table is read by column
test.each([
  ['launch-refused', {}, true],
  ['backoff-started', {}, true],
  ['gang-rolled-back', {}, true],
  ['provider-silent', {}, true],
  ['slice-moved', { event: 'host-lost' }, true],
  ['slice-moved', { event: 'timed-out' }, true],
  ['slice-moved', { event: 'hosts-ready' }, false],
  ['slice-moved', { event: 'refused' }, false], // has a launch-refused of its own
  ['paused', {}, false],
  ['backoff-ended', {}, false],
] as const)('%s %o is a failure: %s', (kind, fields, isBad) => {
  expect(isFailure(anEvent({ kind, fields }))).toBe(isBad);
});

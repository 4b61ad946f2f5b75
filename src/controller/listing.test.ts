import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkListing } from './listing.ts';

const row = {
  machineId: 'i-1',
  sliceId: 's',
  group: 'g',
  hostIndex: 0,
  state: 'ready',
  interruptionAtMs: null,
};

test('rows that make sense pass as they are', () => {
  const rows = [row, { ...row, interruptionAtMs: 5 }, { ...row, state: 'gone', hostIndex: 3 }];
  expect(checkListing(rows)).toEqual({ machines: rows, dropped: 0 });
});

test.each([
  ['no object', 7],
  ['nothing', null],
  ['no machine id', { ...row, machineId: undefined }],
  ['an empty name', { ...row, sliceId: '' }],
  ['a name without end', { ...row, group: 'x'.repeat(501) }],
  ['a state that nobody knows', { ...row, state: 'zombie' }],
  ['a host before the first', { ...row, hostIndex: -1 }],
  ['half a host', { ...row, hostIndex: 0.5 }],
  ['a host as text', { ...row, hostIndex: '0' }],
  ['too many hosts', { ...row, hostIndex: 10_000 }],
  ['an end that is no time', { ...row, interruptionAtMs: Number.NaN }],
  ['an end that was not said', { ...row, interruptionAtMs: undefined }],
])('a row with %s is dropped and counted, the others pass', (_name, bad) => {
  expect(checkListing([row, bad, row])).toEqual({ machines: [row, row], dropped: 1 });
});

test.each([[null], [undefined], ['rows'], [{ machines: [] }]])('%j is no list', (value) => {
  expect(checkListing(value)).toBeNull();
});

test('nothing that a provider can say breaks it', () => {
  fc.assert(
    fc.property(fc.array(fc.anything()), (rows) => {
      const listing = checkListing(rows);
      expect((listing?.machines.length ?? 0) + (listing?.dropped ?? 0)).toBe(rows.length);
    }),
  );
});

import { describe, expect, test } from 'vitest';
import { epochMs } from '../model/ids.ts';
import { sliceStatuses } from '../model/slice.ts';
import { aHost, aRecord, aSight, aTimeouts } from '../../test/builders.ts';
import { advance } from './advance.ts';
import { QUEUED_MAX_MS, TERMINATING_MAX_MS, timeoutConsequences, timeoutOf } from './timeouts.ts';
import { transitions } from './transitions.ts';

describe('timeouts', () => {
  test('every status that can time out has a limit, and every limit a consequence', () => {
    const known = sliceStatuses.filter((status) => transitions[status]['timed-out'] !== undefined);
    expect(sliceStatuses.filter((status) => timeoutOf(status, aTimeouts) !== null)).toEqual(known);
    expect(Object.keys(timeoutConsequences)).toEqual(known);
  });

  test('only a ready slice waits for nothing', () => {
    const forEver = sliceStatuses.filter((status) => timeoutOf(status, aTimeouts) === null);
    expect(forEver).toEqual(['ready', 'terminated', 'failed']);
  });

  test.each([
    ['a launch that no rate lets go is given up', 'queued', QUEUED_MAX_MS, 'terminated'],
    [
      'a request without machines is released by its id',
      'requesting',
      aTimeouts.requestingMs,
      'terminating',
    ],
    ['a slice that does not come up is released', 'booting', aTimeouts.bootingMs, 'terminating'],
    [
      'a slice whose software does not come is released',
      'initializing',
      aTimeouts.initializingMs,
      'terminating',
    ],
    [
      'a release that nothing confirms is asked for again',
      'terminating',
      TERMINATING_MAX_MS,
      'terminating',
    ],
  ] as const)('%s', (_name, status, limitMs, after) => {
    const record = aRecord({ status, statusSinceMs: epochMs(0) });
    const hosts = status === 'booting' || status === 'initializing' ? [aHost('starting')] : [null];
    const at = (nowMs: number) =>
      advance(record, aSight({ hosts }), {
        nowMs: epochMs(nowMs),
        listedMs: null,
        listLagMs: 0,
        timeouts: aTimeouts,
      });
    expect(at(limitMs - 1).steps).toEqual([]);
    const cause = { kind: 'timeout', status, afterMs: limitMs };
    expect(at(limitMs).steps).toEqual([
      { atMs: limitMs, event: 'timed-out', status: after, cause },
    ]);
  });
});

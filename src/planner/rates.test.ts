import { describe, expect, test } from 'vitest';
import { entryId, epochMs, sliceId } from '../model/ids.ts';
import type { Limits } from '../model/fleet.ts';
import type { Pause } from '../model/pause.ts';
import type { Trouble } from '../model/trouble.ts';
import { aGroup, aTickInput, aTrackedSlice, noLimits } from '../../test/builders.ts';
import { planSending, type Waiting } from './rates.ts';

const groups = [aGroup({ name: 'a' }), aGroup({ name: 'b' })];
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

/** So many launches wait in group `a`, one of each second. */
const waits = (count: number, over: Partial<Waiting> = {}): readonly Waiting[] =>
  numbers(count).map((n) => {
    const id = `${over.groupIndex ?? 0}${over.gang ?? ''}w${n}`;
    return {
      sliceId: sliceId(id),
      groupIndex: 0,
      sinceMs: epochMs(-60_000 + n),
      gang: null,
      ...over,
    };
  });
const slices = (count: number, status: 'ready' | 'requesting', over = {}) =>
  numbers(count).map((n) => aTrackedSlice({ id: `${status}${n}`, group: 'a', status, ...over }));

interface Given extends Omit<NonNullable<Parameters<typeof aTickInput>[0]>, 'control'> {
  readonly limits?: Partial<Limits>;
  readonly own?: number;
}
function send({ limits, own, ...given }: Given, waiting: readonly Waiting[]) {
  const fleet = { groups, limits: { ...noLimits, ...limits } };
  const control = { fleet, own: { concurrentLaunchesMax: own ?? null } };
  return planSending(aTickInput({ ...given, control }), waiting);
}
const sentBy = (given: Given, waiting: readonly Waiting[]): number =>
  send(given, waiting).steps.length;

describe('launches at a time', () => {
  test.each([
    ['no limit: all', {}, 5, 5],
    ['the fleet has a limit', { limits: { concurrentLaunches: 3 } }, 5, 3],
    [
      'those under way count',
      { limits: { concurrentLaunches: 3 }, slices: slices(2, 'requesting') },
      5,
      1,
    ],
    ['the group has a limit of its own', { own: 2 }, 5, 2],
    ['its own under way count', { own: 2, slices: slices(2, 'requesting') }, 5, 0],
    ['speed 0 lets one go: something must', { limits: { upscalingSpeed: 0 } }, 5, 1],
    [
      'speed 1 doubles what runs',
      { limits: { upscalingSpeed: 1 }, slices: slices(3, 'ready') },
      9,
      3,
    ],
    ['speed 1 with nothing running lets one go', { limits: { upscalingSpeed: 1 } }, 9, 1],
    ['speed 2.5 with nothing running', { limits: { upscalingSpeed: 2.5 } }, 9, 3],
    [
      'speed 0.5 of five, rounded up',
      { limits: { upscalingSpeed: 0.5 }, slices: slices(5, 'ready') },
      9,
      3,
    ],
    [
      'speed counts those under way',
      {
        limits: { upscalingSpeed: 1 },
        slices: [...slices(3, 'ready'), ...slices(2, 'requesting')],
      },
      9,
      1,
    ],
  ] as const)('%s', (_name, given, count, sent) => {
    expect(sentBy(given, waits(count))).toBe(sent);
  });

  test('the oldest go first, then by id', () => {
    const { steps } = send({ limits: { concurrentLaunches: 2 } }, waits(5).toReversed());
    expect(steps.map(({ sliceId: id }) => id)).toEqual(['0w0', '0w1']);
  });

  test('a group that may not go holds up no other', () => {
    const both = [...waits(3), ...waits(3, { groupIndex: 1 })];
    const { steps } = send({ limits: { upscalingSpeed: 1 } }, both);
    expect(steps.map(({ sliceId: id }) => id)).toEqual(['0w0', '1w0']);
  });
});

describe('launches per minute', () => {
  const at = (...seconds: readonly number[]) => seconds.map((s) => epochMs(s * 1_000));
  test.each([
    ['as many as the limit', [], 4, 3],
    ['less what went in the last minute', at(-50, -20), 4, 1],
    ['a launch a minute ago counts no longer', at(-60, -20), 4, 2],
    ['none when the minute is full', at(-50, -40, -30), 4, 0],
  ] as const)('%s', (_name, launchedAtMs, count, sent) => {
    expect(sentBy({ limits: { createsPerMinute: 3 }, launchedAtMs }, waits(count))).toBe(sent);
  });

  test.each([
    ['when the oldest is a minute old', at(-50, -40, -30), 10_000],
    ['when enough of them are, after the limit was lowered', at(-50, -40, -30, -20), 20_000],
    ['in a minute, when all went just now', [], 60_000],
  ] as const)('what is deferred is told until when: %s', (_name, launchedAtMs, untilMs) => {
    const { deferrals } = send({ limits: { createsPerMinute: 3 }, launchedAtMs }, waits(5));
    expect(deferrals).toMatchObject([{ by: 'creates-per-minute', untilMs }]);
  });
});

describe('a gang', () => {
  const gang = waits(4, { gang: 'g' });
  test.each([
    ['goes whole where one may go', { limits: { concurrentLaunches: 1 } }],
    ['by its own limit', { own: 1 }],
    ['by speed', { limits: { upscalingSpeed: 1 } }],
    ['by launches per minute', { limits: { createsPerMinute: 1 } }],
  ] as const)('%s', (_name, given) => {
    expect(sentBy(given, gang)).toBe(4);
    expect(sentBy(given, [...gang, ...waits(1)])).toBe(4); // and counts as one
  });

  test('under way counts as one', () => {
    const under = slices(4, 'requesting', { reservedFor: entryId('h') });
    const given = { limits: { concurrentLaunches: 2 }, slices: under };
    expect(sentBy(given, waits(3))).toBe(1);
    expect(sentBy(given, gang)).toBe(4);
  });

  test('waits whole where none may go', () => {
    const given = { limits: { concurrentLaunches: 1 }, slices: slices(1, 'requesting') };
    const { steps, deferrals, deferred } = send(given, gang);
    expect(steps).toEqual([]);
    expect(deferred.size).toBe(4);
    expect(deferrals).toEqual([
      { group: 'a', count: 4, by: 'concurrent-launches', untilMs: 10_000 },
    ]);
  });
});

describe('a group whose trouble nothing has ended yet', () => {
  const over: Trouble = {
    scope: { kind: 'group', name: 'a' },
    kind: 'stockout',
    attempts: 2,
    sinceMs: epochMs(-90_000),
    untilMs: epochMs(0),
    detail: '',
  };

  test('is asked for one slice, and for more when that one has come', () => {
    expect(sentBy({ troubles: [over] }, waits(5))).toBe(1);
    const under = { troubles: [over], slices: slices(1, 'requesting') };
    expect(send(under, waits(2)).deferrals).toMatchObject([{ by: 'probing', count: 2 }]);
    expect(sentBy({}, waits(5))).toBe(5);
  });

  test('is asked for one gang', () => {
    expect(sentBy({ troubles: [over] }, waits(4, { gang: 'g' }))).toBe(4);
  });
});

test('what is paused is neither sent nor called deferred', () => {
  const pause: Pause = {
    id: 'p',
    what: 'launches',
    group: groups[0]?.name ?? null,
    author: 'ann',
    reason: '',
    sinceMs: epochMs(-1),
    untilMs: null,
  };
  const { steps, deferred } = send({ pauses: [pause] }, [
    ...waits(2),
    ...waits(2, { groupIndex: 1 }),
  ]);
  expect(steps.map(({ sliceId: id }) => id)).toEqual(['1w0', '1w1']);
  expect(deferred.size).toBe(0);
});

test.each([
  ['its own limit', { own: 1, slices: slices(1, 'requesting') }, 'concurrent-launches'],
  ['the limit of the fleet', { limits: { concurrentLaunches: 0 } }, 'concurrent-launches'],
  ['speed', { limits: { upscalingSpeed: 1 }, slices: slices(1, 'requesting') }, 'upscaling-speed'],
  ['launches per minute', { limits: { createsPerMinute: 0 } }, 'creates-per-minute'],
] as const)('a deferral names what deferred it: %s', (_name, given, by) => {
  expect(send(given, waits(1)).deferrals).toMatchObject([{ group: 'a', count: 1, by }]);
});

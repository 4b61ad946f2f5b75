import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anEvent, aStatus, inSeconds } from '../../../test/wire-messages.ts';
import { NOW_MS } from '../../../test/wire-server.ts';
import { createMoments } from './moment.ts';
import { renderStatus, statusLine } from './status.ts';
import { noLimits, screenLimits, type StatusView } from './status-view.ts';
import { createStyle } from './style.ts';

const view: StatusView = {
  style: createStyle(false),
  moments: createMoments(NOW_MS, 'UTC'),
  columns: 100,
  limits: screenLimits,
};

test('a fleet on one screen', () => {
  expect(`\n${renderStatus(aStatus(), view)}`).toMatchInlineSnapshot(`
    "
    FLEET   research  leading, active  decided 09:14:03 (4s ago), next by 09:14:18 (in 11s)
    SPEND   $108.50/h now, $114.62/h planned, cap $500.00/h
    BOUND   what is new is 2.3 % above the least that is possible, $5.98/h (12s old)
    PAUSED  terminations by bob until 11:04:07 (in 1h50m): network maintenance (pause-1)

    GROUPS  3, 17 slices
      group    ready  idle  coming  going  min  spare  max    $/h  work  new  state
      cpu-16      12     1       3      1    1      1   60   0.68   420    9  requesting; launches for…
      l4-spot      0     0       0      0    0      0   30   0.28     0    0  stockout until 09:20:00;…
      h100         1     0       0      0    0      0    6  98.32     1    0  available

    DEMAND  430 entries, 421 placed, 9 wait
      count  asks for                                                      placed  waits  where
        420  cpu 2, memory 6GiB, disk 4GiB                                    420      0  cpu-16 300 new, 120…
          8  on gpu L4, cpu 4, memory 16GiB, gpu 1, zone =…                     0      8  no-matching-group
          2  gang of 16: on gpu H100, cpu 20, memory 200Gi… (priority 10)       1      1  h100 1 free room; n…

    UNMET   9 entries
      8 no-matching-group: no group matches what it asks for
          remedy: ask for zone us-east1-b instead of us-east1b (l4-spot), which admits 8 of 8; more: bellows why embeddings/0
      1 no-capacity: at max: needs 2 slices, 1 left of 6
          remedy: raise max of h100 from 6 to 8; more: bellows why finetune-2

    TROUBLE
      stockout in group l4-spot, until 09:20:00 (in 5m53s), 3 refusals, ZONE_RESOURCE_POOL_EXHAUSTED

    FAILURES  the last 2
      09:12:11 (1m56s ago)  launch of slice s-9 of l4-spot refused: the provider is out of stock
      09:07:27 (6m40s ago)  slice s-8 of cpu-16: ready -> terminating (host lost: machine i-7 was lost)
    "
  `);
});

test('before the first decision it says what it waits for', () => {
  const status = aStatus({
    decidedAt: undefined,
    nextDecisionBy: undefined,
    tick: 0n,
    standing: 'starting',
    standingDetail: 'no list of provider aws yet',
    mode: 'advisory',
    groups: [],
    classes: [],
    spend: undefined,
    pauses: [],
    troubles: [],
    recentEvents: [],
  });
  expect(statusLine(status)).toBe('starting: no list of provider aws yet; nothing decided yet');
  const unknown = { ...status, mode: '' };
  expect(renderStatus(unknown, view)).toBe(
    'FLEET   research  starting: no list of provider aws yet  nothing decided yet\n',
  );
  expect(renderStatus(status, view)).toBe(
    'FLEET   research  starting: no list of provider aws yet, advisory: nothing is carried out  nothing decided yet\n',
  );
});

test('groups tell what holds them up', () => {
  const groups = [
    {
      name: 'old',
      availability: 'available',
      deferred: [{ count: 4, by: 'creates-per-minute', until: inSeconds(20) }],
      shortfall: '1 slice short of min or spare: at max',
      health: 0.17,
      retired: true,
      verdict: { kind: 'idle', text: 'no demand' },
    },
  ];
  const text = renderStatus(aStatus({ groups }), { ...view, columns: Infinity });
  expect(text).toContain(
    '    -     0    0  available; no longer configured; 4 deferred by creates-per-minute until 09:14:27; ' +
      '1 slice short of min or spare: at max; health 0.17\n',
  );
});

test('many groups: those with something to tell are shown, the others counted', () => {
  const quiet = Array.from({ length: 40 }, (_, n) => ({
    name: `quiet-${n}`,
    availability: 'available',
  }));
  const groups = [...quiet, { name: 'busy', slices: { ready: 1 }, availability: 'available' }];
  const short = renderStatus(aStatus({ groups }), view);
  expect(short).toContain('  busy ');
  expect(short).toContain('  ... and 31 more groups\n');
  expect(renderStatus(aStatus({ groups }), { ...view, limits: noLimits })).toContain('quiet-39');
});

test.each([
  [
    'no bound known',
    { boundUnknown: 'the solver took too long' },
    'BOUND   the lower bound is unknown: the solver took too long\n',
  ],
  [
    'no better plan',
    { boundUsdPerHour: 6, boundRatio: 1 },
    'BOUND   what is new costs the least that is possible, $6.00/h (12s old)\n',
  ],
  ['nothing new', { boundUsdPerHour: 0 }, 'cap $500.00/h\nPAUSED'],
])('%s', (_name, over, text) => {
  const priced = {
    usdPerHour: 1,
    plannedUsdPerHour: 2,
    capUsdPerHour: 500,
    boundAt: inSeconds(-12),
  };
  const spend = { ...priced, ...over };
  expect(renderStatus(aStatus({ spend }), view)).toContain(text);
});

test('an entry is named only where it is sure to wait', () => {
  const classes = (entryIds: string[]) => [{ count: 2n, unmetCount: 1n, entryIds }];
  expect(renderStatus(aStatus({ classes: classes(['a', 'b']) }), view)).toContain(
    'more: bellows why b\n',
  );
  expect(renderStatus(aStatus({ classes: classes(['a']) }), view)).not.toContain('bellows why');
});

test('words from elsewhere cannot steer the terminal', () => {
  const nasty = 'x\u001B[2J\u001B]0;owned\u0007\r\nFLEET';
  const status = aStatus({
    fleet: nasty,
    groups: [{ name: nasty, availability: nasty, shortfall: nasty }],
    classes: [
      {
        count: 1n,
        unmetCount: 1n,
        text: nasty,
        entryIds: [nasty],
        unmet: { reason: { kind: nasty, text: nasty }, remedy: nasty },
      },
    ],
    floors: [{ id: nasty, text: nasty }],
    pauses: [{ id: nasty, what: nasty, author: nasty, reason: nasty }],
    troubles: [{ scope: nasty, name: nasty, kind: nasty, detail: nasty }],
    recentEvents: [anEvent({ text: nasty })],
  });
  // oxlint-disable-next-line no-control-regex
  const steering = /[\u0000-\u0009\u000B-\u001F\u007F]|^FLEET(?! {3}x)/m;
  expect(renderStatus(status, view)).not.toMatch(steering);
});

test('however much there is, it stays about a screen, and no row is wider than the screen', () => {
  const classes = fc.array(fc.record({ count: fc.bigInt(1n, 10n ** 9n), text: fc.string() }), {
    maxLength: 60,
  });
  const groups = fc.array(
    fc.record({ name: fc.stringMatching(/^[a-z0-9-]{1,12}$/), shortfall: fc.string() }),
    { minLength: 1, maxLength: 60 },
  );
  fc.assert(
    fc.property(classes, groups, (someClasses, someGroups) => {
      const lines = renderStatus(aStatus({ classes: someClasses, groups: someGroups }), view).split(
        '\n',
      );
      expect(lines.length).toBeLessThanOrEqual(50);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(110);
    }),
    { numRuns: 50 },
  );
});

test('a line for logs', () => {
  expect(statusLine(aStatus())).toBe(
    '13 ready, 3 coming, 1 leaving; 421 placed, 9 wait; $108.50/h; 1 paused; 1 in trouble',
  );
  const following = { standing: 'following', pauses: [], troubles: [], spend: undefined };
  expect(statusLine(aStatus(following))).toBe(
    'following; 13 ready, 3 coming, 1 leaving; 421 placed, 9 wait',
  );
});

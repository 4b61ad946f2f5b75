import { timestampMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import type { ListEventsRequest } from '../../api/gen/bellows/v1/autoscaler_pb.ts';
import { anEvent } from '../../../test/wire-messages.ts';
import {
  aPlace,
  eventually,
  NOW_MS,
  openWireServer,
  type Routes,
  runAgainst,
} from '../../../test/wire-server.ts';
import { runEvents } from './events.ts';

/** Events 1 to as many as there are when asked, in pages as asked for. */
function serving(count: () => number): { routes: Routes; asked: ListEventsRequest[] } {
  const asked: ListEventsRequest[] = [];
  const routes: Routes = {
    listEvents: (request) => {
      asked.push(request);
      const first = Number(request.afterSeq ?? 0n) + 1;
      const last = Math.min(count(), first + request.pageSize - 1);
      const events = Array.from({ length: Math.max(0, last - first + 1) }, (_, n) =>
        anEvent({ seq: BigInt(first + n), text: `event ${first + n}` }),
      );
      return { events, ...(last < count() ? { nextAfterSeq: BigInt(last) } : {}) };
    },
  };
  return { routes, asked };
}

test('pages are fetched until done', async () => {
  const { routes, asked } = serving(() => 1_001);
  const run = await runAgainst(routes, (options, around) =>
    runEvents('h100', { ...options, since: '2h', kind: ['launch-refused,paused'] }, around),
  );
  expect([run.exit, run.stderr]).toEqual([0, '']);
  expect(run.stdout.split('\n')).toHaveLength(1_002);
  expect(run.stdout).toMatch(/^09:12:11 {2}launch-refused {6}event 1\n/);
  expect(asked).toMatchObject([
    { subject: 'h100', kinds: ['launch-refused', 'paused'] },
    { afterSeq: 1_000n },
  ]);
  const since = asked[0]?.since;
  expect(since && timestampMs(since)).toBe(NOW_MS - 7_200_000);
});

test('beyond 10,000 it stops and says so', async () => {
  const { routes } = serving(() => 20_000);
  const run = await runAgainst(routes, (options, around) =>
    runEvents(undefined, { ...options, json: true }, around),
  );
  expect(JSON.parse(run.stdout)).toMatchObject({ nextAfterSeq: '10000' });
  expect(run.stderr).toMatch(/^the first 10,000 events shown; a later --since/);
});

test('nothing happened', async () => {
  const run = await runAgainst(serving(() => 0).routes, (options, around) =>
    runEvents(undefined, options, around),
  );
  expect(run.stdout).toBe('no events in the last hour; --since 1d looks further\n');
});

test.each([
  ['2026-11-15T06:00:00Z', Date.parse('2026-11-15T06:00:00Z')],
  ['2026-11-15 06:00:00+02:00', Date.parse('2026-11-15T04:00:00Z')],
  ['2026-11-15', new Date(2026, 10, 15).getTime()],
  ['90s', NOW_MS - 90_000],
])('--since %s', async (since, ms) => {
  const { routes, asked } = serving(() => 0);
  await runAgainst(routes, (options, around) =>
    runEvents(undefined, { ...options, since }, around),
  );
  const sent = asked[0]?.since;
  expect(sent && timestampMs(sent)).toBe(ms);
});

test.each([
  [
    'a time that is none',
    { since: 'yesterday' },
    '--since: "yesterday" is not a time; write 2h for two hours ago, or 2026-11-15T06:00Z\n',
  ],
  [
    'a kind that is none',
    { kind: ['launch-refuse'] },
    '--kind: "launch-refuse" is not known; did you mean launch-refused?\n',
  ],
])('%s', async (_name, over, stderr) => {
  const { around, printed } = aPlace();
  expect(await runEvents(undefined, over, around)).toBe(2);
  expect(printed.stderr).toBe(stderr);
});

test('followed: what is new comes once, across a restart of the server', async () => {
  let count = 2;
  const { routes } = serving(() => count);
  const first = await openWireServer(routes);
  const { around, printed, interrupt } = aPlace();
  const running = runEvents(undefined, { server: first.url, follow: true }, around);
  await eventually(() => printed.stdout.includes('event 2'), 'the first two');
  await first.close();
  await eventually(() => printed.stderr.includes('trying again'), 'word that it is gone');
  count = 3;
  const second = await openWireServer(routes, { port: first.port });
  await eventually(() => printed.stdout.includes('event 3'), 'the third');
  interrupt.abort();
  expect(await running).toBe(0);
  await second.close();
  expect(printed.stdout.match(/event \d/g)).toEqual(['event 1', 'event 2', 'event 3']);
  expect(printed.stderr).toContain('answers again\n');
});

import { describe, expect, test } from 'vitest';
import type { HostReport } from '../model/host-report.ts';
import { epochMs, machineId } from '../model/ids.ts';
import type { DrainWhy } from '../model/slice-record.ts';
import { aHost, aRecord, aReport, aSight, aTimeouts } from '../../test/builders.ts';
import { advance } from './advance.ts';
import type { SliceSight } from './sight.ts';
import { DRAIN_AGAIN_MS, sparedUntilMs } from './timeouts.ts';

const around = { listedMs: epochMs(0), listLagMs: 1_000, timeouts: aTimeouts };
const hosts = [aHost('ready'), aHost('ready', { machineId: machineId('m1') })];
const idle: DrainWhy = { kind: 'idle', idleForMs: 600_000 };
const operator: DrainWhy = { kind: 'operator', author: 'ann', reason: 'repair' };
const interrupted: DrainWhy = { kind: 'interrupted', atMs: epochMs(60_000) };
const surplus: DrainWhy = { kind: 'surplus-machines', machines: 3, hosts: 2 };
const removed: DrainWhy = { kind: 'group-removed' };

const deadlineMs = epochMs(60_000);

/** Two hosts that drain from time 1 s until 60 s. */
const draining = (why: DrainWhy, isReported = true) =>
  aRecord({
    status: 'draining',
    statusSinceMs: epochMs(1_000),
    hostCount: 2,
    machines: [machineId('m0'), machineId('m1')],
    isReported,
    drain: { why, deadlineMs },
  });

const says = (drain: HostReport['drain'], atMs = 5_000): HostReport =>
  aReport({ drain, atMs: epochMs(atMs), isBusy: drain !== 'drained' });

describe('the end of a drain', () => {
  const none = says('none');
  const drained = says('drained');
  const refused = says('refused');
  const stale = (drain: HostReport['drain']) => says(drain, 999);
  test.each([
    ['goes on while work runs', idle, [none, none], 10_000, []],
    ['is over when every host says drained', idle, [drained, drained], 10_000, ['drain-finished']],
    ['waits for the last host', idle, [drained, none], 10_000, []],
    ['waits for a host that says nothing', idle, [drained, null], 10_000, []],
    ['believes no answer older than its order', idle, [drained, stale('drained')], 10_000, []],
    ['is called off when one host refuses', idle, [drained, refused], 10_000, ['drain-cancelled']],
    ['hears no refusal older than its order', idle, [drained, stale('refused')], 10_000, []],
    ['an operator is not refused', operator, [none, refused], 10_000, []],
    ['nor is a provider that takes it away', interrupted, [none, refused], 10_000, []],
    ['a removed group never kills work', removed, [none, none], 60_000, ['drain-cancelled']],
    ['work that outlasts it makes it stay', idle, [drained, none], 60_000, ['drain-cancelled']],
    [
      'silence after a report is taken for work',
      idle,
      [drained, null],
      60_000,
      ['drain-cancelled'],
    ],
    ['the deadline is the last moment, not before', operator, [none, none], 59_999, []],
    ['an operator ends it at the deadline', operator, [none, none], 60_000, ['timed-out']],
    ['so does the provider', interrupted, [none, none], 60_000, ['timed-out']],
  ] as const)('%s', (_name, why, reports, nowMs, events) => {
    const { steps } = advance(draining(why), aSight({ hosts, reports }), {
      ...around,
      nowMs: epochMs(nowMs),
    });
    expect(steps.map(({ event }) => event)).toEqual(events);
  });

  test.each([
    ['cannot be refused', 'refused', 10_000, []],
    ['lasts until the announced time', 'none', 89_999, []],
    ['is over then', 'none', 90_000, ['timed-out']],
  ] as const)(
    'a drain during which the provider announces to take it away %s',
    (_name, answer, nowMs, events) => {
      const noticed = hosts.map((host) => ({ ...host, interruptionAtMs: epochMs(90_000) }));
      const sight = aSight({ hosts: noticed, reports: [says(answer), says(answer)] });
      const { steps } = advance(draining(idle), sight, { ...around, nowMs: epochMs(nowMs) });
      expect(steps.map(({ event }) => event)).toEqual(events);
    },
  );

  test('where nobody ever reported, the deadline ends it', () => {
    const sight = aSight({ hosts, reports: [null, null] });
    const { record, steps } = advance(draining(idle, false), sight, {
      ...around,
      nowMs: deadlineMs,
    });
    expect(record.status).toBe('terminating');
    expect(steps[0]?.cause).toEqual({ kind: 'timeout', status: 'draining', afterMs: 59_000 });
  });

  test.each([
    ['drain-refused', [says('drained'), says('refused')], 10_000],
    ['drain-outlasted', [says('drained'), says('none')], 60_000],
  ] as const)('a slice that stays knows which host it was: %s', (kind, reports, nowMs) => {
    const { record, steps } = advance(draining(idle), aSight({ hosts, reports }), {
      ...around,
      nowMs: epochMs(nowMs),
    });
    expect(steps[0]?.cause).toEqual({ kind, hostIndex: 1 });
    expect(record).toMatchObject({ status: 'ready', drain: null });
  });

  test('a slice that stays has its whole time without work before it', () => {
    const reports = [says('drained'), aReport({ drain: 'refused', atMs: epochMs(5_000) })];
    const before = { ...draining(idle), idleSinceMs: epochMs(-600_000) };
    const { record } = advance(before, aSight({ hosts, reports }), {
      ...around,
      nowMs: epochMs(9_000),
    });
    expect(record).toMatchObject({ status: 'ready', idleSinceMs: 9_000 });
  });
});

describe('a slice with machines too many', () => {
  const sight = (reports: SliceSight['reports']) => aSight({ hosts, reports, machineCount: 3 });

  test('is not asked again at once when its scheduler refuses, and not in the same look', () => {
    const nowMs = epochMs(5_000);
    const reports = [says('refused'), says('refused')]; // of this very instant
    const { record, steps } = advance(draining(surplus), sight(reports), { ...around, nowMs });
    expect(steps.map(({ event }) => event)).toEqual(['drain-cancelled']);
    expect(sparedUntilMs(record)).toBe(5_000 + DRAIN_AGAIN_MS);
    const atMs = (later: number) => ({ ...around, nowMs: epochMs(5_000 + later) });
    expect(advance(record, sight(reports), atMs(DRAIN_AGAIN_MS - 1)).steps).toEqual([]);
    const [again] = advance(record, sight(reports), atMs(DRAIN_AGAIN_MS)).steps;
    expect(again?.event).toBe('drain-started');
  });

  test('leaves at once when a notice comes, spared or not', () => {
    const returned = { ...draining(idle), status: 'ready', drain: null } as const;
    const noticed = [aHost('ready', { interruptionAtMs: epochMs(9_000) }), hosts[1] ?? null];
    const { record } = advance(returned, aSight({ hosts: noticed }), {
      ...around,
      nowMs: epochMs(2_000),
    });
    expect(record.drain).toEqual({ why: { kind: 'interrupted', atMs: 9_000 }, deadlineMs: 9_000 });
  });
});

describe('the end of a release', () => {
  const none = [null, null];
  const gone = hosts.map((host) => ({ ...host, state: 'gone' as const }));
  const inFlight = { kind: 'in-flight' } as const;
  test.each([
    ['not before the provider agreed', { hosts: none, releaseAcceptedMs: null }, 9_000, []],
    ['not before any list', { hosts: none, releaseAcceptedMs: 2_000 }, null, []],
    [
      'not by a list that may lag behind the release',
      { hosts: none, releaseAcceptedMs: 2_000 },
      3_000,
      [],
    ],
    ['by a list that began later', { hosts: none, releaseAcceptedMs: 2_000 }, 3_001, ['all-gone']],
    ['not while a machine is listed', { hosts, releaseAcceptedMs: 2_000 }, 9_000, []],
    [
      'not while a machine with another place is listed',
      { hosts: none, machineCount: 1, releaseAcceptedMs: 2_000 },
      9_000,
      [],
    ],
    [
      'not while its launch is still under way',
      { hosts: none, releaseAcceptedMs: 2_000, launch: inFlight },
      9_000,
      [],
    ],
    [
      'machines said to be gone are gone',
      { hosts: gone, releaseAcceptedMs: 2_000 },
      3_001,
      ['all-gone'],
    ],
    [
      'not by a list that may lag behind the last sight',
      {
        hosts: hosts.map((host) => ({ ...host, lastSeenMs: epochMs(5_000) })),
        machineCount: 0,
        releaseAcceptedMs: 2_000,
      },
      6_000,
      [],
    ],
  ] as const)('%s', (_name, sight, listedMs, events) => {
    const record = aRecord({ status: 'terminating', statusSinceMs: epochMs(1_000), hostCount: 2 });
    const releaseAcceptedMs =
      sight.releaseAcceptedMs === null ? null : epochMs(sight.releaseAcceptedMs);
    const { steps } = advance(record, aSight({ ...sight, releaseAcceptedMs }), {
      ...around,
      nowMs: epochMs(9_000),
      listedMs: listedMs === null ? null : epochMs(listedMs),
    });
    expect(steps.map(({ event }) => event)).toEqual(events);
  });
});

describe('where nobody reports and that means idle', () => {
  const at = (nowMs: number) => ({ ...around, nowMs: epochMs(nowMs), unreported: 'idle' as const });
  const silent = aSight({ hosts, reports: [null, null] });

  test('a drain is over at once: nobody is there to be asked', () => {
    const { steps } = advance(draining(idle, false), silent, at(2_000));
    expect(steps.map(({ event }) => event)).toEqual(['drain-finished']);
  });

  test('unless somebody reported once', () => {
    expect(advance(draining(idle, true), silent, at(2_000)).steps).toEqual([]);
  });

  test('a ready slice is idle from the start', () => {
    const ready = aRecord({ hostCount: 2, machines: [machineId('m0'), machineId('m1')] });
    expect(advance(ready, silent, at(2_000)).record.idleSinceMs).toBe(2_000);
    expect(advance(ready, silent, { ...around, nowMs: epochMs(2_000) }).record.idleSinceMs).toBe(
      null,
    );
  });
});

test('a host whose bootstrap gave up says what it said last', () => {
  const record = aRecord({ status: 'initializing', machines: [machineId('m0')] });
  const failed = { ...aHost('gone'), failure: 'pip: no such package (exit 1, 3 attempts)' };
  const { steps } = advance(record, aSight({ hosts: [failed] }), { ...around, nowMs: epochMs(1) });
  expect(steps[0]).toMatchObject({
    event: 'host-lost',
    cause: { kind: 'bootstrap-failed', hostIndex: 0, detail: failed.failure },
  });
});

import { describe, expect, test } from 'vitest';
import type { HostReport } from '../model/host-report.ts';
import { epochMs, machineId } from '../model/ids.ts';
import type { SliceRecord } from '../model/slice-record.ts';
import { aHost, aRecord, aReport, aSight, aTimeouts } from '../../test/builders.ts';
import { advance } from './advance.ts';
import type { LaunchAnswer, HostSight, SliceSight } from './sight.ts';

const m = machineId;
const lagMs = 1_000;

interface Look {
  readonly record?: Parameters<typeof aRecord>[0];
  readonly sight?: Partial<SliceSight>;
  readonly nowMs?: number;
  readonly listedMs?: number | null;
}

/** Looks at a slice, by default at 10 s with a list of just then; hosts were seen at time 0. */
function look({ record, sight, nowMs = 10_000, listedMs = 0 }: Look) {
  return advance(
    aRecord({ statusSinceMs: epochMs(0), readyAtMs: epochMs(0), ...record }),
    aSight(sight),
    {
      nowMs: epochMs(nowMs),
      listedMs: listedMs === null ? null : epochMs(listedMs),
      listLagMs: lagMs,
      timeouts: aTimeouts,
    },
  );
}
const eventsOf = (at: Look): readonly string[] => look(at).steps.map(({ event }) => event);
const hostsOf = (...states: (HostSight['state'] | null)[]): readonly (HostSight | null)[] =>
  states.map((state, n) => (state === null ? null : aHost(state, { machineId: m(`m${n}`) })));

describe('coming up', () => {
  const refusal = { kind: 'stockout', detail: 'none left' } as const;
  test.each([
    ['waits while nothing is seen', 'requesting', ['null'], []],
    ['is booting with its first machine', 'requesting', ['starting', 'null'], ['machines-seen']],
    [
      'runs through in one look when all is there',
      'requesting',
      ['ready', 'ready'],
      ['machines-seen', 'hosts-up', 'hosts-ready'],
    ],
    ['takes no machine that is already leaving for one', 'requesting', ['stopping'], []],
    ['waits for the last host to be up', 'booting', ['running', 'starting'], []],
    ['is up when every host is', 'booting', ['running', 'running'], ['hosts-up']],
    ['is ready when every host is, and not before', 'initializing', ['ready', 'running'], []],
    ['is ready as a whole', 'initializing', ['ready', 'ready'], ['hosts-ready']],
    ['a partial slice waits for its timeout', 'booting', ['running', 'null'], []],
    ['a host that goes takes the slice with it', 'booting', ['running', 'gone'], ['host-lost']],
    [
      'a host that stops takes the slice with it',
      'initializing',
      ['ready', 'stopping'],
      ['host-lost'],
    ],
  ] as const)('%s', (_name, status, states, events) => {
    const hosts = hostsOf(...states.map((state) => (state === 'null' ? null : state)));
    expect(eventsOf({ record: { status, hostCount: hosts.length }, sight: { hosts } })).toEqual(
      events,
    );
  });

  test('a sure refusal ends it at once, with the words of the provider', () => {
    const { record, steps } = look({
      record: { status: 'requesting' },
      sight: { launch: { kind: 'refused', refusal } },
    });
    expect(record.status).toBe('failed');
    expect(steps[0]?.cause).toEqual({ kind: 'refused', refusal });
  });

  test.each<LaunchAnswer>([
    { kind: 'none' },
    { kind: 'in-flight' },
    { kind: 'accepted', atMs: epochMs(1) },
    { kind: 'unanswered', atMs: epochMs(1), refusal },
  ])('a launch that is $kind ends nothing', (launch) => {
    expect(eventsOf({ record: { status: 'requesting' }, sight: { launch } })).toEqual([]);
  });

  test('machines that came after all count for more than a refusal', () => {
    const sight = { hosts: hostsOf('starting'), launch: { kind: 'refused', refusal } } as const;
    expect(eventsOf({ record: { status: 'requesting' }, sight })).toEqual(['machines-seen']);
  });

  test('a report from every host that is up stands for the end of its bootstrap', () => {
    const at = (reports: readonly (HostReport | null)[]) =>
      eventsOf({
        record: { status: 'initializing', hostCount: 2 },
        sight: { hosts: hostsOf('running', 'ready'), reports },
      });
    expect(at([aReport(), null])).toEqual(['hosts-ready']);
    expect(at([null, aReport()])).toEqual([]);
  });

  test('machines are remembered as first seen, and not replaced', () => {
    const record = { status: 'booting', hostCount: 2, machines: [m('first'), null] } as const;
    const { record: next } = look({ record, sight: { hosts: hostsOf('starting', 'starting') } });
    expect(next.machines).toEqual(['first', 'm1']);
  });

  test.each(['booting', 'initializing'] as const)('a notice while %s ends the launch', (status) => {
    const hosts = [aHost('starting', { interruptionAtMs: epochMs(99) })];
    const { steps } = look({ record: { status }, sight: { hosts } });
    const why = { kind: 'interrupted', atMs: 99 };
    expect(steps).toMatchObject([
      { event: 'cancelled', status: 'terminating', cause: { kind: 'cancelled', why } },
    ]);
  });

  test('more machines than hosts end the launch', () => {
    const { steps } = look({
      record: { status: 'booting' },
      sight: { hosts: hostsOf('starting'), machineCount: 2 },
    });
    const why = { kind: 'surplus-machines', machines: 2, hosts: 1 };
    expect(steps).toMatchObject([{ event: 'cancelled', cause: { kind: 'cancelled', why } }]);
  });
});

describe('losing a host', () => {
  const seen = (lastSeenMs: number) => [aHost('ready', { lastSeenMs: epochMs(lastSeenMs) })];
  test.each([
    ['no list yet', null, []],
    ['the list that showed it', 5_000, []],
    ['a list within the lag lacks it', 5_500, []],
    ['a list just at the lag lacks it', 5_000 + lagMs, []],
    ['a list beyond the lag lacks it', 5_001 + lagMs, ['host-lost']],
  ] as const)('%s', (_name, listedMs, events) => {
    expect(eventsOf({ sight: { hosts: seen(5_000) }, listedMs })).toEqual(events);
  });

  test.each(['ready', 'draining', 'booting', 'initializing'] as const)(
    'the provider says gone: no lag is waited for while %s',
    (status) => {
      const drain = { why: { kind: 'outdated' }, deadlineMs: epochMs(1e9) } as const;
      const { record, steps } = look({
        record: { status, hostCount: 3, drain },
        sight: { hosts: hostsOf('ready', 'gone', 'ready') },
      });
      expect(record.status).toBe('terminating');
      expect(steps[0]?.cause).toEqual({ kind: 'host-lost', hostIndex: 1, machineId: 'm1' });
    },
  );

  test('a host that goes after a notice was preempted', () => {
    const hosts = [aHost('gone', { interruptionAtMs: epochMs(9) })];
    expect(look({ sight: { hosts } }).steps[0]?.cause).toMatchObject({ kind: 'preempted' });
  });

  test('a host never seen is not lost: its status watches over it', () => {
    const sight = { hosts: hostsOf('running', null) };
    expect(eventsOf({ record: { status: 'booting', hostCount: 2 }, sight, listedMs: 500 })).toEqual(
      [],
    );
  });
});

describe('ready', () => {
  test('a notice starts a drain until the announced time', () => {
    const hosts = [aHost('ready', { interruptionAtMs: epochMs(77_000) })];
    const { record } = look({ sight: { hosts } });
    expect(record).toMatchObject({
      status: 'draining',
      drain: { why: { kind: 'interrupted', atMs: 77_000 }, deadlineMs: 77_000 },
    });
  });

  test('more machines than hosts start a drain', () => {
    const { record } = look({ sight: { hosts: hostsOf('ready'), machineCount: 2 } });
    expect(record).toMatchObject({
      status: 'draining',
      drain: { why: { kind: 'surplus-machines', machines: 2, hosts: 1 }, deadlineMs: 1_810_000 },
    });
  });

  const at = (over: Partial<SliceRecord>, reports: readonly (HostReport | null)[]) => {
    const hosts = reports.map((_, n) => aHost('ready', { machineId: m(`m${n}`) }));
    return look({ record: { hostCount: reports.length, ...over }, sight: { hosts, reports } })
      .record;
  };
  const idle = aReport();
  const busy = aReport({ isBusy: true });
  const since = epochMs(7);
  test.each([
    [
      'idle from the first time all hosts say so',
      {},
      [idle, idle],
      { idleSinceMs: 10_000, isReported: true },
    ],
    [
      'idle since then, however often it is said',
      { idleSinceMs: since },
      [idle, idle],
      { idleSinceMs: 7 },
    ],
    [
      'one busy host makes a busy slice',
      { idleSinceMs: since },
      [idle, busy],
      { idleSinceMs: null },
    ],
    ['one silent host proves nothing', {}, [idle, null], { idleSinceMs: null, isReported: true }],
    ['what nobody reports is not idle', {}, [null, null], { idleSinceMs: null, isReported: false }],
    [
      'a restart forgets no idleness',
      { idleSinceMs: since, isReported: true },
      [null, null],
      { idleSinceMs: 7, isReported: true },
    ],
    [
      'a restart, and one host speaks first',
      { idleSinceMs: since, isReported: true },
      [idle, null],
      { idleSinceMs: 7, isReported: true },
    ],
    ['once reported, always reported', { isReported: true }, [null, null], { isReported: true }],
  ] as const)('%s', (_name, over, reports, expected) => {
    expect(at(over, reports)).toMatchObject(expected);
  });

  test('what has not changed is the same object', () => {
    const record = aRecord({ idleSinceMs: since, isReported: true, machines: [m('m0')] });
    const around = { nowMs: epochMs(9), listedMs: null, listLagMs: 0, timeouts: aTimeouts };
    const sight = aSight({ hosts: hostsOf('ready'), reports: [idle] });
    expect(advance(record, sight, around).record).toBe(record);
  });
});

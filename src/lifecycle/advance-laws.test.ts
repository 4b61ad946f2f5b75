import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HostReport } from '../model/host-report.ts';
import { epochMs, machineId } from '../model/ids.ts';
import { machineStates } from '../model/machine.ts';
import { type DrainWhy, isLive, type SliceRecord } from '../model/slice-record.ts';
import { sliceStatuses } from '../model/slice.ts';
import { aRecord, aReport, aSight, aTimeouts } from '../../test/builders.ts';
import { advance } from './advance.ts';
import type { HostSight, LaunchAnswer, SliceSight, Surroundings } from './sight.ts';
import { transitions } from './transitions.ts';

// Small numbers, so that times coincide: most mistakes are made at equality.
const anInstant = fc.integer({ min: 0, max: 12 }).map((n) => epochMs(n * 60_000));
const maybe = <T>(some: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(some);
const HOSTS = 2;

const aWhy: fc.Arbitrary<DrainWhy> = fc.oneof(
  fc.constantFrom<DrainWhy>(
    { kind: 'idle', idleForMs: 1 },
    { kind: 'outdated' },
    { kind: 'group-removed' },
    { kind: 'surplus-machines', machines: 3, hosts: HOSTS },
    { kind: 'operator', author: 'ann', reason: '' },
  ),
  anInstant.map((atMs): DrainWhy => ({ kind: 'interrupted', atMs })),
);

const anyRecord: fc.Arbitrary<SliceRecord> = fc
  .record({
    status: fc.constantFrom(...sliceStatuses),
    statusSinceMs: anInstant,
    idleSinceMs: maybe(anInstant),
    isReported: fc.boolean(),
    drain: fc.record({ why: aWhy, deadlineMs: anInstant }),
    machines: fc.tuple(maybe(fc.constant(machineId('m0'))), maybe(fc.constant(machineId('m1')))),
  })
  .map(({ drain, ...over }) =>
    aRecord({
      ...over,
      hostCount: HOSTS,
      readyAtMs: epochMs(-1),
      drain: over.status === 'draining' ? drain : null,
    }),
  );

const anyHost: fc.Arbitrary<HostSight> = fc.record({
  machineId: fc.constantFrom(machineId('m0'), machineId('m1'), machineId('m2')),
  state: fc.constantFrom(...machineStates),
  lastSeenMs: anInstant,
  interruptionAtMs: fc.option(anInstant, { freq: 6 }),
});

const anyReport: fc.Arbitrary<HostReport> = fc
  .record({
    isBusy: fc.boolean(),
    drain: fc.constantFrom('none', 'drained', 'refused'),
    atMs: anInstant,
  })
  .map(aReport);

const refusal = { kind: 'stockout', detail: '' } as const;
const anyLaunch: fc.Arbitrary<LaunchAnswer> = fc.constantFrom<LaunchAnswer>(
  { kind: 'none' },
  { kind: 'in-flight' },
  { kind: 'accepted', atMs: epochMs(0) },
  { kind: 'refused', refusal },
  { kind: 'unanswered', atMs: epochMs(0), refusal },
);

const anySight: fc.Arbitrary<SliceSight> = fc
  .record({
    hosts: fc.array(maybe(anyHost), { minLength: HOSTS, maxLength: HOSTS }),
    machineCount: fc.nat(3),
    reports: fc.array(maybe(anyReport), { minLength: HOSTS, maxLength: HOSTS }),
    launch: anyLaunch,
    releaseAcceptedMs: maybe(anInstant),
  })
  .map(aSight);

const anyAround: fc.Arbitrary<Surroundings> = fc.record({
  nowMs: anInstant,
  listedMs: maybe(anInstant),
  listLagMs: fc.constantFrom(0, 60_000),
});

/**
 * A slice, what is seen of it, and when. A release is agreed to only while it is terminating, and
 * time does not go back.
 */
const anything = fc.tuple(anyRecord, anySight, anyAround).map(([record, sight, around]) => {
  const releaseAcceptedMs = record.status === 'terminating' ? sight.releaseAcceptedMs : null;
  return {
    record,
    sight: { ...sight, releaseAcceptedMs },
    around: {
      ...around,
      nowMs: epochMs(Math.max(around.nowMs, record.statusSinceMs)),
      timeouts: aTimeouts,
    },
  };
});

describe('whatever is seen', () => {
  test('a look never throws, and every step is on the table', () => {
    fc.assert(
      fc.property(anything, ({ record, sight, around }) => {
        let { status } = record;
        for (const step of advance(record, sight, around).steps) {
          expect(transitions[status][step.event]).toBe(step.status);
          ({ status } = step);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('to look twice is to look once', () => {
    fc.assert(
      fc.property(anything, ({ record, sight, around }) => {
        const once = advance(record, sight, around);
        const twice = advance(once.record, sight, around);
        expect(twice.record.status).toBe(once.record.status);
        expect(twice.steps).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  test('nothing moves a slice that has ended', () => {
    fc.assert(
      fc.property(anything, ({ record, sight, around }) => {
        fc.pre(!isLive(record));
        const { record: after, steps } = advance(record, sight, around);
        expect(steps).toEqual([]);
        expect(after).toEqual({ ...record, machines: after.machines });
      }),
    );
  });

  test('a slice leaves only with a cause that says why', () => {
    fc.assert(
      fc.property(anything, ({ record, sight, around }) => {
        for (const { event, cause } of advance(record, sight, around).steps) {
          const needsNone = [
            'machines-seen',
            'hosts-up',
            'hosts-ready',
            'drain-finished',
            'all-gone',
          ];
          expect(cause === null).toBe(needsNone.includes(event));
        }
      }),
    );
  });

  test('a draining slice knows why and until when; one that stays has no order left', () => {
    fc.assert(
      fc.property(anything, ({ record, sight, around }) => {
        const { record: after } = advance(record, sight, around);
        if (after.status === 'draining') expect(after.drain).not.toBeNull();
        if (after.status === 'ready') expect(after.drain).toBeNull();
      }),
    );
  });

  test('a host is known by one machine for life', () => {
    fc.assert(
      fc.property(anything, ({ record, sight, around }) => {
        const { record: after } = advance(record, sight, around);
        record.machines.forEach((known, n) => {
          if (known !== null) expect(after.machines[n]).toBe(known);
        });
      }),
    );
  });
});

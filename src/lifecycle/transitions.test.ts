import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { epochMs } from '../model/ids.ts';
import { isLive, sliceEvents, type SliceRecord, terminalStatuses } from '../model/slice-record.ts';
import { onItsWay, type SliceStatus, sliceStatuses } from '../model/slice.ts';
import { aRecord } from '../../test/builders.ts';
import { step, transitions } from './transitions.ts';

const nextOf = (status: SliceStatus): readonly SliceStatus[] => Object.values(transitions[status]);

/** Every status that can be reached from one, itself included. */
function reachable(from: SliceStatus): ReadonlySet<SliceStatus> {
  const seen = new Set([from]);
  for (const status of seen) for (const next of nextOf(status)) seen.add(next);
  return seen;
}

describe('the table', () => {
  test.each(sliceStatuses)('%s reaches an end', (status) => {
    expect([...reachable(status)].some((each) => terminalStatuses.has(each))).toBe(true);
  });

  test.each([...terminalStatuses])('nothing leaves %s', (status) => {
    expect(transitions[status]).toEqual({});
  });

  test('every status is reached from queued', () => {
    expect([...reachable('queued')].sort()).toEqual([...sliceStatuses].sort());
  });

  test.each([...onItsWay])('a launch can be cancelled while %s', (status) => {
    expect(transitions[status].cancelled).toBeDefined();
  });

  test.each(['requesting', 'booting', 'initializing', 'ready', 'draining'] as const)(
    'what may have machines leaves %s for an end only by way of terminating, or by a sure refusal',
    (status) => {
      const straight = Object.entries(transitions[status]).filter(
        ([event, to]) => terminalStatuses.has(to) && event !== 'refused',
      );
      expect(straight).toEqual([]);
    },
  );

  test('only work that returns brings a slice back to an earlier status', () => {
    const back = sliceStatuses.flatMap((from) =>
      Object.entries(transitions[from])
        .filter(([, to]) => sliceStatuses.indexOf(to) < sliceStatuses.indexOf(from))
        .map(([event, to]) => `${from} ${event} ${to}`),
    );
    expect(back).toEqual(['draining drain-cancelled ready']);
  });
});

describe('step', () => {
  const atMs = epochMs(5);

  test('answers every event in every status: moved as the table says, or refused', () => {
    for (const status of sliceStatuses) {
      for (const event of sliceEvents) {
        const record = aRecord({ status });
        const answer = step(record, { event, cause: null, atMs });
        const to = transitions[status][event];
        if (to === undefined) expect(answer).toEqual({ kind: 'refused', from: status, event });
        else {
          expect(answer).toMatchObject({ kind: 'moved', from: status, record: { status: to } });
        }
      }
    }
  });

  test.each([
    ['a first request is dated', 'queued', 'launch-sent', { requestedAtMs: 5 }],
    [
      'readiness is dated, idleness unknown',
      'initializing',
      'hosts-ready',
      { readyAtMs: 5, idleSinceMs: null },
    ],
    [
      'a drain called off leaves no order',
      'draining',
      'drain-cancelled',
      { drain: null, status: 'ready' },
    ],
    [
      'a drain called off begins idleness anew',
      'draining',
      'drain-cancelled',
      { idleSinceMs: null },
    ],
    [
      'every step is remembered',
      'booting',
      'hosts-up',
      { history: [{ atMs: 5, event: 'hosts-up', status: 'initializing', cause: null }] },
    ],
  ] as const)('%s', (_name, status, event, expected) => {
    const drain = { why: { kind: 'outdated' }, deadlineMs: epochMs(9) } as const;
    const record = aRecord({ status, requestedAtMs: null, idleSinceMs: epochMs(1), drain });
    const moved = step(record, { event, cause: null, atMs });
    expect(moved).toMatchObject({ kind: 'moved', record: { statusSinceMs: 5, ...expected } });
  });

  test('a request made again keeps its first date', () => {
    const record = aRecord({ status: 'queued', requestedAtMs: epochMs(1) });
    const moved = step(record, { event: 'launch-sent', cause: null, atMs });
    expect(moved).toMatchObject({ record: { requestedAtMs: 1 } });
  });

  test('a long life is remembered by its beginning and its end', () => {
    let record: SliceRecord = aRecord({ status: 'booting' });
    const take = (event: (typeof sliceEvents)[number], at: number): void => {
      const moved = step(record, { event, cause: null, atMs: epochMs(at) });
      if (moved.kind === 'moved') record = moved.record;
    };
    take('cancelled', 0);
    for (let n = 1; n <= 500; n++) take('timed-out', n);
    expect(record.history).toHaveLength(64);
    expect(record.history.slice(0, 3).map(({ atMs: at }) => at)).toEqual([0, 1, 2]);
    expect(record.history.slice(-2).map(({ atMs: at }) => at)).toEqual([499, 500]);
  });

  test('whatever events come in whatever order, a slice stays on the table', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...sliceStatuses),
        fc.array(fc.constantFrom(...sliceEvents), { maxLength: 100 }),
        (status, events) => {
          let record: SliceRecord = aRecord({ status });
          events.forEach((event, n) => {
            const before = record;
            const answer = step(record, { event, cause: null, atMs: epochMs(n) });
            if (answer.kind === 'moved') record = answer.record;
            expect(nextOf(before.status).includes(record.status) || record === before).toBe(true);
            if (!isLive(before)) expect(record).toBe(before);
          });
          expect(record.history.length).toBeLessThanOrEqual(64);
        },
      ),
    );
  });
});

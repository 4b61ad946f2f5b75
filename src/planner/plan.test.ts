import { describe, expect, test } from 'vitest';
import { decideTick } from '../controller/decide-tick.ts';
import { epochMs } from '../model/ids.ts';
import { sliceStatuses } from '../model/slice.ts';
import { terminalStatuses } from '../model/slice-record.ts';
import {
  aGroup,
  aTickInput,
  aTrackedSlice,
  anAsk,
  anEntry,
  busyHost,
  noLimits,
} from '../../test/builders.ts';
import { tellSteps, tellVerdicts } from '../../test/plan-words.ts';

const ask = anAsk({ resources: { cpu: 16_000 } });
const tasks = (count: number) => [anEntry({ count, form: { kind: 'single', ask } })];
const drain = { why: { kind: 'outdated' }, deadlineMs: epochMs(9) } as const;

describe('a plan', () => {
  test('has one word for every live slice', () => {
    const slices = sliceStatuses
      .filter((status) => !terminalStatuses.has(status))
      .map((status) =>
        aTrackedSlice({ id: status, status, drain: status === 'draining' ? drain : null }),
      );
    const ids = decideTick(aTickInput({ slices })).verdicts.flatMap(({ sliceIds }) => sliceIds);
    expect(ids.toSorted()).toEqual(slices.map(({ id }) => id).toSorted());
  });

  test('tells slices alike in one row', () => {
    const slices = [1, 2, 3].map((n) => aTrackedSlice({ id: `s${n}`, hosts: [busyHost] }));
    expect(decideTick(aTickInput({ slices })).verdicts).toEqual([
      { verdict: { kind: 'busy' }, sliceIds: ['s1', 's2', 's3'] },
    ]);
  });

  test('sends what it launches in the same tick', () => {
    const { steps } = decideTick(aTickInput({ entries: tasks(2) }));
    expect(steps.map(({ kind }) => kind)).toEqual(['launch', 'launch', 'send', 'send']);
  });

  test('sends what waited from earlier ticks before what is new', () => {
    const limits = { ...noLimits, concurrentLaunches: 1 };
    const slices = [aTrackedSlice({ id: 'old', status: 'queued', idleSinceMs: null })];
    const input = aTickInput({ slices, entries: tasks(2), control: { fleet: { limits } } });
    const { steps, deferrals } = decideTick(input);
    expect(steps.map(({ kind }) => kind)).toEqual(['launch', 'send']);
    expect(steps.at(-1)).toMatchObject({ sliceId: 'old' });
    expect(deferrals).toMatchObject([{ count: 1, by: 'concurrent-launches' }]);
  });

  test('says of what waits by which rate and until when', () => {
    const limits = { ...noLimits, createsPerMinute: 1 };
    const slices = [aTrackedSlice({ id: 'q', status: 'queued', idleSinceMs: null })];
    const launchedAtMs = [epochMs(-20_000)];
    const input = aTickInput({
      slices,
      launchedAtMs,
      entries: tasks(1),
      control: { fleet: { limits } },
    });
    expect(decideTick(input).verdicts).toEqual([
      {
        verdict: { kind: 'deferred', by: 'creates-per-minute', untilMs: 40_000 },
        sliceIds: ['q'],
      },
    ]);
  });

  test('sends nothing that it gives up', () => {
    const slices = [aTrackedSlice({ id: 'q', status: 'queued', idleSinceMs: null })];
    expect(tellSteps(aTickInput({ slices }))).toEqual(['cancel q not-needed']);
    const { steps } = decideTick(aTickInput({ slices }));
    expect(steps.some(({ kind }) => kind === 'send')).toBe(false);
  });

  test('leaves what is ending alone', () => {
    const slices = [
      aTrackedSlice({ id: 'd', status: 'draining', drain }),
      aTrackedSlice({ id: 't', status: 'terminating', drain }),
    ];
    const input = aTickInput({ slices });
    expect(tellVerdicts(input)).toEqual(['d draining', 't ending']);
    expect(tellSteps(input)).toEqual([]);
  });

  test('counts what is ending until it is gone', () => {
    const groups = [aGroup({ max: 1 })];
    const slices = [aTrackedSlice({ id: 't', status: 'terminating', drain })];
    expect(
      tellSteps(aTickInput({ slices, entries: tasks(1), control: { fleet: { groups } } })),
    ).toEqual([]);
  });
});

describe('the same work in two ticks', () => {
  test('is launched for once', () => {
    const first = decideTick(aTickInput({ entries: tasks(2) }));
    const slices = first.steps.flatMap((step) =>
      step.kind === 'launch'
        ? [aTrackedSlice({ id: step.sliceId, status: 'requesting', idleSinceMs: null })]
        : [],
    );
    expect(decideTick(aTickInput({ seq: 2, entries: tasks(2), slices })).steps).toEqual([]);
  });
});

import { describe, expect, test } from 'vitest';
import { decideTick } from '../controller/decide-tick.ts';
import { epochMs } from '../model/ids.ts';
import type { PlanStep, TickInput } from '../model/tick.ts';
import type { Trouble } from '../model/trouble.ts';
import { aGroup, aTickInput, anAsk, anEntry } from '../../test/builders.ts';

type Launch = Extract<PlanStep, { kind: 'launch' }>;
const launchesOf = (input: TickInput): readonly Launch[] =>
  decideTick(input).steps.filter((step) => step.kind === 'launch');

const whole = anAsk({ resources: { cpu: 16_000 } });
const singles = (count: number) =>
  anEntry({ id: 'work', count, form: { kind: 'single', ask: whole } });
const aGang = (id: string, taskCount: number, ask = whole) =>
  anEntry({ id, form: { kind: 'gang', ask, taskCount } });

describe('ids', () => {
  const input = aTickInput({
    epoch: 36,
    seq: 71,
    entries: [singles(2)],
    control: { fleet: { groups: [aGroup({ name: 'a', max: 1 }), aGroup({ name: 'b', min: 1 })] } },
  });

  test('say group, epoch, tick and place, and are unique over the groups', () => {
    const ids = launchesOf(input).map(({ sliceId }) => sliceId);
    expect(ids).toEqual(['a-10-1z-0', 'b-10-1z-1']);
  });

  test('are the same when the tick is run again, and others in the next', () => {
    const ids = (one: TickInput) => launchesOf(one).map(({ sliceId }) => sliceId);
    expect(ids(input)).toEqual(ids(input));
    const next = ids({ ...input, seq: 72 });
    expect(next.filter((id) => ids(input).includes(id))).toEqual([]);
  });
});

test('every launch says what asked for it', () => {
  const groups = [aGroup({ min: 3, spare: 1, max: 9 })];
  const input = aTickInput({ entries: [singles(1)], control: { fleet: { groups } } });
  const whys = launchesOf(input).map(({ why }) => why);
  expect(whys.toSorted()).toEqual(['min', 'min', 'min']); // spare is among the empty ones of min
  const more = aTickInput({ entries: [singles(3)], control: { fleet: { groups } } });
  expect(launchesOf(more).map(({ why }) => why)).toContain('spare');
});

describe('a gang', () => {
  const slices = [aGroup({ name: 'pods', hostsPerSlice: 4 })];
  test.each([
    ['owns the slices it is launched on', slices, [aGang('g', 8)], ['g', 'g']],
    ['each its own', slices, [aGang('g', 4), aGang('h', 4)], ['g', 'h']],
    ['on single hosts, if its tasks fill them', [aGroup()], [aGang('g', 2)], ['g', 'g']],
    [
      'not where its tasks share hosts',
      [aGroup()],
      [aGang('g', 4, anAsk({ resources: { cpu: 4_000 } }))],
      ['-'],
    ],
    [
      'and nobody else does',
      slices,
      [aGang('g', 4), anEntry({ form: { kind: 'single', ask: anAsk() } })],
      ['g', '-'],
    ],
  ] as const)('%s', (_name, groups, entries, held) => {
    const input = aTickInput({ entries, control: { fleet: { groups } } });
    expect(launchesOf(input).map(({ reservedFor }) => reservedFor ?? '-')).toEqual(held);
  });
});

describe('a launch that stands in for another group', () => {
  const groups = [
    aGroup({ name: 'cheap', priceMicroUsdPerHour: 1 }),
    aGroup({ name: 'dear', priceMicroUsdPerHour: 9 }),
  ];
  const stockout: Trouble = {
    scope: { kind: 'group', name: 'cheap' },
    kind: 'stockout',
    attempts: 1,
    sinceMs: epochMs(-1),
    untilMs: epochMs(60_000),
    detail: '',
  };
  const fallbacks = (over: Parameters<typeof aTickInput>[0]) =>
    launchesOf(aTickInput({ entries: [singles(2)], control: { fleet: { groups } }, ...over })).map(
      ({ group, fallbackFor }) => `${group} for ${fallbackFor.join() || 'itself'}`,
    );

  test('says for which', () => {
    expect(fallbacks({ troubles: [stockout] })).toEqual(['dear for cheap', 'dear for cheap']);
  });

  test('is none when nothing is wrong', () => {
    expect(fallbacks({})).toEqual(['cheap for itself', 'cheap for itself']);
  });

  test('is none when the group was full anyway', () => {
    const full = [{ ...groups[0]!, max: 1 }, groups[1]!];
    const plan = fallbacks({ troubles: [stockout], control: { fleet: { groups: full } } });
    expect(plan.toSorted()).toEqual(['dear for cheap', 'dear for itself']);
  });

  test('is none when somebody paused the group: it was not refused', () => {
    const pause = { id: 'p', what: 'launches', group: groups[0]!.name, author: 'ann' } as const;
    const pauses = [{ ...pause, reason: '', sinceMs: epochMs(-1), untilMs: null }];
    expect(fallbacks({ pauses })).toEqual(['dear for itself', 'dear for itself']);
  });
});

import { describe, expect, test } from 'vitest';
import { entryId, epochMs, groupName } from '../model/ids.ts';
import type { Pause } from '../model/pause.ts';
import type { TrackedSlice } from '../model/slice-record.ts';
import type { Trouble } from '../model/trouble.ts';
import {
  aGroup,
  aTickInput,
  aTrackedSlice,
  anAsk,
  anEntry,
  busyHost,
  silentHost,
} from '../../test/builders.ts';
import { tellSteps, tellVerdicts } from '../../test/plan-words.ts';

// Reasons to leave other than a lack of work, and the limits on leaving.

type Over = Parameters<typeof aTrackedSlice>[0];
const fresh = epochMs(-1_000); // far from the idle timeout
const some = (count: number, over: Over = {}): readonly TrackedSlice[] =>
  Array.from({ length: count }, (_, n) =>
    aTrackedSlice({ id: `s${n}`, idleSinceMs: epochMs(fresh + n), ...over }),
  );
const busy = (count: number, over: Over = {}) =>
  some(count, { hosts: [busyHost], idleSinceMs: null, ...over }).map((slice, n) => {
    return { ...slice, id: `b${n}` as TrackedSlice['id'] };
  });

type Group = Parameters<typeof aGroup>[0];
type Given = NonNullable<Parameters<typeof aTickInput>[0]>;
const tick = (slices: readonly TrackedSlice[], group: Group = {}, given: Given = {}) =>
  aTickInput({
    slices,
    ...given,
    control: { ...given.control, fleet: { groups: [aGroup(group)], ...given.control?.fleet } },
  });

describe('above max', () => {
  test('idle ones go at once, as many as are too many', () => {
    expect(tellSteps(tick(some(5), { max: 3 }))).toEqual([
      'drain s0 above-max',
      'drain s1 above-max',
    ]);
  });

  test('busy ones stay', () => {
    expect(tellSteps(tick(busy(5), { max: 3 }))).toEqual([]);
    expect(tellSteps(tick([...busy(4), ...some(1)], { max: 3 }))).toEqual(['drain s0 above-max']);
  });

  test('what is on its way goes before what is there', () => {
    const coming = aTrackedSlice({ id: 'c', status: 'booting', idleSinceMs: null });
    expect(tellSteps(tick([...some(2), coming], { max: 2 }))).toEqual(['cancel c above-max']);
  });

  test('what leaves already is not counted again', () => {
    const drain = { why: { kind: 'above-max', total: 3, max: 2 }, deadlineMs: epochMs(9) } as const;
    const leaving = aTrackedSlice({ id: 'd', status: 'draining', drain });
    expect(tellSteps(tick([...some(2), leaving], { max: 2 }))).toEqual([]);
  });
});

describe('an outdated slice', () => {
  const given = (onChange: 'keep' | 'replace-idle' | 'roll'): Given => {
    return { control: { own: { onChange, shape: 'new' } } };
  };
  const mixed = [...some(2), ...busy(2)];
  test.each([
    ['keep', []],
    ['replace-idle', ['drain s0 outdated']],
    ['roll', ['drain s0 outdated']],
  ] as const)('%s: idle ones first, one at a time in a small group', (onChange, steps) => {
    expect(tellSteps(tick(mixed, {}, given(onChange)))).toEqual(steps);
  });

  test.each([
    ['keep', []],
    ['replace-idle', []],
    ['roll', ['drain b0 outdated']],
  ] as const)('%s: what works is only rolled', (onChange, steps) => {
    expect(tellSteps(tick(busy(3), {}, given(onChange)))).toEqual(steps);
  });

  test('a tenth of a group at a time', () => {
    expect(tellSteps(tick(busy(30), { max: 50 }, given('roll')))).toHaveLength(3);
  });

  test('the next one goes when the last one is gone', () => {
    const drain = { why: { kind: 'outdated' }, deadlineMs: epochMs(9) } as const;
    for (const status of ['draining', 'terminating'] as const) {
      const leaving = aTrackedSlice({ id: 'd', status, drain });
      expect(tellSteps(tick([...busy(3), leaving], {}, given('roll')))).toEqual([]);
    }
  });

  test('is kept while work of this tick may land on it', () => {
    const entries = [anEntry({ form: { kind: 'single', ask: anAsk() } })];
    expect(tellSteps(tick(some(1), {}, { ...given('roll'), entries }))).toEqual([]);
  });

  test.each([
    ['one held for a gang', { reservedFor: entryId('g'), reservedSinceMs: epochMs(-1) }],
    ['one that an operator protects', { isProtected: true }],
    ['one of the shape of now', { shape: 'new' }],
  ] as const)('is not: %s', (_name, over) => {
    const entries = [
      anEntry({
        id: 'g',
        form: { kind: 'gang', ask: anAsk({ resources: { cpu: 16_000 } }), taskCount: 1 },
      }),
    ];
    expect(tellSteps(tick(some(1, over), {}, { ...given('roll'), entries }))).toEqual([]);
  });
});

describe('a stand-in', () => {
  const groups = [aGroup({ name: 'cheap' }), aGroup({ name: 'group' })];
  const stockout = (untilMs: number): Trouble => {
    const scope = { kind: 'group', name: 'cheap' } as const;
    const times = { sinceMs: epochMs(-9), untilMs: epochMs(untilMs) };
    return { scope, kind: 'stockout', attempts: 1, detail: '', ...times };
  };
  const standIn = (idleForMs: number) =>
    some(1, { fallbackFor: [groupName('cheap')], idleSinceMs: epochMs(-idleForMs) });
  const plan = (idleForMs: number, given: Given = {}) =>
    tellSteps(tick(standIn(idleForMs), {}, { ...given, control: { fleet: { groups } } }));

  test('goes after a minute without work when the preferred group is back', () => {
    expect(plan(59_999)).toEqual([]);
    expect(plan(60_000)).toEqual(['drain s0 fallback-ended']);
  });

  test.each([
    ['while the trouble lasts', stockout(9)],
    ['while its wait is over but nothing has come', stockout(-1)],
  ])('stays %s', (_name, trouble) => {
    expect(plan(60_000, { troubles: [trouble] })).toEqual([]);
  });
});

describe('a group that was dropped', () => {
  const given = { control: { retired: [groupName('group')] } };
  test('drains all that is there, never kills, never grows', () => {
    const entries = [anEntry({ form: { kind: 'single', ask: anAsk() } })];
    const silent = aTrackedSlice({ id: 'u', hosts: [silentHost] });
    const group = { min: 0, max: 0 };
    expect(tellSteps(tick([...some(1), ...busy(1), silent], group, { ...given, entries }))).toEqual(
      ['drain s0 group-removed', 'drain b0 group-removed', 'drain u group-removed'],
    );
  });

  test('leaves what an operator protects', () => {
    expect(tellVerdicts(tick(some(1, { isProtected: true }), {}, given))).toEqual(['s0 protected']);
  });
});

describe('limits on leaving', () => {
  const idle = some(4, { idleSinceMs: epochMs(-600_000) });
  const limited = (blastRadius: { perMinute?: number; ratio?: number }) => {
    const { perMinute = null, ratio = null } = blastRadius;
    return { blastRadius: { terminationsPerMinute: perMinute, drainingRatio: ratio } };
  };
  const ago = (...seconds: readonly number[]) => seconds.map((s) => epochMs(-s * 1_000));

  test.each([
    ['so many in a minute', { perMinute: 1 }, [], 1],
    ['more in a minute', { perMinute: 5 }, [], 4],
    ['less those of the last minute', { perMinute: 3 }, ago(59, 10), 1],
    ['those before count no longer', { perMinute: 3 }, ago(60, 10), 2],
    ['a share of what is ready', { ratio: 0.5 }, [], 2],
    ['one may always', { ratio: 0.01 }, [], 1],
  ] as const)('%s', (_name, limits, releasedAtMs, count) => {
    const input = tick(idle, {}, { control: limited(limits), releasedAtMs });
    expect(tellSteps(input)).toHaveLength(count);
    const held = tellVerdicts(input).filter((words) => words.endsWith('blast-radius'));
    expect(held).toHaveLength(4 - count);
  });

  test('those that drain count against the share', () => {
    const drain = { why: { kind: 'idle', idleForMs: 1 }, deadlineMs: epochMs(9) } as const;
    const leaving = aTrackedSlice({ id: 'd', status: 'draining', drain, hosts: [busyHost] });
    expect(tellSteps(tick([...idle, leaving], {}, { control: limited({ ratio: 0.2 }) }))).toEqual(
      [],
    );
  });

  const pause = (over: Partial<Pause>): Pause => {
    const words = { id: 'p', author: 'ann', reason: '', sinceMs: epochMs(-1), untilMs: null };
    return { ...words, what: 'terminations', group: null, ...over };
  };
  test.each([
    ['terminations', pause({}), 0],
    ['both', pause({ what: 'both' }), 0],
    ['launches alone', pause({ what: 'launches' }), 4],
    ['another group', pause({ group: groupName('other') }), 4],
  ] as const)('a pause: %s', (_name, each, count) => {
    const input = tick(idle, {}, { pauses: [each] });
    expect(tellSteps(input)).toHaveLength(count);
    expect(tellVerdicts(input).filter((words) => words.endsWith('paused'))).toHaveLength(4 - count);
  });
});

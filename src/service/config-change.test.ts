import { describe, expect, test } from 'vitest';
import { aRecord } from '../../test/builders.ts';
import { parseConfig } from '../config/config-file.ts';
import type { Control } from '../model/control.ts';
import { epochMs, groupName } from '../model/ids.ts';
import type { TickInput } from '../model/tick.ts';
import { decideTick } from '../controller/decide-tick.ts';
import { findConfigChange } from './config-change.ts';

function control(text: string): Control {
  const parsed = parseConfig(text, 'bellows.yaml');
  if (parsed.kind === 'bad') throw new Error(parsed.problems[0]?.message);
  return parsed.config.control;
}

const a = '{ name: a, host: { cpu: 4 }, max: 4, pricePerHour: 2 }';
const base = control(`groups: [${a}]`);

const linesOf = (next: string, records = [aRecord({ group: groupName('a') })]) =>
  findConfigChange({ control: base, last: null, records }, control(next)).lines;

// prettier-ignore: a table is read by column
test.each([
  ['nothing', `groups: [${a}]`, []],
  ['a bound', `groups: [${a.replace('max: 4', 'max: 9')}]`, ['group a: max: 4 -> 9']],
  [
    'a price',
    `groups: [${a.replace('Hour: 2', 'Hour: 2.5')}]`,
    ['group a: pricePerHour: $2.00 -> $2.50'],
  ],
  [
    'a limit',
    `limits: { spendPerHour: 10 }\ngroups: [${a}]`,
    ['limits.spendPerHour: none -> $10.00'],
  ],
  [
    'a pace',
    `loop: { evaluationInterval: 5s }\ngroups: [${a}]`,
    ['loop.evaluationInterval: 10s -> 5s'],
  ],
  [
    'a new group',
    `groups: [${a}, ${a.replace('a,', 'b,')}]`,
    ['group b: added (min 0, max 4, $2.00/h)'],
  ],
  [
    'another shape',
    `groups: [${a.replace('cpu: 4', 'cpu: 8')}]`,
    ['group a: new shape or bootstrap, 1 slice outdated (onChange: keep)'],
  ],
  [
    'another group',
    `groups: [${a.replace('a,', 'b,')}]`,
    ['group b: added (min 0, max 4, $2.00/h)', 'group a: removed; its slice drains'],
  ],
  [
    'quota pools',
    `quotaPools: { q: { cpu: 8 } }\ngroups: [${a.replace('}, max', '}, quotaPool: q, max')}]`,
    ['quotaPools: changed', 'group a: quotaPool: none -> q'],
  ],
] as const)('%s', (_name, next, expected) => {
  expect(linesOf(next)).toEqual(expected);
});

describe('slices and money', () => {
  const input = (over: Partial<TickInput>): TickInput => ({
    atMs: epochMs(1_000_000),
    epoch: 1,
    seq: 1,
    control: base,
    slices: [],
    demand: [],
    floors: [],
    pauses: [],
    troubles: [],
    health: [],
    learned: [],
    unlisted: [],
    launchedAtMs: [],
    releasedAtMs: [],
    ...over,
  });

  test('a higher min launches, and costs', () => {
    const last = { input: input({}), output: decideTick(input({})) };
    const next = control(`groups: [${a.replace('max: 4', 'min: 3, max: 4')}]`);
    const change = findConfigChange({ control: base, last, records: [] }, next);
    expect(change).toMatchObject({
      launches: { before: 0, after: 3 },
      releases: { before: 0, after: 0 },
      microUsdPerHour: { before: 0, after: 6_000_000 },
    });
  });

  test('a removed group gives its idle slices back', () => {
    const record = aRecord({ group: groupName('a'), isReported: true, idleSinceMs: epochMs(0) });
    const { history: _, ...rest } = record;
    const hosts = [{ free: { cpu: 4_000 }, isBusy: false }];
    const given = input({ slices: [{ ...rest, hosts }] });
    const last = { input: given, output: decideTick(given) };
    const next = control(`groups: [${a.replace('a,', 'b,')}]`);
    const change = findConfigChange({ control: base, last, records: [record] }, next);
    expect(change.releases.after).toBe(1);
    expect(change.microUsdPerHour.after).toBe(0);
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Case, runCase } from './run-case.ts';

const read = (name: string): readonly Case[] => {
  const url = new URL(`../../test/cases/${name}.json`, import.meta.url);
  return (JSON.parse(readFileSync(url, 'utf8')) as { cases: Case[] }).cases; // our own file
};

describe.each([
  ['priority', 226],
  ['utilization', 300],
  ['utilization-rows', 110],
])('golden cases of %s', (name, count) => {
  const cases = read(name);
  test('are all here', () => expect(cases).toHaveLength(count));
  test.each(cases.map((one) => [one.id, one] as const))('%s', (_id, one) => {
    const outcome = runCase(one);
    expect({ ...outcome, result: undefined }).toEqual({ kind: 'held', result: undefined });
  });
});

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Case, runCase } from './run-case.ts';

interface NotedCase extends Case {
  readonly note: string;
}

const url = new URL('../../test/cases/cost.json', import.meta.url);
const { cases } = JSON.parse(readFileSync(url, 'utf8')) as { cases: readonly NotedCase[] }; // our own file

test('the golden cases of cost are all here, each with its arithmetic', () => {
  expect(cases).toHaveLength(45);
  expect(cases.filter(({ note }) => note.length < 20).map(({ id }) => id)).toEqual([]);
});

test.each(cases.map((one) => [one.id, one] as const))('%s', (_id, one) => {
  const outcome = runCase(one);
  expect({ ...outcome, result: undefined }).toEqual({ kind: 'held', result: undefined });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { renderProblem } from '../config/problem.ts';
import { readCaseFile } from './case-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'bellows-cases-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The ids of the cases, or what is wrong with the file. */
function outcome(name: string, content: string): readonly string[] {
  const path = join(folder, name);
  writeFileSync(path, content);
  const read = readCaseFile(path);
  if (read.kind === 'ok') return read.file.cases.map(({ id }) => id);
  return read.problems.map((problem) => renderProblem(problem).replace(`${folder}/`, ''));
}

describe('a file of cases', () => {
  const [first, second] = [
    { id: 'one', policy: 'cost', given: {}, note: 'kept', tags: ['x'] },
    { id: 'two', policy: 'priority', given: null },
  ];

  test('is JSON', () => {
    const text = JSON.stringify({ format: 'bellows-cases/1', cases: [first, second], seed: 1 });
    expect(outcome('good.json', text)).toEqual(['one', 'two']);
  });

  test('is YAML', () => {
    const text = 'format: bellows-cases/1\ncases:\n  - { id: one, policy: cost, given: {} }\n';
    expect(outcome('good.yaml', text)).toEqual(['one']);
  });

  test('keeps an expectation of null apart from none', () => {
    const path = join(folder, 'expect.json');
    const cases = [{ ...first, expect: null }, second];
    writeFileSync(path, JSON.stringify({ format: 'bellows-cases/1', cases }));
    const read = readCaseFile(path);
    const has = read.kind === 'ok' && read.file.cases.map((one) => Object.hasOwn(one, 'expect'));
    expect(has).toEqual([true, false]);
  });
});

const file = (cases: string): string => `{"format":"bellows-cases/1","cases":${cases}}`;

test.each([
  ['no format', '{"cases":[{"id":"a","policy":"cost","given":{}}]}', /^.*: the format of a file/],
  ['another format', '{"format":"x","cases":[]}', /:1:11 format: the format .* "bellows-cases\/1"/],
  ['no cases', file('[]'), /:1:37 cases: a file of cases has at least one/],
  ['cases that are no list', file('{}'), /:1:37 cases: /],
  ['a case without a name', file('[{"policy":"cost","given":{}}]'), /cases\[0\].id: /],
  [
    'a case with an empty name',
    file('[{"id":"","policy":"cost","given":{}}]'),
    /a case needs an id/,
  ],
  ['a case without a policy', file('[{"id":"a","given":{}}]'), /cases\[0\].policy: /],
  ['a case of nothing', file('[{"id":"a","policy":"cost"}]'), /a case needs "given"/],
  [
    'two of a name',
    file('[{"id":"a","policy":"cost","given":{}},{"id":"a","policy":"cost","given":{}}]'),
    /two cases are called "a"; rename one/,
  ],
  ['no JSON', '{"format":', /:1:11: not valid JSON/],
])('refuses %s', (name, content, message) => {
  const [problem, ...others] = outcome(`${name.replaceAll(' ', '-')}.json`, content);
  expect(problem).toMatch(message);
  expect(others.length).toBeLessThanOrEqual(1);
});

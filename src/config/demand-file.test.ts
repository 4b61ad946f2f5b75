import fc from 'fast-check';
import { expect, test } from 'vitest';
import { epochMs } from '../model/ids.ts';
import { parseDemandFile } from './demand-file.ts';
import { renderProblem } from './problem.ts';

const nowMs = epochMs(1_000_000_000);
const parse = (text: string) => parseDemandFile(text, 'demand.yaml', nowMs);

function problemsOf(text: string): readonly string[] {
  const parsed = parse(text);
  return parsed.kind === 'bad' ? parsed.problems.map(renderProblem) : [];
}

test.each([
  ['demand', 'demand: [{ id: a, resources: { cpu: 1 } }]'],
  ['a bare list', '- { id: a, resources: { cpu: 1 } }'],
  ['a bare list as JSON', '[{"id":"a","resources":{"cpu":1}}]'],
  ['tasks', 'tasks: [{ id: a, resources: { cpu: 1 } }]'],
  [
    'a snapshot',
    'format: bellows-snapshot/1\nconfig: nowhere.yaml\nslices: [{ anything: 1 }]\ndemand: [{ id: a, resources: { cpu: 1 } }]',
  ],
])('an entry from %s', (_name, text) => {
  const parsed = parse(text);
  expect(parsed).toMatchObject({
    kind: 'ok',
    demand: {
      entries: [{ id: 'a', count: 1, submittedAtMs: nowMs, form: { kind: 'single' } }],
      floors: [],
    },
  });
});

test('tasks that name a gang become one entry that keeps their names', () => {
  const rows = ['x', 'y'].map(
    (id) => `  - { id: ${id}, gang: g, resources: { cpu: 1 }, age: 10s }`,
  );
  expect(parse(`tasks:\n${rows.join('\n')}`)).toMatchObject({
    demand: { entries: [{ id: 'g', taskIds: ['x', 'y'], submittedAtMs: nowMs - 10_000 }] },
  });
});

test('nothing said of work is not the same as no work', () => {
  const floors = 'floors: [{ id: f, count: 2, resources: { cpu: 4 } }]';
  expect(parse(floors)).toMatchObject({
    demand: { entries: null, floors: [{ id: 'f', count: 2 }] },
  });
  expect(parse('demand: []')).toMatchObject({ demand: { entries: [] } });
  expect(parse('[]')).toMatchObject({ demand: { entries: [] } });
});

test('ages count from the time of the file, unless that lies ahead', () => {
  const row = 'demand: [{ id: a, resources: { cpu: 1 }, age: 5s }]';
  const at = (time: string) => parse(`at: ${time}\n${row}`);
  expect(at('1970-01-01T00:00:10Z')).toMatchObject({
    demand: { atMs: 10_000, entries: [{ submittedAtMs: 5_000 }] },
  });
  expect(at('2100-01-01T00:00:00Z')).toMatchObject({ demand: { atMs: nowMs } });
});

test.each([
  [
    'a field',
    'demand:\n  - { id: a, resources: { cpu: lots } }',
    'demand.yaml:2:32 demand[0].resources.cpu: "lots" is not a quantity of cpu; write a number such as 4, 0.5 or 500m',
  ],
  [
    'a key',
    '- { id: a, resorces: { cpu: 1 } }',
    'demand.yaml:1:12 [0].resorces: unknown key "resorces"; did you mean resources?',
  ],
  [
    'an id given twice',
    '- { id: a, resources: {} }\n- { id: a, resources: {} }',
    'demand.yaml:2:9 [1].id: the id "a" is taken already; give each its own',
  ],
  [
    'a gang that is none',
    'tasks:\n  - { id: x, gang: g, resources: { cpu: 1 } }\n  - { id: y, gang: g, resources: { cpu: 2 } }',
    'demand.yaml:2:5 tasks[0]: tasks of the gang ask for different things: resources.cpu is 1 (x) and 2 (y); make them equal, or give them gangs of their own',
  ],
  [
    'no work',
    'config: bellows.yaml',
    'demand.yaml:1:1: there is no work in this file; give demand, tasks or floors; see docs/snapshot-files.md',
  ],
  ['a word', 'hello', 'demand.yaml:1:1: "hello" is not a mapping; write a mapping'],
  [
    'nothing',
    ' \n',
    'demand.yaml: the file is empty; see `bellows config schema` for what belongs in it',
  ],
])('%s that is wrong is told with its place', (_name, text, problem) => {
  expect(problemsOf(text)[0]).toBe(problem);
});

test('any text has an answer', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      const parsed = parse(text);
      expect(parsed.kind === 'ok' || parsed.problems.length > 0).toBe(true);
    }),
  );
});

import { fromJson, type JsonObject } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, test } from 'vitest';
import { PushDemandRequestSchema } from '../../api/gen/bellows/v1/demand_pb.ts';
import { epochMs } from '../../model/ids.ts';
import { FormTable } from './forms.ts';
import { readBody, readHead } from './page.ts';

const single = { single: { resources: { cpu: 1 } } };

const request = (json: JsonObject) =>
  fromJson(PushDemandRequestSchema, { source: 'slurm', generation: 7, ...json });

const readEntries = (...entries: JsonObject[]) =>
  readBody(request({ entries }), { forms: new FormTable(), taken: null, nowMs: epochMs(5_000) });

function complaintsOf(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    expect(code).toBe(Code.InvalidArgument);
    return rawMessage.split('\n');
  }
  return [];
}

const long = 'x'.repeat(254);
const ask = (over: JsonObject): JsonObject => ({ id: 'a', single: { resources: {}, ...over } });
const gang = (over: JsonObject): JsonObject => ({
  id: 'a',
  gang: { ask: {}, taskCount: 2, ...over },
});
const bundles = (over: JsonObject): JsonObject => ({
  id: 'a',
  bundles: { strategy: 'PACK', parts: [{ ask: {} }], ...over },
});

// prettier-ignore: a table is read by column
describe('an entry that is ill-formed is refused, with field, value and remedy', () => {
  test.each([
    ['no id', { ...single }, 'entries[0].id: is missing; set it'],
    [
      'a long id',
      { id: long, ...single },
      `entries[0].id: "${'x'.repeat(60)}..." has 254 letters; write 1 to 253`,
    ],
    [
      'nothing asked for',
      { id: 'a' },
      'entries[0]: asks for nothing; set one of single, gang and bundles',
    ],
    [
      'a negative amount',
      ask({ resources: { cpu: -1 } }),
      'entries[0].single.resources.cpu: -1 is no amount of cpu; write a number from 0 to 9007199254740',
    ],
    [
      'an amount that is no number',
      ask({ resources: { cpu: 'NaN' } }),
      'entries[0].single.resources.cpu: NaN is no amount of cpu; write a number from 0 to 9007199254740',
    ],
    [
      'an amount without end',
      ask({ resources: { memory: 'Infinity' } }),
      'entries[0].single.resources.memory: Infinity is no amount of memory; write a number from 0 to 9007199254740991 bytes',
    ],
    [
      'an amount too large to add up',
      ask({ resources: { gpu: 1e13 } }),
      'entries[0].single.resources.gpu: 10000000000000 is no amount of gpu; write a number from 0 to 9007199254740',
    ],
    [
      'a name that is none',
      ask({ resources: { 'g p u': 1 } }),
      'entries[0].single.resources["g p u"]: "g p u" is not a resource name; use 1 to 63 letters, digits, "-", "_", "." and "/", starting with a letter',
    ],
    [
      'many resources',
      ask({ resources: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`r${n}`, 1])) }),
      'entries[0].single.resources: 51 resources are above the limit of 50; name fewer',
    ],
    [
      'a device without a type',
      ask({ device: {} }),
      'entries[0].single.device.type: is missing; set it',
    ],
    [
      'an empty variant',
      ask({ device: { type: 'gpu', variants: [''] } }),
      'entries[0].single.device.variants[0]: is missing; set it',
    ],
    [
      'a wrong operator',
      ask({ constraints: [{ key: 'zone', op: 'gte', values: ['1'] }] }),
      'entries[0].single.constraints[0].op: "gte" is not one of eq, ne, in, not-in, exists, not-exists, gt, ge, lt, le; did you mean gt?',
    ],
    [
      'no operator',
      ask({ constraints: [{ key: 'zone' }] }),
      'entries[0].single.constraints[0].op: is missing; use one of eq, ne, in, not-in, exists, not-exists, gt, ge, lt, le',
    ],
    [
      'many constraints',
      ask({ constraints: Array.from({ length: 101 }, () => ({ key: 'z', op: 'exists' })) }),
      'entries[0].single.constraints: 101 constraints are above the limit of 100; give fewer',
    ],
    [
      'many values',
      ask({ constraints: [{ key: 'z', op: 'in', values: Array.from({ length: 1_001 }, String) }] }),
      'entries[0].single.constraints[0].values: 1001 values are above the limit of 1000; give fewer',
    ],
    [
      'a gang that says not what it needs',
      { id: 'a', gang: { taskCount: 2 } },
      'entries[0].gang.ask: is missing; say what each task needs',
    ],
    [
      'names for other tasks',
      gang({ taskIds: ['x'] }),
      'entries[0].gang.task_ids: has 1 names for 2 tasks; name each task, or none',
    ],
    [
      'two tasks of one name',
      gang({ taskIds: ['x', 'x'] }),
      'entries[0].gang.task_ids[1]: the id "x" is taken already; give each its own',
    ],
    [
      'a gang beyond bounds',
      gang({ taskCount: 10_000_001 }),
      'entries[0].gang.task_count: 10000001 tasks are above the limit of 10000000; lower the count',
    ],
    [
      'a wrong strategy',
      bundles({ strategy: 'pack' }),
      'entries[0].bundles.strategy: "pack" is not one of PACK, SPREAD, STRICT_PACK, STRICT_SPREAD; did you mean PACK?',
    ],
    [
      'many parts',
      bundles({ parts: [{ ask: {}, count: 10_001 }] }),
      'entries[0].bundles.parts: 10001 parts are above the limit of 10000; lower the counts',
    ],
    [
      'a part that asks for nothing',
      bundles({ parts: [{}] }),
      'entries[0].bundles.parts[0].ask: is missing; say what each task needs',
    ],
    [
      'a count beyond bounds',
      { id: 'a', count: 10_000_001, ...single },
      'entries[0].count: 10000001 entries are above the limit of 10000000; lower the count',
    ],
    [
      'a priority beyond bounds',
      { id: 'a', priority: -1_000_001, ...single },
      'entries[0].priority: -1000001 is outside -1000000 to 1000000; write one of these',
    ],
    [
      'a time before all times',
      { id: 'a', submittedAt: '1969-12-31T23:59:59Z', ...single },
      'entries[0].submitted_at: -1s is no time from 1970 to 9999; write one, or none',
    ],
    [
      'a long owner',
      { id: 'a', owner: long, ...single },
      `entries[0].owner: "${'x'.repeat(60)}..." has 254 letters; write at most 253`,
    ],
  ])('%s', (_name, entry, message) => {
    expect(complaintsOf(() => readEntries(entry))).toEqual([message]);
  });

  test.each([
    ['the same id twice', ['a', 1], ['a', 1], 'the id "a" is taken already'],
    ['a name within a count', ['a', 3], ['a/2', 1], 'the id "a/2" is one of the 3 called "a"'],
    ['a count over a name', ['a/2', 1], ['a', 3], 'the id "a/2" is one of the 3 called "a"'],
  ] as const)('%s', (_name, [first, firstCount], [second, secondCount], message) => {
    const entries = [
      { id: first, count: firstCount },
      { id: second, count: secondCount },
    ];
    const read = () => readEntries(...entries.map((entry) => ({ ...entry, ...single })));
    expect(complaintsOf(read)).toEqual([`entries[1].id: ${message}; give each its own`]);
  });
});

test('names beside a count are free', () => {
  const ids = ['a/3', 'a/03', 'a/x', 'b'].map((id) => ({ id, ...single }));
  expect(readEntries({ id: 'a', count: 3, ...single }, ...ids).entries).toHaveLength(5);
});

test('all problems are told at once, the first twenty by name', () => {
  const lines = complaintsOf(() => readEntries(...Array.from({ length: 30 }, () => ({ id: '' }))));
  expect(lines).toHaveLength(21);
  expect(lines.slice(0, 2)).toEqual([
    'entries[0].id: is missing; set it',
    'entries[0]: asks for nothing; set one of single, gang and bundles',
  ]);
  expect(lines.at(-1)).toBe('... and 40 other problems');
});

// prettier-ignore: a table is read by column
describe('what makes no sense is taken, and says so', () => {
  test.each([
    ['no tasks', gang({ taskCount: 0 }), { kind: 'zero-tasks' }],
    ['no parts', bundles({ parts: [] }), { kind: 'zero-tasks' }],
    [
      'too many values',
      ask({ constraints: [{ key: 'z', op: 'eq', values: ['a', 'b'] }] }),
      { kind: 'ill-typed-constraint', expected: 'exactly one value' },
    ],
    [
      'no number',
      ask({ constraints: [{ key: 'z', op: 'gt', values: ['a'] }] }),
      { kind: 'ill-typed-constraint', expected: 'a number' },
    ],
    [
      'a contradiction',
      ask({
        constraints: [
          { key: 'z', op: 'eq', values: ['a'] },
          { key: 'z', op: 'ne', values: ['a'] },
        ],
      }),
      { kind: 'contradictory-constraints' },
    ],
  ])('%s', (_name, entry, invalid) => {
    expect(readEntries(entry).entries[0]?.invalid).toMatchObject(invalid);
  });
});

test('what is left out has its usual value', () => {
  const { entries, undated } = readEntries({ id: 'a', ...single });
  const plain = { device: null, preemptible: null, constraints: [], resources: { cpu: 1_000 } };
  expect(entries).toEqual([
    {
      id: 'a',
      count: 1,
      form: { kind: 'single', ask: plain },
      priority: 0,
      submittedAtMs: 5_000,
      owner: null,
      taskIds: [],
      invalid: null,
    },
  ]);
  expect(undated).toEqual(['a']);
});

test('equal asks are one object, whatever the order of their resources', () => {
  const { entries } = readEntries(
    { id: 'a', single: { resources: { cpu: 1, memory: 5 } } },
    { id: 'b', single: { resources: { memory: 5, cpu: 0.9999999999999999 } } },
    { id: 'c', single: { resources: { memory: 6, cpu: 1 } } },
  );
  expect(entries[0]?.form).toBe(entries[1]?.form);
  expect(entries[0]?.form).not.toBe(entries[2]?.form);
});

test('bundles that would fill the store are refused before they are made', () => {
  const many = Array.from({ length: 100 }, (_, n) => ({
    ...bundles({ parts: [{ ask: { resources: { cpu: n } }, count: 10_000 }] }),
    id: `b${n}`,
  }));
  const [first] = complaintsOf(() => readEntries(...many));
  expect(first).toMatch(
    /^entries\[\d+\]: takes \d+ letters in the store, and its page has \d+ left/,
  );
});

// prettier-ignore: a table is read by column
describe('the head of a page', () => {
  test.each([
    ['no source', { source: '' }, 'source: is missing; set it'],
    [
      'too many entries',
      { entries: Array.from({ length: 2_001 }, () => ({})) },
      'entries: 2001 entries and removed ids are above the limit of 2000; push them in pages, `more` set on all but the last',
    ],
    [
      'removed ids in a full set',
      { removedIds: ['a'] },
      'removed_ids: are for a delta; set base_generation for a delta, or leave them out: the full set replaces all',
    ],
    [
      'a base above itself',
      { baseGeneration: 8 },
      'base_generation: 8 is above the generation itself, 7; name the generation that this one changes',
    ],
    [
      'a generation beyond bounds',
      { generation: '9007199254740992' },
      'generation: 9007199254740992 is above 9007199254740991, the highest; count from 1',
    ],
    ['a short ttl', { ttl: '9.999s' }, 'ttl: 9.999s is outside 10s to 7d; write one of these'],
    ['a long ttl', { ttl: '604801s' }, 'ttl: 604801s is outside 10s to 7d; write one of these'],
    [
      'pages without end',
      { page: 10_000 },
      'page: 10000 is above 9999, the last; put up to 2000 entries into each',
    ],
  ])('%s', (_name, over, message) => {
    expect(complaintsOf(() => readHead(request(over)))).toEqual([message]);
  });

  test('has five minutes to live where nothing is said', () => {
    expect(readHead(request({})).ttlMs).toBe(300_000);
    expect(readHead(request({ ttl: '10s' })).ttlMs).toBe(10_000);
  });
});

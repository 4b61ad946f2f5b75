import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { entryIdAt } from '../model/demand.ts';
import { fileProblem, renderProblem } from './problem.ts';
import type { InputRead } from './read-file.ts';
import { parseSnapshot, type SnapshotParse } from './snapshot-file.ts';

const config = `groups:
  - { name: cpu-std, host: { cpu: 16, memory: 64GiB }, max: 10, pricePerHour: 1 }
  - name: gpu-h100
    device: { type: gpu, variant: h100 }
    host: { cpu: 100, gpu: 8, memory: 1TiB }
    hostsPerSlice: 2
    max: 10
    pricePerHour: 30
`;

/** The same as JSON, which is read faster. */
const configJson = JSON.stringify(parseYaml(config));

const readConfig = (path: string): InputRead =>
  path === 'conf/bellows.yaml'
    ? { kind: 'ok', text: configJson, file: path }
    : { kind: 'bad', problem: fileProblem(path, 'there is no such file', 'check the path') };

const read = (body: string): SnapshotParse =>
  parseSnapshot(`config: bellows.yaml\n${body}`, 'conf/s.yaml', readConfig);

function complaints(body: string): readonly string[] {
  const parsed = read(body);
  return parsed.kind === 'ok' ? [] : parsed.problems.map(renderProblem);
}

function snapshotOf(parsed: SnapshotParse) {
  if (parsed.kind === 'bad') throw new Error(parsed.problems.map(renderProblem).join('\n'));
  return parsed.snapshot;
}

const full = `format: bellows-snapshot/1
at: 2026-11-15T09:00:00Z
slices:
  - { id: cpu-1, group: cpu-std, status: booting, count: 3, for: 2m }
  - id: h100-a
    group: gpu-h100
    status: ready
    for: 3h
    hosts:
      - { free: { cpu: 10, gpu: 2, memory: 100GiB } }
    reservedFor: train
conditions:
  - { group: gpu-h100, kind: stockout, until: 2026-11-15T09:10:00Z }
  - { group: cpu-std, kind: paused, for: 10m }
  - { group: cpu-std, kind: draining }
tasks:
  - { id: t1, gang: g1, device: { type: gpu, variant: h100 }, resources: { gpu: 1 }, age: 3m }
  - { id: t2, gang: g1, device: { type: gpu, variant: h100 }, resources: { gpu: 1 } }
  - { id: t3, resources: { cpu: 0.0001 }, owner: alice }
demand:
  - id: sweep
    count: 500
    device: { type: gpu, variants: [h100, a100] }
    preemptible: true
    constraints:
      - { key: zone, op: in, values: [us-a, us-b] }
      - { key: tier, op: eq, value: 2, soft: true }
    resources: { cpu: 4, memory: 16GiB, gpu: 1 }
    priority: 10
    age: 5m
  - { id: train, gang: 16, device: gpu, resources: { gpu: 4 } }
  - id: serve
    device: gpu
    bundles:
      strategy: STRICT_SPREAD
      parts: [{ resources: { cpu: 4 }, count: 2 }, { resources: { gpu: 1 }, device: tpu }]
floors:
  - { id: warm, count: 4, resources: { cpu: 16 } }
`;
const atMs = Date.parse('2026-11-15T09:00:00Z');

describe('a snapshot file', () => {
  test('gives slices with their hosts, counts multiplied out', () => {
    const { slices } = snapshotOf(read(full));
    expect(
      slices.map(({ id, status, statusSinceMs }) => [id, status, atMs - statusSinceMs]),
    ).toEqual([
      ['cpu-1/0', 'booting', 120_000],
      ['cpu-1/1', 'booting', 120_000],
      ['cpu-1/2', 'booting', 120_000],
      ['h100-a', 'ready', 10_800_000],
    ]);
    expect(slices[0]?.hosts).toEqual([]);
    expect(slices[3]).toMatchObject({
      reservedFor: 'train',
      hosts: [{ free: { cpu: 10_000, gpu: 2_000, memory: 100 * 2 ** 30 } }, { free: null }],
    });
  });

  test('gives conditions with their ends', () => {
    expect(snapshotOf(read(full)).conditions).toEqual([
      { kind: 'stockout', group: 'gpu-h100', untilMs: atMs + 600_000 },
      { kind: 'paused', group: 'cpu-std', untilMs: atMs + 600_000 },
      { kind: 'draining', group: 'cpu-std' },
    ]);
  });

  test('gives demand by class: tasks first, counts as one batch', () => {
    const { demand, floors } = snapshotOf(read(full));
    expect(demand.map(({ form, count, priority }) => [form.kind, count, priority])).toEqual([
      ['gang', 1, 0],
      ['single', 1, 0],
      ['single', 500, 10],
      ['gang', 1, 0],
      ['bundles', 1, 0],
    ]);
    expect(demand[0]?.batches).toEqual([
      {
        id: 'g1',
        count: 1,
        submittedAtMs: atMs - 180_000,
        order: 0,
        owner: null,
        taskIds: ['t1', 't2'],
      },
    ]);
    const sweep = demand[2]?.batches[0];
    expect(sweep).toMatchObject({ id: 'sweep', count: 500, submittedAtMs: atMs - 300_000 });
    expect(sweep && entryIdAt(sweep, 499)).toBe('sweep/499');
    expect(demand[1]?.form).toMatchObject({ ask: { resources: { cpu: 1 }, device: null } });
    expect(demand[2]?.form).toEqual({
      kind: 'single',
      ask: {
        device: { type: 'gpu', variants: ['h100', 'a100'] },
        preemptible: true,
        constraints: [
          { key: 'zone', op: 'in', values: ['us-a', 'us-b'], soft: false },
          { key: 'tier', op: 'eq', values: ['2'], soft: true },
        ],
        resources: { cpu: 4_000, memory: 2 ** 34, gpu: 1_000 },
      },
    });
    expect(demand[4]?.form).toMatchObject({
      strategy: 'STRICT_SPREAD',
      bundles: [
        { device: { type: 'gpu' }, resources: { cpu: 4_000 } },
        { device: { type: 'gpu' }, resources: { cpu: 4_000 } },
        { device: { type: 'tpu' }, resources: { gpu: 1_000 } },
      ],
    });
    expect(floors).toMatchObject([{ id: 'warm', count: 4, ask: { resources: { cpu: 16_000 } } }]);
  });

  test('a gang whose tasks differ is invalid demand, not a bad file', () => {
    const parsed = read(`tasks:
  - { id: a, gang: g, resources: { cpu: 1 } }
  - { id: b, gang: g, resources: { cpu: 2 } }
`);
    expect(snapshotOf(parsed).demand[0]?.invalid?.kind).toBe('mixed-gang');
  });

  test('holds its config inline, too', () => {
    const inline = `config:\n${config.replaceAll(/^/gm, '  ')}\ndemand: []\n`;
    const parsed = parseSnapshot(inline, 's.yaml', readConfig);
    expect(snapshotOf(parsed).fleet.groups).toHaveLength(2);
  });

  test('may be a config alone', () => {
    const parsed = parseSnapshot(config, 'bellows.yaml', readConfig);
    expect(parsed).toMatchObject({ kind: 'ok', form: 'config', snapshot: { demand: [], atMs: 0 } });
  });
});

describe('problems of a snapshot file', () => {
  const job = 'demand: [{ id: a, resources: { cpu: 1 }';
  test.each([
    [
      `${job}, count: 0 }]`,
      '2:49 demand[0].count: 0 is not a whole number from 1 to 10000000; write 1 or more',
    ],
    [
      `${job}, gang: 0 }]`,
      '2:48 demand[0].gang: 0 is not a whole number from 1 to 10000000; write 1 or more',
    ],
    [
      `${job}, count: 10000000, gang: 2 }]`,
      '2:9 demand: 20000000 tasks are above the limit of 10000000; lower the counts',
    ],
    [
      `${job} }, { id: a, resources: {} }]`,
      '2:50 demand[1].id: the id "a" is taken already; give each its own',
    ],
    [
      `${job}, count: 5 }, { id: a/4, resources: {} }]`,
      '2:60 demand[1].id: the id "a/4" is one of the 5 called "a"; give each its own',
    ],
    [
      `${job} }]\ntasks: [{ id: x, gang: a, resources: {} }]`,
      '2:16 demand[0].id: the id "a" is taken already; give each its own',
    ],
    ['demand: [{ id: a }]', '2:10 demand[0].resources: is missing; add it'],
    [
      `${job}, bundles: { strategy: PACK, parts: [{ resources: {} }] } }]`,
      '2:30 demand[0].resources: an entry of bundles has none of its own; move it to the parts',
    ],
    [
      'demand: [{ id: a, gang: 2, bundles: { strategy: PACK, parts: [{ resources: {} }] } }]',
      '2:25 demand[0].gang: gang and bundles do not mix; keep one',
    ],
    [
      'demand: [{ id: a, bundles: { strategy: SPRED, parts: [{ resources: {} }] } }]',
      '2:40 demand[0].bundles.strategy: "SPRED" is not one of PACK, SPREAD, STRICT_PACK, STRICT_SPREAD; did you mean SPREAD?',
    ],
    [
      'demand: [{ id: a, bundles: { strategy: PACK, parts: [] } }]',
      '2:53 demand[0].bundles.parts: has too few items; give at least 1',
    ],
    [
      'demand: [{ id: a, resources: { cpu: 1e308 } }]',
      '2:37 demand[0].resources.cpu: 1e+308 is outside the range of cpu, 0 to 9007199254740; write a number such as 4, 0.5 or 500m',
    ],
    [
      'demand: [{ id: a, resources: { cpu: .nan } }]',
      '2:37 demand[0].resources.cpu: NaN is not a quantity of cpu; write a number such as 4, 0.5 or 500m',
    ],
    [
      `${job}, constraints: [{ key: z, op: eq, value: a }, { key: z, op: eq, value: b }] }]`,
      '2:56 demand[0].constraints[0]: z eq a and z eq b cannot hold together; drop or soften one',
    ],
    [
      `${job}, constraints: [{ key: z, op: gt, value: a }] }]`,
      '2:56 demand[0].constraints[0]: z gt a needs a number; correct its value or its op',
    ],
    [
      `${job}, constraints: [{ key: z, op: exist }] }]`,
      '2:70 demand[0].constraints[0].op: "exist" is not one of eq, ne, in, not-in, exists, not-exists, gt, ge, lt, le; did you mean exists?',
    ],
    [
      `${job}, constraints: [{ key: z, op: in, value: a, values: [b] }] }]`,
      '2:92 demand[0].constraints[0].values: value and values are both given; keep one',
    ],
    [
      `${job}, device: { type: gpu, variant: a, variants: [b] } }]`,
      '2:85 demand[0].device.variants: variant and variants are both given; keep one',
    ],
    [
      `${job}, prioritty: 3 }]`,
      '2:42 demand[0].prioritty: unknown key "prioritty"; did you mean priority?',
    ],
    ['demnd: []', '2:1 demnd: unknown key "demnd"; did you mean demand?'],
    ['groups: []', '2:1 groups: unknown key "groups"; move it under config: { groups: ... }'],
    [
      'at: yesterday',
      '2:5 at: "yesterday" is not a point in time from 1970 on; write for example 2026-11-15T09:00:00Z',
    ],
    [
      'slices: [{ id: a, group: cpu-sdt, status: ready }]',
      '2:26 slices[0].group: unknown group "cpu-sdt"; did you mean cpu-std?',
    ],
    [
      'slices: [{ id: a, group: cpu-std, status: redy }]',
      '2:43 slices[0].status: "redy" is not one of queued, requesting, booting, initializing, ready, draining, terminating, terminated, failed; did you mean ready?',
    ],
    [
      'slices: [{ id: a, group: cpu-std, status: ready, hosts: [{ count: 2 }] }]',
      '2:57 slices[0].hosts: 2 hosts are above the 1 that a slice of cpu-std has; list fewer or lower their count',
    ],
    [
      'slices: [{ id: a, group: cpu-std, status: ready, hosts: [{ free: { cpu: 17 } }] }]',
      '2:73 slices[0].hosts[0].free.cpu: 17 free is above 16, all that a host of cpu-std has; lower it, or raise host.cpu of the group',
    ],
    [
      'slices: [{ id: a, group: cpu-std, status: ready, count: 600000 }, { id: b, group: cpu-std, status: ready, count: 600000 }]',
      '2:9 slices: 1200000 slices are above the limit of 1000000; lower the counts',
    ],
    [
      'conditions: [{ group: cpu-std, kind: backoff, for: 1m, until: 2030-01-01T00:00:00Z }]',
      '2:52 conditions[0].for: until and for both say when it ends; keep one',
    ],
    [
      'conditions: [{ group: cpu-std, kind: draining, for: 1m }]',
      '2:38 conditions[0].kind: a draining group has no end time; remove until and for',
    ],
    [
      'conditions: [{ group: cpu-std, kind: backoff, for: 0 }]',
      '2:52 conditions[0].for: it has ended by the time of the snapshot; remove the condition',
    ],
    [
      'tasks: [{ id: a, gang: g, resources: {} }, { id: a, gang: g, resources: {} }]',
      '2:50 tasks[1].id: the id "a" is taken already; give each its own',
    ],
    [
      'floors: [{ id: a, resources: {} }, { id: a, resources: {} }]',
      '2:42 floors[1].id: the id "a" is taken already; give each its own',
    ],
  ])('%s', (body, message) => {
    expect(complaints(body)).toEqual([`conf/s.yaml:${message}`]);
  });

  test.each([
    [
      'config: nowhere.yaml',
      '1:9 config: cannot read conf/nowhere.yaml: there is no such file; check the path',
    ],
    [
      'config: 5',
      '1:9 config: 5 is not a configuration; give the path of bellows.yaml or its content',
    ],
    ['demand: []', '1:1 config: is missing; give the path of bellows.yaml or its content'],
    ['config: { groups: [] }', '1:19 config.groups: has too few items; give at least 1'],
  ])('%s', (text, message) => {
    const parsed = parseSnapshot(text, 'conf/s.yaml', readConfig);
    expect(parsed.kind === 'bad' ? parsed.problems.map(renderProblem) : []).toEqual([
      `conf/s.yaml:${message}`,
    ]);
  });

  test('one bad row hides no other', () => {
    expect(
      complaints(`slices: [{ id: a, group: x, status: ready }]
demand: [{ id: a, resources: { cpu: -1 } }, { id: b, resources: {} }, { id: b, resources: {} }]
`),
    ).toHaveLength(3);
  });

  test('problems of the config keep the name of its file', () => {
    const parsed = parseSnapshot('config: b.yaml', 's.yaml', (path) => {
      return { kind: 'ok', text: 'groups: []', file: path };
    });
    expect(parsed.kind === 'bad' ? parsed.problems.map(renderProblem) : []).toEqual([
      'b.yaml:1:9 groups: has too few items; give at least 1',
    ]);
  });
});

describe('anything at all', () => {
  test('a damaged snapshot gets an answer and never an exception', () => {
    const whole = `config: bellows.yaml\n${full}`;
    const damage = fc.array(
      fc.record({
        at: fc.nat(whole.length),
        cut: fc.nat(12),
        put: fc.oneof(
          fc.constantFrom('', '\n', ': ', '- ', '{', ']', '*a', '0', '-1', '1e308', '.nan', 'null'),
          fc.string({ maxLength: 4 }),
        ),
      }),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(damage, (edits) => {
        const text = edits.reduce((before, { at, cut, put }) => {
          return before.slice(0, at) + put + before.slice(at + cut);
        }, whole);
        const parsed = parseSnapshot(text, 'conf/s.yaml', readConfig);
        if (parsed.kind === 'bad') expect(parsed.problems.length).toBeGreaterThan(0);
      }),
      { numRuns: 1_000 },
    );
  });

  test('rows of any shape get an answer', () => {
    const keys = ['id', 'count', 'gang', 'device', 'resources', 'constraints', 'bundles', 'age'];
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom('a', '1m', '1GiB', 1, {}),
    );
    const rows = fc.array(fc.dictionary(fc.constantFrom(...keys), value), { maxLength: 4 });
    fc.assert(
      fc.property(rows, rows, (demand, tasks) => {
        const text = JSON.stringify({ config: 'bellows.yaml', demand, tasks });
        const parsed = parseSnapshot(text, 'conf/s.json', readConfig);
        if (parsed.kind === 'bad') expect(parsed.problems.length).toBeGreaterThan(0);
      }),
      { numRuns: 1_000 },
    );
  });
});

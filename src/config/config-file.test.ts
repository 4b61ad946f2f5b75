import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseConfig } from './config-file.ts';
import { PROBLEMS_MAX, renderProblem } from './problem.ts';

const full = `fleet: research
strategy: cost
limits: { maxSlices: 200, spendPerHour: 500, createsPerMinute: 60, concurrentLaunches: none }
loop: { evaluationInterval: 10s, reconcileInterval: 15s }
timeouts: { requesting: 90s, booting: 20m }
groups:
  - name: tpu-v5e-16
    provider: local
    device: { type: tpu, variant: v5litepod-16 }
    host: { cpu: 112, memory: 192GiB, disk: 100GiB, tpu: 4 }
    hostsPerSlice: 4
    min: 1
    spare: 1
    max: 8
    priority: 10
    pricePerHour: 19.20
    preemptible: true
    attributes: { zone: europe-west4-b, tier: 2 }
    idleTimeout: 5m
    quotaPool: tpu-eu
    timeouts: { booting: 20m }
    bootstrap: { script: ./join.sh, attempts: 2 }
    onChange: roll
  - { name: cpu, host: { cpu: 500m }, max: 3, pricePerHour: 0 }
quotaPools: { tpu-eu: { tpu: 64 } }
providers:
  mine: { type: external, command: [./cloud, --json] }
  sim: { type: simulated, seed: 7 }
store: { type: postgres, url: postgres://db/bellows }
server: { listen: 0.0.0.0:7070, tls: { certFile: a.pem, keyFile: b.pem } }
pools: [{ name: sweep, group: cpu, max: 3, slotsPerNode: 2 }]
services:
  - name: chat
    targets: [{ name: h100, group: cpu, max: 4, cost: 10 }]
    metrics: [{ name: queue, target: 10 }]
calendars:
  - name: office
    timeZone: Europe/Paris
    entries: [{ group: cpu, days: [mon, fri], from: "08:00", to: "18:00", spare: 1 }]
`;

/** A small valid file with some lines exchanged or added. */
function complaints(text: string): readonly string[] {
  const parsed = parseConfig(text, 'b.yaml');
  return parsed.kind === 'ok' ? [] : parsed.problems.map(renderProblem);
}

const group = (fields: string): string =>
  `groups:\n  - { name: a, host: { cpu: 1, tpu: 4 }, pricePerHour: 2, ${fields} }\n`;

describe('a valid file', () => {
  test('becomes the fleet that policies see', () => {
    const parsed = parseConfig(full, 'b.yaml');
    expect(parsed.kind === 'bad' ? parsed.problems.map(renderProblem) : []).toEqual([]);
    if (parsed.kind === 'bad') return;
    expect(parsed.config.fleet).toEqual({
      name: 'research',
      strategy: 'cost',
      limits: {
        slicesMax: 200,
        spendMaxMicroUsdPerHour: 500_000_000,
        createsPerMinute: 60,
        concurrentLaunches: null,
        upscalingSpeed: 1,
      },
      registrationGraceMs: 60_000,
      groups: [
        {
          name: 'tpu-v5e-16',
          provider: 'local',
          device: { type: 'tpu', variant: 'v5litepod-16' },
          host: { cpu: 112_000, memory: 206_158_430_208, disk: 107_374_182_400, tpu: 4_000 },
          hostsPerSlice: 4,
          min: 1,
          spare: 1,
          max: 8,
          priority: 10,
          priceMicroUsdPerHour: 19_200_000,
          preemptible: true,
          attributes: { zone: 'europe-west4-b', tier: '2' },
          quotaPool: 'tpu-eu',
        },
        {
          name: 'cpu',
          provider: 'local',
          device: { type: 'cpu', variant: null },
          host: { cpu: 500 },
          hostsPerSlice: 1,
          min: 0,
          spare: 0,
          max: 3,
          priority: 100,
          priceMicroUsdPerHour: 0,
          preemptible: false,
          attributes: {},
          quotaPool: null,
        },
      ],
      quotaPools: [{ name: 'tpu-eu', limits: { tpu: 64_000 } }],
    });
  });

  test('has its defaults filled in', () => {
    const parsed = parseConfig(group('max: 2'), 'b.yaml');
    if (parsed.kind === 'bad') throw new Error(parsed.problems.map(renderProblem).join());
    const { settings } = parsed.config;
    expect(settings).toMatchObject({
      fleet: 'default',
      strategy: 'cost',
      limits: {
        createsPerMinute: 60,
        concurrentLaunches: 10,
        upscalingSpeed: 1,
        terminationsPerMinute: 60,
        drainingPercent: 50,
      },
      loop: { evaluationInterval: 10_000, reconcileInterval: 15_000 },
      timeouts: {
        requesting: 120_000,
        booting: 600_000,
        initializing: 600_000,
        draining: 1_800_000,
        gangAssembly: 900_000,
        registrationGrace: 60_000,
      },
      store: { type: 'sqlite' },
      server: { listen: '127.0.0.1:7070' },
      groups: [{ idleTimeout: 600_000, bootstrap: 'none', onChange: 'keep', timeouts: {} }],
    });
  });

  test('reads the same as JSON', () => {
    const yaml = parseConfig(group('max: 2'), 'b.yaml');
    const json = parseConfig(
      '{"groups": [{"name": "a", "host": {"cpu": 1, "tpu": 4}, "pricePerHour": 2, "max": 2}]}',
      'b.json',
    );
    expect(json).toEqual(yaml);
  });
});

describe('fields', () => {
  const header = 'b.yaml:2:';
  test.each([
    ['max: -1', '64 groups[0].max: -1 is not a whole number from 0 to 1000000; write 0 or more'],
    [
      'max: 1e308',
      '64 groups[0].max: 1e+308 is not a whole number from 0 to 1000000; write 1000000 or less',
    ],
    ['max: 1.5', '64 groups[0].max: 1.5 is not a whole number from 0 to 1000000; write one'],
    ['max: .nan', '64 groups[0].max: NaN is not a whole number from 0 to 1000000; write one'],
    ['max: ten', '64 groups[0].max: "ten" is not a whole number from 0 to 1000000; write one'],
    ['min: 1', '5 groups[0].max: is missing; add it'],
    ['max: 1, mim: 1', '67 groups[0].mim: unknown key "mim"; did you mean min?'],
    [
      'max: 1, hostsPerSlice: 0',
      '82 groups[0].hostsPerSlice: 0 is not a whole number from 1 to 10000; write 1 or more',
    ],
    [
      'max: 1, idleTimeout: 10',
      '80 groups[0].idleTimeout: 10 has no unit; write 10s for seconds or 10ms for milliseconds',
    ],
    [
      'max: 1, preemptible: perhaps',
      '80 groups[0].preemptible: "perhaps" is not true or false; write true or false',
    ],
    [
      'max: 1, device: [gpu]',
      '75 groups[0].device: a list is not a device; write gpu, or { type: gpu, variant: h100 }',
    ],
    ['max: 1, device: { typ: gpu }', '75 groups[0].device.type: is missing; add it'],
    [
      'max: 1, onChange: rol',
      '77 groups[0].onChange: "rol" is not one of keep, replace-idle, roll; did you mean roll?',
    ],
    [
      'max: 1, bootstrap: nothing',
      '78 groups[0].bootstrap: "nothing" is not a bootstrap; write none, or a mapping with a script',
    ],
  ])('%s', (fields, message) => {
    expect(complaints(group(fields))).toContain(`${header}${message}`);
  });

  test.each([
    ['5', 'b.yaml:1:1: 5 is not a mapping; write a mapping'],
    ['- a', 'b.yaml:1:1: a list is not a mapping; write a mapping'],
    ['fleet: x', 'b.yaml:1:1 groups: is missing; add it'],
    ['groups: []', 'b.yaml:1:9 groups: has too few items; give at least 1'],
    [
      `${group('max: 1')}startegy: cost`,
      'b.yaml:3:1 startegy: unknown key "startegy"; did you mean strategy?',
    ],
    [
      `${group('max: 1')}strategy: cheap`,
      'b.yaml:3:11 strategy: "cheap" is not one of priority, utilization, cost; use one of these',
    ],
    [
      `${group('max: 1')}limits: { createsPerMinute: 0 }`,
      'b.yaml:3:29 limits.createsPerMinute: 0 is not a whole number from 1 to 1000000; write 1 or more',
    ],
    [
      `${group('max: 1')}limits: { createsPerMinute: many }`,
      'b.yaml:3:29 limits.createsPerMinute: "many" is neither a number nor none; write a number, or none for no limit',
    ],
    [
      `${group('max: 1')}providers: { x: { type: awss } }`,
      'b.yaml:3:25 providers.x.type: "awss" is not one of local, kubernetes, aws, gcp, external, simulated; did you mean aws?',
    ],
    [
      `${group('max: 1')}providers: { x: {} }`,
      'b.yaml:3:17 providers.x.type: is missing; use one of local, kubernetes, aws, gcp, external, simulated',
    ],
    [
      `${group('max: 1')}quotaPools: { "a b": { tpu: 1 } }`,
      'b.yaml:3:15 quotaPools["a b"]: "a b" is not a name; use 1 to 63 letters, digits, "-", "_" and ".", starting with a letter or digit',
    ],
    [
      'groups: [{ name: a, host: { cpu: .nan }, max: 1, pricePerHour: 0 }]',
      'b.yaml:1:34 groups[0].host.cpu: NaN is not a quantity of cpu; write a number such as 4, 0.5 or 500m',
    ],
    [
      'groups: [{ name: a, host: { memory: 1e308 }, max: 1, pricePerHour: 0 }]',
      'b.yaml:1:37 groups[0].host.memory: 1e+308 is outside the range of memory, 0 to 8PiB; write bytes or a unit, such as 64GiB or 64GB',
    ],
  ])('%s', (text, message) => {
    expect(complaints(text)).toContain(message);
  });
});

describe('rules over several fields', () => {
  const ok = group('max: 2, min: 1, quotaPool: q');
  const quota = 'quotaPools: { q: { tpu: 8 } }';
  test.each([
    [
      'a name taken',
      `${ok}${quota}\npools: [{ name: p, group: a, max: 1 }, { name: p, group: a, max: 1 }]`,
      '4:48 pools[1].name: the name "p" is taken already; give each its own name',
    ],
    [
      'min above max',
      group('max: 3, min: 5'),
      '2:64 groups[0].max: 3 is below min 5; raise max or lower min',
    ],
    [
      'an unknown provider',
      group('max: 3, provider: lokal'),
      '2:77 groups[0].provider: unknown provider "lokal"; did you mean local?',
    ],
    [
      'external without its section',
      group('max: 3, provider: external'),
      '2:77 groups[0].provider: unknown provider "external"; known: local, kubernetes, aws, gcp, simulated',
    ],
    [
      'an unknown quota pool',
      `${group('max: 3, quotaPool: tpu-ew')}quotaPools: { tpu-eu: { tpu: 1 } }`,
      '2:78 groups[0].quotaPool: unknown quota pool "tpu-ew"; did you mean tpu-eu?',
    ],
    [
      'no quota pools',
      group('max: 3, quotaPool: x'),
      '2:78 groups[0].quotaPool: unknown quota pool "x"; add it under quotaPools',
    ],
    [
      'a quota of nothing',
      `${ok}quotaPools: { q: { tpus: 8 } }`,
      '3:20 quotaPools.q.tpus: no group of this quota pool has the resource "tpus"; did you mean tpu?',
    ],
    [
      'min above the quota',
      `${ok}quotaPools: { q: { tpu: 3 } }`,
      '3:25 quotaPools.q.tpu: 3 is below 4, what min of its groups takes; raise it to 4 or lower min',
    ],
    [
      'min above the fleet',
      `${ok}${quota}\nlimits: { maxSlices: 0 }`,
      '4:22 limits.maxSlices: 0 is below 1, the sum of min over all groups; raise maxSlices to 1 or lower min',
    ],
    [
      'min above the budget',
      `${ok}${quota}\nlimits: { spendPerHour: 1.5 }`,
      '4:25 limits.spendPerHour: $1.50 is below $2.00, the price of min over all groups; raise spendPerHour to 2.00 or lower min',
    ],
    [
      'no price',
      'groups: [{ name: a, host: { cpu: 1 }, max: 1 }]',
      '1:10 groups[0].pricePerHour: group a has no price, which strategy cost needs; add pricePerHour in dollars per slice; 0 for what is paid for anyway',
    ],
    [
      'an empty host',
      'groups: [{ name: a, host: {}, max: 1, pricePerHour: 0 }]',
      '1:27 groups[0].host: the host offers no resources, so nothing could run there; list them: { cpu: 8, memory: 32GiB }',
    ],
    [
      'slow evaluation',
      `${group('max: 1')}loop: { evaluationInterval: 20s }`,
      '3:29 loop.evaluationInterval: 20s is above reconcileInterval 15s; lower it or raise reconcileInterval',
    ],
    [
      'a pool of no group',
      `${group('max: 1')}pools: [{ name: p, group: b, max: 1 }]`,
      '3:27 pools[0].group: unknown group "b"; did you mean a?',
    ],
    [
      'a pool with crossed bounds',
      `${group('max: 1')}pools: [{ name: p, group: a, min: 2, max: 1 }]`,
      '3:43 pools[0].max: 1 is below min 2; raise max or lower min',
    ],
    [
      'a target of nothing',
      `${group('max: 1')}services: [{ name: s, metrics: [{ name: m, target: 1 }], targets: [{ name: t, max: 1 }] }]`,
      '3:68 services[0].targets[0]: target t needs either a group or a deployment; give one of the two',
    ],
    [
      'a calendar of no group',
      `${group('max: 1')}calendars: [{ name: c, entries: [{ group: zzzz, min: 1 }] }]`,
      '3:43 calendars[0].entries[0].group: unknown group "zzzz"; known: a',
    ],
    [
      'a calendar without effect',
      `${group('max: 1')}calendars: [{ name: c, entries: [{ group: a }] }]`,
      '3:34 calendars[0].entries[0]: the entry changes nothing; give min, spare or both',
    ],
  ])('%s', (_name, text, message) => {
    expect(complaints(text)).toEqual([`b.yaml:${message}`]);
  });

  test('spare beyond max is allowed', () => {
    expect(complaints(group('max: 1, min: 1, spare: 5'))).toEqual([]);
  });
});

test('all problems come at once: keys given twice, fields and rules', () => {
  const text = `groups:
  - { name: a, host: { cpu: x }, max: 3, min: 5, pricePerHour: -1 }
  - { name: a, host: { cpu: 1 }, max: 1, max: 2, pricePerHour: 1, provider: lokal }
  - { name: c }
pools: [{ name: p, group: c, max: 1 }, { name: q, group: d, max: 1 }]
`;
  expect(complaints(text)).toEqual([
    'b.yaml:2:29 groups[0].host.cpu: "x" is not a quantity of cpu; write a number such as 4, 0.5 or 500m',
    'b.yaml:2:39 groups[0].max: 3 is below min 5; raise max or lower min',
    'b.yaml:2:64 groups[0].pricePerHour: -1 is below 0; write dollars such as 19.20, from 0 to $1000000.00',
    'b.yaml:3:13 groups[1].name: the name "a" is taken already; give each its own name',
    'b.yaml:3:42 groups[1].max: this key is given twice; keep one',
    'b.yaml:3:77 groups[1].provider: unknown provider "lokal"; did you mean local?',
    'b.yaml:4:5 groups[2].host: is missing; add it',
    'b.yaml:4:5 groups[2].max: is missing; add it',
    'b.yaml:5:58 pools[1].group: unknown group "d"; did you mean a?',
  ]);
});

test('the list of problems ends somewhere', () => {
  const rows = Array.from({ length: 200 }, () => '  - { name: a, bad: 1 }').join('\n');
  const lines = complaints(`groups:\n${rows}\n`);
  expect(lines).toHaveLength(PROBLEMS_MAX + 1);
  expect(lines.at(-1)).toMatch(/^b\.yaml: \.\.\. and \d+ other problems$/);
});

function isAnswered(text: string): void {
  const parsed = parseConfig(text, 'f.yaml');
  if (parsed.kind === 'bad') expect(parsed.problems.length).toBeGreaterThan(0);
}

describe('anything at all', () => {
  test('gets an answer and never an exception', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc
        .array(fc.constantFrom(...'{}[]:,-?&*!|>#"\' \n\tab1~<%@'.split('')), { maxLength: 80 })
        .map((parts) => {
          return parts.join('');
        }),
      fc.json(),
    );
    fc.assert(fc.property(text, isAnswered), { numRuns: 4_000 });
  });

  test('also when a valid file is damaged', () => {
    // Short, because reading YAML is what takes the time; of every kind of section something.
    const whole = `strategy: cost
limits: { maxSlices: 20, spendPerHour: 500, createsPerMinute: none }
groups:
  - name: tpu
    device: { type: tpu, variant: v5 }
    host: &host { cpu: 112, memory: 192GiB, tpu: 4 }
    min: 1
    max: 8
    pricePerHour: 19.20
    quotaPool: q
  - { name: cpu, host: *host, max: 3, pricePerHour: 0, idleTimeout: 5m }
quotaPools: { q: { tpu: 64 } }
providers: { mine: { type: external, command: [a] } }
pools: [{ name: p, group: cpu, max: 3 }]
`;
    const damage = fc.array(
      fc.record({
        at: fc.nat(whole.length),
        cut: fc.nat(12),
        put: fc.oneof(
          fc.constantFrom(
            '',
            ' ',
            '\n',
            ':',
            '-',
            '{',
            ']',
            '&a ',
            '*a',
            '1e308',
            '.nan',
            '<<: *a',
          ),
          fc.string({ maxLength: 4 }),
        ),
      }),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(damage, (edits) => {
        isAnswered(
          edits.reduce((text, { at, cut, put }) => {
            return text.slice(0, at) + put + text.slice(at + cut);
          }, whole),
        );
      }),
      { numRuns: 4_000 },
    );
  });
});

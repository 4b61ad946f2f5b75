import { describe, expect, test } from 'vitest';
import type { Control } from '../model/control.ts';
import { type Config, parseConfig } from './config-file.ts';
import { toControl } from './control.ts';
import { renderProblem } from './problem.ts';

function parsed(text: string): Config {
  const parse = parseConfig(text, 'b.yaml');
  if (parse.kind === 'bad') throw new Error(parse.problems.map(renderProblem).join('\n'));
  return parse.config;
}

const control = (text: string): Control => parsed(text).control;

const group = (fields: string): string =>
  `groups:\n  - { name: a, host: { cpu: 1, tpu: 4 }, max: 9, pricePerHour: 2, ${fields} }\n`;

const shapeOf = (text: string): string | undefined => control(text).groups[0]?.shape;

const full = `limits: { terminationsPerMinute: none, drainingPercent: 20 }
loop: { evaluationInterval: 1s, reconcileInterval: 5s }
timeouts: { requesting: 90s, draining: 1h }
groups:
  - name: a
    provider: mine
    host: { cpu: 4 }
    max: 8
    pricePerHour: 1
    idleTimeout: 5m
    timeouts: { booting: 20m, draining: 2h, registrationGrace: 30s }
    onChange: roll
    concurrentLaunches: 3
    launch: { instanceType: p5.48xlarge, disks: 2 }
    bootstrap: { script: ./join, joinToken: JOIN, attempts: 2 }
    unreported: idle
  - { name: b, provider: aws, host: { cpu: 1 }, max: 3, pricePerHour: 0 }
providers:
  spot: { type: simulated, concurrentCalls: 2 }
  mine: { type: external, command: [./cloud], callTimeout: 5s }
calendars:
  - name: office
    timeZone: Europe/Paris
    entries:
      - { group: b, days: [fri, mon, sun, mon], from: "08:30", to: "18:00", spare: 1 }
      - { group: a, min: 2 }
  - { name: night, entries: [{ group: a, from: "22:00", to: "06:00", min: 1, spare: 0 }] }
`;

describe('the control', () => {
  test('of a whole file', () => {
    const { fleet, groups, ...rest } = control(full);
    expect(fleet).toBeDefined();
    const timeouts = {
      requestingMs: 90_000,
      bootingMs: 600_000,
      initializingMs: 600_000,
      drainingMs: 3_600_000,
      gangAssemblyMs: 900_000,
      registrationGraceMs: 60_000,
    };
    expect(groups).toEqual([
      {
        group: 'a',
        idleTimeoutMs: 300_000,
        timeouts: {
          ...timeouts,
          bootingMs: 1_200_000,
          drainingMs: 7_200_000,
          registrationGraceMs: 30_000,
        },
        onChange: 'roll',
        concurrentLaunchesMax: 3,
        shape: expect.stringMatching(/^[0-9a-f]{16}$/),
        launch: { instanceType: 'p5.48xlarge', disks: '2' },
        bootstrap: { script: './join', joinToken: 'JOIN', attemptsMax: 2, timeoutMs: 600_000 },
        unreported: 'idle',
      },
      {
        group: 'b',
        idleTimeoutMs: 600_000,
        timeouts,
        onChange: 'keep',
        concurrentLaunchesMax: null,
        shape: expect.stringMatching(/^[0-9a-f]{16}$/),
        launch: {},
        bootstrap: null,
        unreported: 'busy',
      },
    ]);
    const everyDay = [0, 1, 2, 3, 4, 5, 6];
    const office = { calendar: 'office', timeZone: 'Europe/Paris' };
    const mornings = { ...office, group: 'b', days: [0, 1, 5], fromMinute: 510, toMinute: 1_080 };
    const always = { ...office, group: 'a', days: everyDay, fromMinute: 0, toMinute: 1_440 };
    const night = { calendar: 'night', timeZone: 'UTC', group: 'a', days: everyDay };
    expect(rest).toEqual({
      providers: [
        { name: 'aws', callTimeoutMs: 60_000, concurrentCalls: 8 },
        { name: 'mine', callTimeoutMs: 5_000, concurrentCalls: 8 },
        { name: 'spot', callTimeoutMs: 60_000, concurrentCalls: 2 },
      ],
      retired: [],
      calendars: [
        { ...mornings, min: null, spare: 1 },
        { ...always, min: 2, spare: null },
        { ...night, fromMinute: 1_320, toMinute: 360, min: 1, spare: 0 },
      ],
      blastRadius: { terminationsPerMinute: null, drainingRatio: 0.2 },
      evaluationIntervalMs: 1_000,
      reconcileIntervalMs: 5_000,
      mode: 'active',
    });
  });

  test('has the limits on giving back by default', () => {
    expect(control(group('min: 0')).blastRadius).toEqual({
      terminationsPerMinute: 60,
      drainingRatio: 0.5,
    });
    expect(
      control(`${group('min: 0')}limits: { drainingPercent: none }`).blastRadius.drainingRatio,
    ).toBeNull();
  });

  test('holds the fleet that policies see, before any calendar', () => {
    const config = parsed(full);
    expect(config.control.fleet).toBe(config.fleet);
    expect(config.fleet.groups.map(({ min, spare }) => [min, spare])).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  test('is advisory when told so', () => {
    const { settings, control: active } = parsed(full);
    expect(toControl(settings, 'advisory')).toEqual({ ...active, mode: 'advisory' });
  });
});

test.each([
  [
    'terminationsPerMinute: 0',
    '3:34 limits.terminationsPerMinute: 0 is not a whole number from 1 to 1000000; write 1 or more',
  ],
  [
    'drainingPercent: 101',
    '3:28 limits.drainingPercent: 101 is not a whole number from 1 to 100; write 100 or less',
  ],
  [
    'drainingPercent: 0.5',
    '3:28 limits.drainingPercent: 0.5 is not a whole number; write a number, or none for no limit',
  ],
  [
    'drainingPercent: half',
    '3:28 limits.drainingPercent: "half" is neither a number nor none; write a number, or none for no limit',
  ],
])('%s is refused', (limit, message) => {
  const parse = parseConfig(`${group('min: 0')}limits: { ${limit} }`, 'b.yaml');
  const problems = parse.kind === 'ok' ? [] : parse.problems.map(renderProblem);
  expect(problems).toEqual([`b.yaml:${message}`]);
});

describe('the shape of a group', () => {
  const plain = group('launch: { image: x, zone: y }, attributes: { p: 1, q: 2 }');

  test.each([
    ['min', 'min: 1'],
    ['spare', 'spare: 1'],
    ['priority', 'priority: 1'],
    ['idleTimeout', 'idleTimeout: 1m'],
    ['timeouts', 'timeouts: { booting: 1m }'],
    ['onChange', 'onChange: roll'],
    ['concurrentLaunches', 'concurrentLaunches: 1'],
  ])('is not touched by %s', (_name, field) => {
    expect(shapeOf(group(field))).toBe(shapeOf(group('hostsPerSlice: 1')));
  });

  test('is not touched by max and price, nor by other groups', () => {
    const other = plain.replace('max: 9, pricePerHour: 2', 'max: 8, pricePerHour: 3');
    expect(other).not.toBe(plain);
    const more = '  - { name: b, host: { cpu: 1 }, max: 1, pricePerHour: 0 }\n';
    expect(shapeOf(other + more)).toBe(shapeOf(plain));
  });

  test('does not hang on the order of keys or the way quantities are written', () => {
    const other = group('attributes: { q: "2", p: "1" }, launch: { zone: y, image: x }').replace(
      '{ cpu: 1, tpu: 4 }',
      '{ tpu: 4, cpu: 1000m }',
    );
    expect(shapeOf(other)).toBe(shapeOf(plain));
  });

  test('is another one for each thing that a slice is made of', () => {
    const shapes = [
      group('min: 0'),
      group('min: 0').replace('cpu: 1', 'cpu: 2'),
      group('provider: aws'),
      group('device: gpu'),
      group('device: { type: gpu, variant: h100 }'),
      group('hostsPerSlice: 2'),
      group('preemptible: true'),
      group('bootstrap: { script: ./a.sh }'),
      group('bootstrap: { script: ./b.sh }'),
      group('bootstrap: { script: ./a.sh, joinToken: t }'),
      group('launch: { image: x }'),
      group('attributes: { image: x }'),
    ].map(shapeOf);
    expect(new Set(shapes).size).toBe(shapes.length);
  });
});

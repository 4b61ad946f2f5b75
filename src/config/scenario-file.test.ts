import { describe, expect, test } from 'vitest';
import { noFaults } from '../providers/simulated/faults.ts';
import { must } from '../support/assert.ts';
import type { InputRead } from './read-file.ts';
import { fileProblem } from './problem.ts';
import type { Scenario } from './scenario.ts';
import { parseScenario } from './scenario-file.ts';
import { faultNames } from './scenario-schema.ts';

const config = `config:
  groups: [{ name: a, host: { cpu: 4 }, max: 3, pricePerHour: 1, preemptible: true }]
`;
const noFile = (path: string): InputRead => ({
  kind: 'bad',
  problem: fileProblem(path, 'there is no such file', 'check the path'),
});

function parse(text: string): Scenario {
  const parsed = parseScenario(config + text, 's.yaml', noFile);
  if (parsed.kind === 'bad') throw new Error(JSON.stringify(parsed.problems));
  return parsed.scenario;
}

function problems(text: string): readonly string[] {
  const parsed = parseScenario(config + text, 's.yaml', noFile);
  return parsed.kind === 'ok'
    ? []
    : parsed.problems.map(({ path, message }) => `${path}: ${message}`);
}

test('faults have the names that the simulated cloud knows', () => {
  expect([...faultNames].sort()).toEqual(Object.keys(noFaults).sort());
});

test('a scenario of next to nothing has its defaults', () => {
  const { seed, hours, startAtMs, workload, machines, events, faults } = parse('');
  expect({ seed, hours, startAtMs }).toEqual({ seed: 1, hours: 24, startAtMs: null });
  expect([workload, machines, events]).toEqual([[], [], []]);
  expect(faults).toEqual({ preset: 'none', own: new Map() });
});

describe('workload', () => {
  const source = (over: string): string =>
    `workload: [{ id: w, arrivals: 6, resources: { cpu: 1 }, ${over} }]`;

  test.each([
    ['10m', { kind: 'fixed', ms: 600_000 }],
    ['{ from: 1m, to: 2m }', { kind: 'even', fromMs: 60_000, toMs: 120_000 }],
    ['{ mean: 1m }', { kind: 'exponential', meanMs: 60_000 }],
    ['{ median: 1m, p95: 5m }', { kind: 'log-normal', medianMs: 60_000, p95Ms: 300_000 }],
  ])('runs for %s', (text, runTime) => {
    expect(parse(source(`runTime: ${text}`)).workload).toMatchObject([{ shapes: [{ runTime }] }]);
  });

  test.each(['office', 'night', 'flat'])('keeps the mean of arrivals on a %s curve', (daily) => {
    const text = source('runTime: 1m').replace(
      'arrivals: 6',
      `arrivals: { perHour: 6, daily: ${daily} }`,
    );
    const [made] = parse(text).workload;
    const perHour = made?.kind === 'synthetic' ? made.perHour : [];
    expect(perHour.reduce((sum, rate) => sum + rate, 0) / 24).toBeCloseTo(6);
    expect(Math.min(...perHour)).toBeGreaterThanOrEqual(0);
  });

  test('shapes are drawn by weight, each with its own run time or that of all', () => {
    const [made] = parse(
      `workload: [{ id: w, arrivals: 1, runTime: 1m, shapes: [
        { weight: 3, resources: { cpu: 1 } }, { gang: 2, resources: { cpu: 2 }, runTime: 2m }] }]`,
    ).workload;
    expect(must(made, 'one source')).toMatchObject({
      shapes: [
        { weight: 3, form: { kind: 'single' }, runTime: { ms: 60_000 } },
        { weight: 1, form: { kind: 'gang', taskCount: 2 }, runTime: { ms: 120_000 } },
      ],
    });
  });

  test('is refused with all that is wrong', () => {
    const text = `workload:
  - { id: w, arrivals: 1, runTime: { from: 2m, to: 1m }, resources: { cpu: 1 } }
  - { id: w, arrivals: 1, runTime: 1m, resources: { cpu: 1 }, from: 2h, to: 1h }
  - { id: x, runTime: 1m, resources: { cpu: 1 }, bursts: [{ count: 1, every: 0s }] }
  - { id: y, arrivals: 1, runTime: 1m, resources: { cpu: 1 }, shapes: [{ weight: 0, resources: {} }] }
`;
    expect(problems(text)).toEqual([
      'workload[0].runTime: `to` is shorter than `from`',
      'workload[1].id: the id "w" is taken already',
      'workload[1].to: it ends before it begins',
      'workload[2].bursts[0].every: a burst every 0s would never end',
      'workload[3].resources: a source with shapes asks for nothing itself',
      'workload[3].shapes: no shape weighs anything',
    ]);
  });
});

test('a change of configuration may not change what the clouds sell', () => {
  const event = (group: string): string =>
    `events: [{ at: 1h, kind: config, config: { groups: [${group}] } }]`;
  expect(problems(event('{ name: a, host: { cpu: 4 }, max: 9, pricePerHour: 1 }'))).toEqual([]);
  expect(problems(event('{ name: a, host: { cpu: 4 }, max: 9, pricePerHour: 2 }'))).toEqual([
    'events[0].config: the group a has another price than before',
  ]);
});

test('events come in order of time', () => {
  const text = 'events: [{ at: 2h, kind: kill-controller }, { at: 1h, kind: hang, for: 1m }]';
  expect(parse(text).events.map(({ kind }) => kind)).toEqual(['hang', 'kill-controller']);
});

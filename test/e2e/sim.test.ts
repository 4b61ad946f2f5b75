import { spawn } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { bellows, lines, main, root, useFolder } from './cli.ts';

const write = useFolder();

const config = `config:
  fleet: tiny
  groups:
    - { name: small, host: { cpu: 4 }, max: 8, pricePerHour: 1 }
    - { name: spot, device: gpu, host: { cpu: 4, gpu: 1 }, max: 3, pricePerHour: 2, preemptible: true }
`;
const made = (over = ''): string =>
  `{ id: job, arrivals: 20, runTime: 10m, resources: { cpu: 2 }${over} }`;
const scenario = (workload: string, rest = ''): string =>
  `${config}hours: 2\nworkload:\n  - ${workload}\n${rest}`;

interface Simulation {
  readonly cost: { readonly usd: number };
  readonly bound: { readonly kind: string; readonly usd: number; readonly ratio: number };
  readonly work: {
    readonly arrived: number;
    readonly finished: number;
    readonly skippedRows: number;
  };
  readonly groups: readonly { readonly group: string; readonly launched: number }[];
  readonly reasons: readonly { readonly text: string; readonly entryHours: number }[];
  readonly events: readonly { readonly kind: string; readonly hit: number | null }[];
  readonly timeline: readonly unknown[];
}

/** Runs a scenario and reads its report; what is not the same every time is left out. */
function simulate(path: string, ...args: readonly string[]): Simulation {
  const run = bellows(['sim', path, '--json', ...args]);
  expect([run.exit, run.stderr]).toEqual([0, '']);
  const { tookMs: _, speed: __, ...report } = JSON.parse(run.stdout);
  return report;
}

describe('sim', () => {
  test('says what a run cost, how long work waited and why', () => {
    const path = write('day.yaml', scenario(made()));
    const run = bellows(['sim', path]);
    expect([run.exit, run.stderr]).toEqual([0, '']);
    expect(run.stdout).toMatch(
      /^tiny {2}.*day\.yaml, 2 h from 2026-01-01 00:00 UTC, strategy cost/,
    );
    expect(run.stdout).toMatch(/^COST {4}\$\d+\.\d\d, .* % above the \$\d+\.\d\d that the work/m);
    expect(run.stdout).toMatch(/^WORK {4}\d+ arrived, \d+ finished, \d+ running, \d+ waiting$/m);
    expect(run.stdout).toMatch(/^WAITS {3}mean .*, p50 .*, p95 .*, p99 .*, max /m);
    expect(run.stdout).toMatch(/^ {2}small +\d+ +0 +0 /m);
    expect(run.stdout).toMatch(/^ {2}ready .*at most \d slices/m);
    expect(run.stdout).toContain('small is on its way');
    expect(run.stdout).toMatch(/^RUN {5}\d+ ticks; 2 h in .* times real time$/m);
  });

  test('the same seed gives the same run, another one another', () => {
    const path = write('seeds.yaml', scenario(made(), 'faults: hostile\n'));
    const first = simulate(path, '--seed', '5', '--hours', '1');
    expect(simulate(path, '--seed', '5', '--hours', '1')).toEqual(first);
    expect(simulate(path, '--seed', '6', '--hours', '1')).not.toEqual(first);
  });

  test('costs no less than its bound, and counts what it did', () => {
    const report = simulate(write('json.yaml', scenario(made())));
    expect(report.bound.kind).toBe('known');
    expect(report.bound.usd).toBeLessThanOrEqual(report.cost.usd);
    expect(report.work.finished).toBeGreaterThan(10);
    expect(report.timeline).toHaveLength(2);
  });

  test('incidents come about and show in the reasons', () => {
    const gpu = made(', device: gpu').replace('cpu: 2', 'gpu: 1');
    const events = [
      '{ at: 0s, kind: stockout, group: spot, for: 1h }',
      '{ at: 90m, kind: preempt, group: spot, count: 1 }',
      '{ at: 100m, kind: kill-controller }',
    ];
    const rest = `events:\n${events.map((event) => `  - ${event}\n`).join('')}`;
    const report = simulate(write('incident.yaml', scenario(gpu, rest)));
    expect(report.events).toMatchObject([
      { kind: 'stockout', hit: null },
      { kind: 'preempt', hit: 1 },
      { kind: 'kill-controller', hit: null },
    ]);
    const texts = report.reasons.map(({ text }) => text);
    expect(texts).toContainEqual('spot provider is out of stock');
    expect(texts).toContainEqual(expect.stringContaining('spot at max'));
  });

  test('a trace runs as it says, packed or not, and a gang runs whole', () => {
    const csv = 'when,long,cores,tasks\n100,600,2,\n160,5m,1,\n220,600,3,2\nnever,1,1,\n';
    write('trace.csv', csv);
    write('trace.csv.gz', gzipSync(csv));
    const source = (file: string): string =>
      `id: t
    trace: ${file}
    columns: { arrival: when, runTime: long, gang: tasks, resources: { cpu: cores } }
    badRows: skip`;
    const plain = simulate(write('plain.yaml', scenario(source('trace.csv'))));
    expect(plain.work).toMatchObject({ arrived: 3, finished: 3, skippedRows: 1 });
    expect(plain.groups[0]).toMatchObject({ group: 'small', launched: 3 });
    const packed = simulate(write('packed.yaml', scenario(source('trace.csv.gz'))));
    expect({ ...packed, file: '' }).toEqual({ ...plain, file: '' });
  });

  test('a scenario may come from standard input', () => {
    const run = bellows(['sim', '-', '--hours', '0.1'], { input: scenario(made()) });
    expect([run.exit, run.stderr]).toEqual([0, '']);
  });

  test('an interrupt ends it with what was done', async () => {
    const path = write('long.yaml', scenario(made()).replace('hours: 2', 'hours: 8760'));
    const child = spawn(process.execPath, [main, 'sim', path], { cwd: root });
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    // It says nothing before its end unless on a terminal, so only time tells that it runs.
    setTimeout(() => child.kill('SIGINT'), 4_000);
    const exit = await new Promise((resolve) => child.on('exit', resolve));
    expect(exit).toBe(130);
    expect(text).toContain('interrupted: this is what happened until then');
  });

  test('its schema is JSON', () => {
    const run = bellows(['config', 'schema', '--scenario']);
    expect(JSON.parse(run.stdout)).toMatchObject({ title: 'Bellows scenario', type: 'object' });
  });
});

describe('sim refuses', () => {
  test.each([
    ['empty.yaml', '', /: the file is empty; /],
    ['no-config.yaml', 'hours: 2\n', /:1:1 config: is missing; give the path of bellows.yaml/],
    ['gone.yaml', 'config: nowhere.yaml\n', /:1:9 config: cannot read .*nowhere.yaml: there is no/],
    [
      'key.yaml',
      scenario(made(), 'event: []\n'),
      /:9:1 event: unknown key "event"; did you mean ev/,
    ],
    ['hours.yaml', `${config}hours: -1\n`, /:6:8 hours: -1 is not a number from .*; write 0.01 or/],
    [
      'run.yaml',
      scenario(made().replace('10m', '10')),
      /:8:39 workload\[0\].runTime: 10 has no unit/,
    ],
    [
      'even.yaml',
      scenario(made().replace('10m', '{ from: 1m }')),
      /runTime: from is no run time; /,
    ],
    [
      'idle.yaml',
      scenario('{ id: a, runTime: 1m, resources: { cpu: 1 } }'),
      /nothing ever arrives; /,
    ],
    [
      'none.yaml',
      scenario('{ id: a, arrivals: 1, runTime: 1m }'),
      /\[0\].resources: is missing; add/,
    ],
    [
      'curve.yaml',
      scenario(made().replace('20', '{ perHour: 1, daily: [1] }')),
      /has 1 factors; give/,
    ],
    [
      'group.yaml',
      scenario(made(), 'machines: { smal: {} }\n'),
      /:9:13 machines.smal: .*mean small\?/,
    ],
    [
      'rate.yaml',
      scenario(made(), 'machines: { small: { preemptionsPerHour: 1 } }\n'),
      /preemptionsPerHour: small is not preemptible; set preemptible: true/,
    ],
    [
      'fault.yaml',
      scenario(made(), 'faults: { hangRatio: 2 }\n'),
      /faults.hangRatio: 2 is not a numb/,
    ],
    [
      'kind.yaml',
      scenario(made(), 'events: [{ at: 1h, kind: stokout, group: spot, for: 1h }]\n'),
      /events\[0\].*"stokout" is not one of .*; did you mean stockout\?/,
    ],
    [
      'event.yaml',
      scenario(made(), 'events: [{ at: 1h, kind: stockout, group: sopt, for: 1h }]\n'),
      /:9:43 events\[0\].group: unknown group "sopt"; did you mean spot\?/,
    ],
    ['trace.yaml', scenario('{ id: t, trace: none.csv }'), /\[0\].trace: cannot read .*none.csv: /],
  ])('%s', (name, content, message) => {
    const path = write(name, content);
    const run = bellows(['sim', path]);
    expect([run.exit, run.stdout]).toEqual([2, '']);
    expect(run.stderr).toMatch(message);
    for (const line of lines(run.stderr)) expect(line.startsWith(path)).toBe(true);
    expect(run.stderr).not.toContain('    at ');
  });

  test('cells of a trace, with line and column', () => {
    const trace = write('bad.csv', 'arrival,runTime,cpu\n0,10m,1\n5,soon,1\n9,1m,lots\n,1m,1\n');
    const run = bellows(['sim', write('cells.yaml', scenario('{ id: t, trace: bad.csv }'))]);
    expect([run.exit, run.stdout]).toEqual([2, '']);
    expect(lines(run.stderr)).toEqual([
      `${trace}:3:3 runTime: "soon" is not a duration; write for example 90s, 10m, 1h30m, 500ms or 2d`,
      `${trace}:4:6 cpu: "lots" is not a quantity of cpu; write a number such as 4, 0.5 or 500m`,
      `${trace}:5:1 arrival: is empty; fill it in, or write badRows: skip`,
    ]);
  });

  test('a recording where there is one already', () => {
    const path = write('again.yaml', scenario(made()));
    const run = bellows(['sim', path, '--record', path]);
    expect([run.exit, run.stdout]).toEqual([2, '']);
    expect(run.stderr).toBe(`--record: ${path} is there already; name a new file\n`);
  });

  test('options that make no sense', () => {
    const path = write('options.yaml', scenario(made()));
    const run = bellows(['sim', path, '--seed', 'x', '--hours', '0']);
    expect([run.exit, run.stdout]).toEqual([2, '']);
    expect(lines(run.stderr)).toEqual([
      '--seed: "x" is not a whole number from 0 to 2147483647',
      '--hours: "0" is not a number from 0.01 to 8760',
    ]);
  });
});

test('a recorded day replays byte for byte', () => {
  const path = write('recorded.yaml', scenario(made()));
  const journal = `${path}.journal.gz`;
  expect(bellows(['sim', path, '--record', journal]).exit).toBe(0);
  const run = bellows(['replay', journal, '--json']);
  expect(run.exit).toBe(0);
  expect(JSON.parse(run.stdout)).toMatchObject({ different: 0 });
});

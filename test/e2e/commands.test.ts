import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { useServer } from './up-process.ts';
import { bellows, lines, main, root, shell, useFolder } from './cli.ts';

const write = useFolder();
const research = 'examples/research.yaml';

const config = (price: number): string => `
fleet: tiny
groups:
  - { name: small, host: { cpu: 4 }, max: 8, pricePerHour: ${price} }
  - { name: big, host: { cpu: 16 }, max: 2, pricePerHour: 3.5 }
`;
const snapshot = (price: number, count: number): string => `
config:${config(price).replaceAll('\n', '\n  ')}
demand:
  - { id: job, count: ${count}, resources: { cpu: 1 }, age: 2m, owner: ann }
`;
const cases = (...list: readonly object[]): string =>
  JSON.stringify({ format: 'bellows-cases/1', cases: list });
const given = {
  groups: [{ name: 'a', device: { type: 'cpu' }, host: { cpu: 8 }, max: 3, pricePerHour: 1 }],
  demand: [{ id: 't', resources: { cpu: 1 } }],
};

/** No colours, no crash, and a last line that ends. */
function expectClean({ stdout, stderr }: { stdout: string; stderr: string }): void {
  expect(stdout + stderr).not.toContain('\u001B');
  expect(stderr).not.toContain('    at ');
  if (stdout !== '') expect(stdout).toMatch(/[^\n]\n$/);
}

describe('help and usage', () => {
  test.each([
    ['--help', [/^Usage: bellows /m, /\n {2}plan /, /\n {2}test /, /\n {2}config /]],
    ['plan --help', [/Examples:\n {2}bellows plan /, /--explain/, /--against/, /--json/]],
    ['test --help', [/Examples:\n {2}bellows test /, /Exit code 1/]],
    ['config check --help', [/Example:\n {2}bellows config check /]],
    ['config schema --help', [/Example:\n {2}bellows config schema/]],
    ['--version', [/^\d+\.\d+\.\d+$/m]],
  ])('%s', (line, patterns) => {
    const run = bellows(line.split(' '));
    expect([run.exit, run.stderr]).toEqual([0, '']);
    for (const pattern of patterns) expect(run.stdout).toMatch(pattern);
    expectClean(run);
  });

  test.each([
    ['plam x.yaml', /unknown command 'plam'\n\(Did you mean plan\?\)/],
    [`plan --jsn ${research}`, /unknown option '--jsn'\n\(Did you mean --json\?\)/],
    ['plan', /missing required argument 'files'/],
    ['test', /missing required argument 'files'/],
    ['config chekc x', /unknown command 'chekc'\n\(Did you mean check\?\)/],
    [`plan --strategy prioritty ${research}`, /--strategy: "prioritty".* did you mean priority\?/],
    [`plan --strategy x ${research}`, /--strategy: "x".* one of priority, utilization, cost/],
    [`plan ${research} ${research} --explain x`, /--explain takes one file, not 2/],
  ])('%s is refused with a hint', (line, message) => {
    const run = bellows(line.split(' '));
    expect([run.exit, run.stdout]).toEqual([2, '']);
    expect(run.stderr).toMatch(message);
    expectClean(run);
  });
});

describe('plan', () => {
  test('says what to launch, where work goes, what waits and what would help', () => {
    const run = bellows(['plan', research], { env: { FORCE_COLOR: '', NO_COLOR: '1' } });
    expect([run.exit, run.stderr]).toEqual([0, '']);
    expectClean(run);
    expect(run.stdout).toMatch(/^research {2}examples\/research.yaml, strategy cost, 5 groups/);
    expect(run.stdout).toMatch(
      /\nLAUNCH {2}\d+ slices, \$\d+\.\d\d\/h; \d.* the lower bound of \$/,
    );
    expect(run.stdout).toMatch(/\nPLACED {2}\d+ of 469 entries\n/);
    expect(run.stdout).toMatch(/\nUNMET {3}\d+ entries\n/);
    for (const group of ['cpu-16', 'cpu-64', 'l4-spot', 'h100', 'tpu-v5e-16']) {
      expect(run.stdout).toContain(group);
    }
    expect(run.stdout).toContain('remedy: raise tpu of quota pool tpu-eu from 128 to 160');
    expect(run.stdout).toContain('did you mean us-east1-b?');
    expect(run.stdout).toContain('resources.memory is 16GiB (sim-0, sim-1) and 32GiB (sim-2)');
    expect(run.stdout).toMatch(/FLOORS\n.*\n {2}notebooks +4 of 4/);
  });

  test.each(['priority', 'utilization', 'cost'])('%s: as JSON the numbers agree', (strategy) => {
    const run = bellows(['plan', research, '--json', '--strategy', strategy]);
    expect([run.exit, run.stderr]).toEqual([0, '']);
    expectClean(run);
    const plan = JSON.parse(run.stdout) as PlanJson; // checked below
    expect(plan).toMatchObject({
      format: 'bellows-plan-report/1',
      file: research,
      fleet: 'research',
      strategy,
    });
    expect(plan.entries.placed + plan.entries.unmet).toBe(plan.entries.total);
    expect(plan.entries.total).toBe(469);
    expect(sum(plan.placed.map(({ count }) => count))).toBe(plan.entries.placed);
    expect(sum(plan.unmet.map(({ count }) => count))).toBe(plan.entries.unmet);
    expect(sum(plan.launches.map(({ slices }) => slices))).toBe(plan.launchCount);
    expect(sum(plan.launches.map((one) => one.costPerHour))).toBeCloseTo(plan.costPerHour, 9);
    for (const { slices, causes } of plan.launches) {
      expect(sum(Object.values(causes))).toBe(slices);
    }
    expect(plan.groups.map(({ group }) => group)).toEqual([
      'cpu-16',
      'cpu-64',
      'l4-spot',
      'h100',
      'tpu-v5e-16',
    ]);
    for (const { code, invalid, groups } of plan.unmet) {
      expect(groups).toHaveLength(invalid === null ? 5 : 0);
      expect(code).toMatch(/^[a-z-]+$/);
    }
    if (strategy === 'cost') expect(plan.bound?.ratio).toBeGreaterThanOrEqual(1);
    expect(plan.floors).toEqual([{ id: 'notebooks', count: 4, held: 4, unmet: null }]);
  });

  test.each([
    [
      'finetune',
      /^finetune {2}gang of 16.*\n {2}priority 10, waiting 25m, owner bob\n\n {2}PLACED {2}3 tasks on free room of h100, 13 tasks on a new slice of h100/,
    ],
    ['tokenize/3', /^tokenize\/3 {2}cpu 2.*\n[^]*PLACED[^]*cpu-64 .*\$\d+\.\d+\/h for its share/],
    ['genome', /UNMET\n {4}insufficient-resources[^]*h100 +host too small[^]*remedy: /],
    ['sim-1', /^sim {2}gang of 3[^]*invalid-demand: tasks of the gang/],
  ])('--explain %s', (entry, pattern) => {
    const run = bellows(['plan', research, '--explain', entry]);
    expect([run.exit, run.stderr]).toEqual([0, '']);
    expect(run.stdout).toMatch(pattern);
    expectClean(run);
  });

  test('--explain with --json tells the same as data', () => {
    const run = bellows(['plan', research, '--explain', 'genome', '--json']);
    expect(JSON.parse(run.stdout)).toMatchObject({
      id: 'genome',
      owner: 'erin',
      waitingMs: 7_200_000,
      outcome: { kind: 'unmet', code: 'insufficient-resources' },
      alternatives: ['cpu-16', 'cpu-64', 'l4-spot', 'h100', 'tpu-v5e-16'].map((group) => {
        return { group, kind: 'excluded', exclusion: { kind: 'host-too-small' } };
      }),
    });
  });

  test.each([
    ['pretrian', '--explain: no entry is called "pretrian"; did you mean pretrain?\n'],
    ['tokenize/420', /no entry is called "tokenize\/420"; did you mean tokenize\/\d+\?/],
  ])('--explain %s is refused', (entry, message) => {
    const run = bellows(['plan', research, '--explain', entry]);
    expect([run.exit, run.stdout]).toEqual([2, '']);
    expect(run.stderr).toMatch(message);
  });

  test('--against another snapshot compares launches, money and work', () => {
    const now = write('now.yaml', snapshot(0.8, 8));
    const then = write('then.yaml', snapshot(2, 20));
    // 8 CPUs: two small hosts at 0.80. 20 CPUs at 2.00: one big (3.50) and one small.
    const run = bellows(['plan', now, '--against', then]);
    expect([run.exit, run.stderr]).toEqual([0, '']);
    expectClean(run);
    expect(run.stdout).toMatch(/^NOW .*now.yaml, strategy cost\nTHEN .*then.yaml, strategy cost/);
    expect(run.stdout).toMatch(/\n {2}small +2 +1 +-1 +\+\$0.40\n/);
    expect(run.stdout).toMatch(/\n {2}big +0 +1 +\+1 +\+\$3.50\n/);
    expect(run.stdout).toMatch(/\n {2}all +2 +2 +0 +\+\$3.90\n/);
    expect(run.stdout).toContain('placed  8 of 8 now, 20 of 20 then\n');
  });

  test('--against a bare config previews it on the same work', () => {
    const now = write('base.yaml', snapshot(0.8, 8));
    const dearer = write('dearer.yaml', config(2));
    // Two small at 2.00 cost more than one big at 3.50.
    const run = bellows(['plan', now, '--against', dearer, '--json']);
    expect(JSON.parse(run.stdout)).toMatchObject({
      format: 'bellows-plan-difference/1',
      before: { launchCount: 2, costPerHour: 1.6, entries: { total: 8, placed: 8 } },
      after: { launchCount: 1, costPerHour: 3.5, entries: { total: 8, placed: 8 } },
      launchDifference: -1,
      costPerHourDifference: 1.9,
    });
    expectClean(run);
  });

  test('several files come one after the other; as JSON, a line each', () => {
    const files = [write('one.yaml', snapshot(1, 1)), write('two.yaml', snapshot(1, 2))];
    const text = bellows(['plan', '--no-bound', ...files]);
    expect([text.exit, text.stdout.match(/^LAUNCH /gm)?.length]).toEqual([0, 2]);
    const json = bellows(['plan', '--no-bound', '--json', ...files]);
    const totals = lines(json.stdout).map((line) => (JSON.parse(line) as PlanJson).entries.total);
    expect(totals).toEqual([1, 2]);
  });

  test('a bare config has nothing pending', () => {
    const run = bellows(['plan', '--no-bound', 'examples/bellows.yaml']);
    expect(run.stdout).toMatch(/LAUNCH {2}1 slice, .*\n.*\n {2}h100 .* min 1\n/);
    expect(run.stdout).toContain('PLACED  no work is pending\n');
  });

  test('- is standard input', () => {
    const run = bellows(['plan', '-', '--no-bound'], { input: snapshot(1, 3) });
    expect(run.exit).toBe(0);
    expect(run.stdout).toMatch(/^tiny {2}<stdin>, strategy cost[^]*PLACED {2}3 of 3 entries/);
  });

  test('a reader that goes away is no error', () => {
    const line = `"${process.execPath}" "${main}" plan ${research} | head -1`;
    const run = shell(`cd "${root}" && ${line}`);
    expect([run.exit, run.stderr]).toEqual([0, '']);
    expect(lines(run.stdout)).toHaveLength(1);
  });

  test('a full disk is said in one line', () => {
    const run = shell(
      `cd "${root}" && "${process.execPath}" "${main}" plan ${research} > /dev/full`,
    );
    expect(run.exit).toBe(1);
    expect(run.stderr).toMatch(/^bellows: the output could not be written: ENOSPC.*\n$/);
  });
});

interface PlanJson {
  readonly entries: { readonly total: number; readonly placed: number; readonly unmet: number };
  readonly costPerHour: number;
  readonly bound: { readonly costPerHour: number; readonly ratio: number } | null;
  readonly launchCount: number;
  readonly launches: readonly {
    readonly slices: number;
    readonly costPerHour: number;
    readonly causes: Readonly<Record<string, number>>;
  }[];
  readonly groups: readonly { readonly group: string }[];
  readonly placed: readonly { readonly count: number }[];
  readonly unmet: readonly {
    readonly count: number;
    readonly code: string;
    readonly invalid: object | null;
    readonly groups: readonly object[];
  }[];
  readonly floors: readonly object[];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

describe('test', () => {
  test('golden cases hold, and the last line counts them', () => {
    const run = bellows(['test', 'test/cases/priority.json', 'test/cases/cost.json']);
    expect(run).toEqual({ exit: 0, stdout: '271 passed, 0 failed\n', stderr: '' });
  });

  test('a case that fails says what was expected and what came', () => {
    const file = write(
      'failing.json',
      cases(
        { id: 'good', policy: 'cost', given, expect: { launch: { a: 1 } } },
        { id: 'wrong', policy: 'cost', given, expect: { launch: { a: 2, b: 1 }, costPerHour: 1 } },
      ),
    );
    const run = bellows(['test', file]);
    expect([run.exit, run.stderr]).toEqual([1, '']);
    expect(lines(run.stdout)).toEqual([
      `failed wrong (cost, ${file})`,
      '  launch.a: expected 2, got 1',
      '  launch.b: expected 1, got nothing',
      '1 passed, 1 failed',
    ]);
  });

  test('--json prints a line per case and nothing else', () => {
    const file = write(
      'mixed.json',
      cases(
        { id: 'good', policy: 'cost', given, expect: { costPerHour: 1 }, note: 'ignored' },
        { id: 'wrong', policy: 'priority', given, expect: { costPerHour: 2 } },
        { id: 'shown', policy: 'cost', given },
      ),
    );
    const run = bellows(['test', '--json', file]);
    expect([run.exit, run.stderr]).toEqual([1, '']);
    const results = lines(run.stdout).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(results.map((result) => Object.keys(result))).toEqual(
      results.map(() => ['id', 'policy', 'ok', 'result', 'ms']),
    );
    expect(results.map(({ id, policy, ok }) => [id, policy, ok])).toEqual([
      ['good', 'cost', true],
      ['wrong', 'priority', false],
      ['shown', 'cost', true],
    ]);
    expect(results[0]?.['result']).toEqual({
      launch: { a: 1 },
      routed: { a: ['t'] },
      unmet: [],
      costPerHour: 1,
    });
    for (const { ms } of results) expect(ms).toBeGreaterThanOrEqual(0);
  });

  test('a case without an expectation shows its result', () => {
    const run = bellows(['test', write('shown.json', cases({ id: 'x', policy: 'cost', given }))]);
    expect(run.exit).toBe(0);
    expect(run.stdout).toMatch(/^x \{\n {2}"launch": \{\n {4}"a": 1\n/);
    expect(lines(run.stdout).at(-1)).toBe('1 passed, 0 failed');
  });

  test('policies that are unknown, or not there yet, are refused by case', () => {
    const policies = ['pressure', 'csot', 'toString', 'cost'];
    const file = write(
      'policies.json',
      cases(...policies.map((policy) => ({ id: `with-${policy}`, policy, given }))),
    );
    const run = bellows(['test', file, '--json']);
    expect(run.exit).toBe(2);
    expectClean(run);
    const said = lines(run.stderr);
    expect(said).toHaveLength(3);
    expect(said[0]).toBe(
      `${file}: case with-pressure: policy "pressure" is not in this version; it has priority, cost, utilization`,
    );
    expect(said[1]).toMatch(/: case with-csot: unknown policy "csot" \(did you mean "cost"\?\)/);
    expect(said[2]).toMatch(/: case with-toString: unknown policy "toString"/);
    expect(lines(run.stdout).map((line) => (JSON.parse(line) as { ok: boolean }).ok)).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  test('cases may be YAML, come from standard input, and expect a list', () => {
    const yaml = `
format: bellows-cases/1
cases:
  - id: from-yaml
    policy: cost
    given:
      groups: [{ name: a, device: { type: cpu }, host: { cpu: 8 }, max: 3, pricePerHour: 1 }]
      demand: [{ id: t, resources: { cpu: 9 } }]
    expect: { unmet: [{ id: t, code: insufficient-resources }] }
  - id: a-list
    policy: cost
    given: { groups: [], demand: [] }
    expect: []
`;
    const run = bellows(['test', '-'], { input: yaml });
    expect(run.exit).toBe(1);
    // A result of this policy is no list, so an expected list differs from it as a whole.
    expect(run.stdout).toMatch(/^failed a-list \(cost, <stdin>\)\n {2}result: expected \[\], got /);
    expect(lines(run.stdout).at(-1)).toBe('1 passed, 1 failed');
  });
});

describe('config', () => {
  test('check sums up good files, also from standard input', () => {
    const run = bellows(['config', 'check', 'examples/bellows.yaml', '-'], { input: config(1) });
    expect(run).toEqual({
      exit: 0,
      stdout:
        'examples/bellows.yaml: ok, 5 groups, strategy cost, max 138 slices\n' +
        '<stdin>: ok, 2 groups, strategy cost, max 10 slices\n',
      stderr: '',
    });
  });

  test('schema is JSON', () => {
    const run = bellows(['config', 'schema']);
    expect(JSON.parse(run.stdout)).toMatchObject({ title: 'bellows.yaml', type: 'object' });
  });
});

/** Lines of README.md that no test of ours runs again, each with its reason. */
const skipped: readonly (readonly [RegExp, string])[] = [
  [/^npm ci\b/, 'installs; it has happened'],
  [/^npm (test|run (bench|build|lint|format|typecheck))\b/, 'is or contains this very test'],
  [/^npm start$/, 'runs until it is stopped; up.test.ts does'],
  [/^(git|cd|node --version|nvm)\b/, 'is not ours'],
];

describe('README.md', () => {
  const path = join(root, 'README.md');
  const readme = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const commands = [...readme.matchAll(/^```sh\n([^]*?)^```/gm)]
    .flatMap(([, block]) => lines(block ?? ''))
    .map((line) =>
      line
        .replace(/^\$ /, '')
        .replace(/\s+#.*$/, '')
        .trim(),
    )
    .filter((line) => line !== '' && !line.startsWith('#'))
    .filter((line) => !skipped.some(([pattern]) => pattern.test(line)));

  // Some of them talk to a service; it runs while the others do.
  const server = useServer();

  test('shows commands', () => expect(commands, `commands in ${path}`).not.toEqual([]));

  test.each([...new Set(commands)])('%s', (command) => {
    const line = command.replaceAll('npx bellows', `"${process.execPath}" "${main}"`);
    expect(line, `README.md: do not know how to run "${command}"`).not.toBe(command);
    const run = shell(`cd "${root}" && export BELLOWS_SERVER=${server.url} && ${line}`);
    expect(run.exit, `README.md: "${command}" says ${run.stderr}`).toBe(0);
    expectClean(run);
  });
});

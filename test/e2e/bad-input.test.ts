import { closeSync, ftruncateSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Run, bellows, lines, useFolder } from './cli.ts';

// Whatever comes in, a user gets one clear message and exit code 2: no stack trace, no hang.

const write = useFolder();

const config = (over = ''): string =>
  `groups: [{ name: a, host: { cpu: 8 }, max: 3, pricePerHour: 1${over} }]\n`;
const snapshot = (...demand: readonly string[]): string =>
  `config:\n  ${config()}demand:\n${demand.map((row) => `  - ${row}\n`).join('')}`;
const task = (resources: string, over = ''): string => `{ id: t, resources: ${resources}${over} }`;
const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** Nine lists of nine, nine deep: 400 million values in half a kilobyte. */
const bomb = 'abcdefghi'
  .split('')
  .map((name, index, all) => {
    const item = index === 0 ? 'x' : `*${all[index - 1]}`;
    return `${name}: &${name} [${Array.from({ length: 9 }, () => item).join(', ')}]`;
  })
  .join('\n');

/** File name, content, and what standard error says after the name of the file. */
type Row = readonly [file: string, content: string | Uint8Array, message: RegExp];

// Wrong as text or as a file: the same for every command.
const unreadable: readonly Row[] = [
  ['malformed.yaml', 'groups:\n  - name: [a\n    max: 3\n', /:3:5: not valid YAML: /],
  ['tabs.yaml', 'groups:\n\t- name: a\n', /:2:1: a tab is used to indent; indent with spaces/],
  ['unclosed.yaml', 'fleet: "abc\n', /:2:1: not valid YAML: /],
  ['malformed.json', '{ "groups": [ { "name": "a", } ', /:1:30: not valid JSON: a key/],
  ['trailing.json', '{ "groups": [] } x', /:1:18: not valid JSON: .* more text/],
  ['empty.yaml', '', /: the file is empty; /],
  ['blank.yaml', ' \n\n', /: the file is empty; /],
  ['comments.yaml', '# nothing yet\n', /:1:1: the file holds no data; /],
  ['cyclic.yaml', 'groups: &a [*a]\n', /:1:13 groups\[0\]: the alias \*a .* no end; write it out/],
  ['bomb.yaml', `${bomb}\ngroups: *i\n`, /:1:\d+ .*aliases .* unfold to too much data; /],
  ['deep.yaml', `groups: ${nested(10_000)}\n`, /:1:\d+: .* nested too deeply.*; flatten it/],
  ['deep.json', `{"groups":${nested(10_000)}}`, /:1:\d+: .* nested more than 64 levels deep/],
  ['binary.yaml', Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 0xff, 0xfe, 0), /: is not text in UTF-8; /],
  ['nul.yaml', 'groups: []\0\n', /: the file is not text; give a YAML or JSON file in UTF-8/],
  ['two.yaml', 'a: 1\n---\nb: 2\n', /:2:1: the file holds several documents; keep one/],
];

// Wrong as a configuration, alone or as what a plan is made for.
const badConfigs: readonly Row[] = [
  ['type.yaml', 'groups: 7\n', /:1:9 groups: 7 is not a list; write a list/],
  ['words.yaml', config(', min: many'), /:1:69 groups\[0\].min: "many" is not a whole number/],
  ['negative.yaml', config(', min: -1'), /:1:69 groups\[0\].min: -1 is not .*; write 0 or more/],
  ['absurd.yaml', config(', min: 99999999999999'), /groups\[0\].min: .*; write 1000000 or less/],
  ['price.yaml', config().replace('Hour: 1', 'Hour: 1e99'), /pricePerHour: 1e\+99 is above/],
  ['host.yaml', config().replace('cpu: 8', 'memory: 1e308'), /host.memory: .* 0 to 8PiB; write/],
  ['infinite.json', '{"groups":[{"name":"a","host":{"cpu":1e309}}]}', /host.cpu: Infinity is not/],
  [
    'same-name.yaml',
    config().replace(/\[(.*)\]/, '[$1, $1]'),
    /groups\[1\].name: .* taken already;/,
  ],
  ['same-key.yaml', `${config()}fleet: a\nfleet: b\n`, /:3:1 fleet: this key is given twice; keep/],
  ['min-max.yaml', config(', min: 5'), /groups\[0\].max: 3 is below min 5; raise max or lower min/],
  [
    'provider.yaml',
    config(', provider: locl'),
    /provider: unknown provider "locl"; did you mean local/,
  ],
  [
    'key.yaml',
    config(', maxx: 3'),
    /:1:64 groups\[0\].maxx: unknown key "maxx"; did you mean max\?/,
  ],
  ['section.yaml', `${config()}limitz: {}\n`, /:2:1 limitz: .*; did you mean limits\?/],
];

// Wrong as a snapshot: only a plan reads one.
const badSnapshots: readonly Row[] = [
  ['list.yaml', snapshot(task('[1]')), /:4:25 demand\[0\].resources: a list is not a mapping/],
  ['less.yaml', snapshot(task('{ cpu: -1 }')), /:4:32 demand\[0\].resources.cpu: -1 is outside/],
  [
    'nan.yaml',
    snapshot(task('{ cpu: .nan }')),
    /resources.cpu: NaN is not a quantity of cpu; write/,
  ],
  ['nan-word.yaml', snapshot(task('{ cpu: NaN }')), /resources.cpu: "NaN" is not a quantity/],
  ['infinity.yaml', snapshot(task('{ cpu: Infinity }')), /resources.cpu: "Infinity" is not/],
  ['1e308.yaml', snapshot(task('{ cpu: 1e308 }')), /resources.cpu: 1e\+308 is outside the range/],
  [
    'no-gang.yaml',
    snapshot(task('{ cpu: 1 }', ', gang: 0')),
    /demand\[0\].gang: 0 .*; write 1 or more/,
  ],
  [
    'none.yaml',
    snapshot(task('{ cpu: 1 }', ', count: 0')),
    /demand\[0\].count: 0 .*; write 1 or more/,
  ],
  [
    'no-parts.yaml',
    snapshot('{ id: t, bundles: { strategy: PACK, parts: [] } }'),
    /bundles.parts: has too few items; give at least 1/,
  ],
  [
    'ten-billion.yaml',
    snapshot(task('{ cpu: 1 }', ', count: 10000000, gang: 1000')),
    /demand: 10000000000 tasks are above the limit of 10000000; lower the counts/,
  ],
  [
    'same-id.yaml',
    snapshot(task('{ cpu: 1 }'), task('{ cpu: 2 }')),
    /:5:11 demand\[1\].id: the id "t" is taken already; give each its own/,
  ],
  [
    'contradiction.yaml',
    snapshot(
      task(
        '{ cpu: 1 }',
        ', constraints: [{ key: z, op: eq, value: a }, { key: z, op: ne, value: a }]',
      ),
    ),
    /:4:\d+ demand\[0\].constraints\[0\]: z eq a and z ne a cannot hold together; drop or soften/,
  ],
  [
    'order.yaml',
    snapshot(task('{ cpu: 1 }', ', constraints: [{ key: z, op: gt, value: a }]')),
    /demand\[0\].constraints\[0\]: z gt a needs a number; correct/,
  ],
  [
    'row-key.yaml',
    snapshot('{ id: t, resourcs: { cpu: 1 } }'),
    /:4:14 demand\[0\].resourcs: unknown key "resourcs"; did you mean resources\?/,
  ],
  [
    'no-config.yaml',
    'config: nowhere.yaml\ndemand: []\n',
    /:1:9 config: cannot read .*nowhere.yaml: there is no such file; check the path/,
  ],
  [
    'no-group.yaml',
    `${snapshot(task('{ cpu: 1 }'))}slices: [{ id: s, group: aa, status: ready }]\n`,
    /:5:26 slices\[0\].group: unknown group "aa"; did you mean a\?/,
  ],
];

function expectRefused(run: Run, path: string, message: RegExp): void {
  expect([run.exit, run.stdout]).toEqual([2, '']);
  expect(run.stderr).toMatch(message);
  for (const line of lines(run.stderr)) expect(line.startsWith(path)).toBe(true);
  expect(run.stderr).not.toContain('    at ');
}

/** One process for many files: each must be named with its own message. */
function expectAllRefused(
  command: readonly string[],
  files: readonly (readonly [path: string, message: RegExp])[],
): void {
  const run = bellows([...command, ...files.map(([path]) => path)]);
  expect([run.exit, run.stdout]).toEqual([2, '']);
  for (const [path, message] of files) {
    const own = lines(run.stderr).filter((line) => /^[ :]/.test(line.split(path)[1] ?? ''));
    expect(own.join('\n').concat('\n'), path).toMatch(message);
  }
  expect(run.stderr).not.toContain('    at ');
}

const writeAll = (
  table: readonly Row[],
  prefix = '',
): readonly (readonly [path: string, message: RegExp])[] =>
  table.map(([file, content, message]) => [write(prefix + file, content), message]);

/** Paths that hold no text at all, with what is said of each. */
function strangePaths(): readonly (readonly [path: string, message: RegExp])[] {
  const huge = write('huge.yaml', '');
  const descriptor = openSync(huge, 'r+');
  ftruncateSync(descriptor, 200e6);
  closeSync(descriptor);
  const folder = join(dirname(huge), 'folder.yaml');
  mkdirSync(folder, { recursive: true });
  return [
    [huge, /: is larger than 64 MiB; give a smaller file\n$/],
    [folder, /: is a directory; name a file in it\n$/],
    [join(folder, 'missing.yaml'), /: there is no such file; check the path\n$/],
    [join(huge, 'below.yaml'), /: a part of the path is no directory; check the path\n$/],
  ];
}

describe('plan refuses', () => {
  // Each alone where a crash or a hang would be most likely, the others together.
  const isAlone = ([file]: Row): boolean => /^(cyclic|bomb|deep|malformed|1e308|nan\.)/.test(file);
  const all = [...unreadable, ...badConfigs, ...badSnapshots];

  test.each(all.filter(isAlone))('%s', (file, content, message) => {
    const path = write(file, content);
    expectRefused(bellows(['plan', path]), path, message);
  });

  test('every other bad file, configuration and snapshot', () => {
    expectAllRefused(['plan'], writeAll(all.filter((row) => !isAlone(row))));
  });

  test('what is no file of text', () => {
    for (const [path, message] of strangePaths()) {
      expectRefused(bellows(['plan', path]), path, message);
    }
  });

  test('bad standard input, and bad files to compare with', () => {
    const run = bellows(['plan', '-'], { input: '' });
    expectRefused(run, '<stdin>', /: the file is empty; /);
    const good = write('good.yaml', snapshot(task('{ cpu: 1 }')));
    const bad = write('against.yaml', config(', min: 5'));
    expectRefused(bellows(['plan', good, '--against', bad]), bad, /3 is below min 5/);
  });

  test('several bad files, all at once', () => {
    const [first, second] = [write('p.yaml', config(', min: 5')), write('q.yaml', '')];
    const run = bellows(['plan', first, second]);
    expect([run.exit, run.stdout]).toEqual([2, '']);
    expect(lines(run.stderr).map((line) => line.split(':')[0])).toEqual([first, second]);
  });
});

test('config check refuses the same files and configurations', () => {
  const files = [...writeAll([...unreadable, ...badConfigs]), ...strangePaths()];
  expectAllRefused(['config', 'check'], files);
});

describe('test refuses', () => {
  const cases = (list: string): string => `{ "format": "bellows-cases/1", "cases": ${list} }`;
  const one = (policy: string, given: string): string =>
    cases(`[{ "id": "c", "policy": "${policy}", "given": ${given} }]`);
  const group = (over: string): string =>
    `{ "groups": [{ "name": "a", "device": { "type": "cpu" }, "max": 3 ${over} }], "demand": [] }`;

  const shapeless: readonly Row[] = [
    ['no-format.json', '{ "cases": [] }', /:1:\d+ format: the format of a file of cases is /],
    ['no-cases.json', cases('[]'), /:1:\d+ cases: a file of cases has at least one; see /],
    ['no-id.json', cases('[{ "policy": "cost", "given": {} }]'), /:1:\d+ cases\[0\].id: /],
    ['no-given.json', cases('[{ "id": "c", "policy": "cost" }]'), /cases\[0\].given: a case needs/],
    ['no-mapping.json', '[1]', /:1:1: /],
  ];
  const zeroTasks = '{ "groups": [], "demand": [{ "id": "t", "tasks": 0 }] }';
  const senseless: readonly Row[] = [
    ['less.json', one('cost', group(', "host": {}, "min": -1')), /: case c: given.groups.0.min: /],
    ['typo.json', one('cost', group(', "host": {}, "mx": 1')), /given.groups.0: .*key: "mx"/],
    [
      'huge.json',
      one('priority', group(', "host": { "cpu": 1e308 }')),
      /given.groups.0.host.cpu: /,
    ],
    ['null.json', one('cost', 'null'), /expected object, received null/],
    ['zero.json', one('cost', zeroTasks), /given.demand.0.tasks: an entry has at least one task/],
    ['types.json', one('utilization', '{ "nodeTypes": 7 }'), /given.nodeTypes: /],
  ];

  test('what it cannot read, with the place', () => {
    const files = writeAll([...unreadable, ...shapeless], 'cases-');
    expectAllRefused(['test'], [...files, ...strangePaths()]);
  });

  test('cases that make no sense, with the case and the field', () => {
    const files = writeAll(senseless);
    const run = bellows(['test', ...files.map(([path]) => path)]);
    expect([run.exit, run.stdout]).toEqual([2, '0 passed, 6 failed\n']);
    lines(run.stderr).forEach((line, index) => expect(line).toMatch(files[index]?.[1] ?? ''));
    expect(lines(run.stderr)).toHaveLength(files.length);
  });
});

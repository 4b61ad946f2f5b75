import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { checkConfig, printConfigSchema } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'bellows-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Runs a command and gives what it printed and returned. */
async function run(command: (out: Parameters<typeof checkConfig>[2]) => Promise<number>) {
  const printed = { stdout: '', stderr: '' };
  const exit = await command({
    stdout: (text) => void (printed.stdout += text.replaceAll(`${folder}/`, '')),
    stderr: (text) => void (printed.stderr += text.replaceAll(`${folder}/`, '')),
  });
  return { exit, ...printed };
}

const good = write('good.yaml', 'groups: [{ name: a, host: { cpu: 1 }, max: 9, pricePerHour: 0 }]');
const bad = write(
  'bad.yaml',
  'groups: [{ name: a, host: { cpu: 1 }, max: 9, min: 10, pricePerHour: x }]',
);

test('a good file is summed up', async () => {
  expect(await run((out) => checkConfig([good], { json: false }, out))).toEqual({
    exit: 0,
    stdout: 'good.yaml: ok, 1 group, strategy cost, max 9 slices\n',
    stderr: '',
  });
});

test('all problems of all files are listed, and the exit code is 2', async () => {
  const missing = join(folder, 'none.yaml');
  expect(await run((out) => checkConfig([bad, good, missing], { json: false }, out))).toEqual({
    exit: 2,
    stdout: 'good.yaml: ok, 1 group, strategy cost, max 9 slices\n',
    stderr: [
      'bad.yaml:1:44 groups[0].max: 9 is below min 10; raise max or lower min',
      'bad.yaml:1:70 groups[0].pricePerHour: "x" is not a price; write dollars such as 19.20, from 0 to $1000000.00',
      'none.yaml: there is no such file; check the path',
      '',
    ].join('\n'),
  });
});

test('as JSON, one line per file', async () => {
  const { exit, stdout, stderr } = await run((out) =>
    checkConfig([good, bad], { json: true }, out),
  );
  const lines: unknown[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect([exit, stderr]).toEqual([2, '']);
  expect(lines).toMatchObject([
    { file: 'good.yaml', ok: true, problems: [] },
    {
      file: 'bad.yaml',
      ok: false,
      problems: [
        { line: 1, column: 44, path: 'groups[0].max', value: '9', message: '9 is below min 10' },
        { path: 'groups[0].pricePerHour' },
      ],
    },
  ]);
});

test('the schemas are printed as JSON', async () => {
  const config = await run((out) => printConfigSchema({}, out));
  const snapshot = await run((out) => printConfigSchema({ snapshot: true }, out));
  expect(JSON.parse(config.stdout)).toMatchObject({ title: 'bellows.yaml' });
  expect(JSON.parse(snapshot.stdout)).toMatchObject({ title: 'Bellows snapshot' });
});

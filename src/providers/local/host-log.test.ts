import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HostLog, LineCutter } from './host-log.ts';

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bellows-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a log stays within two files of a mebibyte each, and ends with what came last', () => {
  const folder = aFolder();
  const log = new HostLog(join(folder, 'host.log'), []);
  for (let count = 0; count < 400; count++) log.write(`${count} ${'x'.repeat(20_000)}`);
  log.write('the end');
  expect(readdirSync(folder).sort()).toEqual(['host.log', 'host.log.1']);
  for (const name of readdirSync(folder)) {
    expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(1024 * 1024);
  }
  expect(readFileSync(join(folder, 'host.log'), 'utf8').trimEnd().split('\n').at(-1)).toBe(
    'the end',
  );
});

test('secrets are blotted out, also those of several lines; too short ones are not', () => {
  const folder = aFolder();
  const log = new HostLog(join(folder, 'host.log'), ['hunter22\nsecond-line', 'a']);
  expect(log.write('join --token=hunter22 as a')).toBe('join --token=*** as a');
  expect(log.write('second-line')).toBe('***');
  expect(readFileSync(join(folder, 'host.log'), 'utf8')).toBe('join --token=*** as a\n***\n');
});

test.each([
  ['whole lines', ['a\nb\n'], ['a', 'b']],
  ['a line in pieces', ['a', 'b', 'c\n'], ['abc']],
  ['a last line without an end', ['a\nb'], ['a', 'b']],
  ['a letter cut in two', [Buffer.from([0xc3]), Buffer.from([0xa4, 0x0a])], ['ä']],
  ['a line too long to be kept', ['x'.repeat(9_000), 'y\n'], ['x'.repeat(9_000), 'y']],
])('bytes are cut into lines: %s', (_name, chunks, lines) => {
  const taken: string[] = [];
  const cutter = new LineCutter((line) => taken.push(line));
  for (const chunk of chunks) cutter.push(Buffer.from(chunk));
  cutter.flush();
  expect(taken).toEqual(lines);
});

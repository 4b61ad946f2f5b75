import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { renderProblem } from './problem.ts';
import { INPUT_SIZE_MAX, readInput } from './read-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'bellows-read-'));
afterAll(() => rmSync(folder, { recursive: true }));

function outcome(path: string): string {
  const read = readInput(path, { sizeMax: INPUT_SIZE_MAX });
  return read.kind === 'ok' ? read.text : renderProblem(read.problem).replace(folder, '');
}

function write(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('reading a file', () => {
  test('gives its text', () => {
    expect(outcome(write('a.yaml', 'a: é\n'))).toBe('a: é\n');
  });

  test('says what is wrong with it', () => {
    expect(outcome(join(folder, 'none.yaml'))).toBe(
      '/none.yaml: there is no such file; check the path',
    );
    expect(outcome(folder)).toBe(': is a directory; name a file in it');
    expect(outcome(join(write('b.yaml', ''), 'c'))).toBe(
      '/b.yaml/c: a part of the path is no directory; check the path',
    );
    expect(outcome(write('c.yaml', Uint8Array.of(0xff, 0xfe, 0x80)))).toBe(
      '/c.yaml: is not text in UTF-8; give a YAML or JSON file',
    );
  });

  test('refuses 200 MB by the size alone', () => {
    const path = write('big.yaml', '');
    truncateSync(path, 200e6);
    expect(outcome(path)).toBe('/big.yaml: is larger than 64 MiB; give a smaller file');
  });

  test('refuses an endless one', () => {
    expect(outcome('/dev/zero')).toBe('/dev/zero: is larger than 64 MiB; give a smaller file');
  });
});

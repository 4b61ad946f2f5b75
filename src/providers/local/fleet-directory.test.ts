import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { groupName } from '../../model/ids.ts';
import { FleetDirectory } from './fleet-directory.ts';

const intent = { token: 't', group: groupName('cpu'), hostCount: 2, bootstrap: null };
const HOUR_MS = 3_600_000;

function aDirectory(): FleetDirectory {
  const dataDir = mkdtempSync(join(tmpdir(), 'bellows-fleet-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  return new FleetDirectory(dataDir, 'test');
}

/** Makes a file or folder as old as it says. */
function age(path: string, ageMs: number): void {
  const at = new Date(Date.now() - ageMs);
  utimesSync(path, at, at);
}

test('a slice comes into being once, whole, with a folder for each host', async () => {
  const directory = aDirectory();
  const made = await Promise.all([1, 2, 3].map(() => directory.create('s-0', intent)));
  expect(made.filter(Boolean)).toHaveLength(1);
  expect(readdirSync(directory.sliceDir('s-0')).sort()).toEqual(['0', '1', 'intent.json']);
  expect(await directory.readIntent('s-0')).toEqual({ kind: 'read', value: intent });
  expect(readdirSync(directory.layout.drafts)).toEqual([]);
});

test('what is removed is out of sight, and its logs are kept unless it ended in order', async () => {
  const directory = aDirectory();
  await directory.create('s-0', intent);
  for (const index of [0, 1])
    writeFileSync(join(directory.hostDir('s-0', index), 'host.log'), 'x\n');
  writeFileSync(join(directory.hostDir('s-0', 1), 'state.json'), '{"kind":"ended"}');
  await directory.remove('s-0');
  await directory.remove('s-0');
  expect(await directory.slices()).toEqual([]);
  expect(readdirSync(directory.layout.failed)).toEqual(['s-0.0.log']);
  expect(readdirSync(directory.layout.drafts)).toEqual([]);
});

test('clearing away keeps the last twenty logs, and marks and drafts that may be in use', async () => {
  const directory = aDirectory();
  const { ended, drafts, failed } = directory.layout;
  for (let count = 0; count < 25; count++) {
    const log = join(failed, `s-${count}.0.log`);
    writeFileSync(log, 'x');
    age(log, count * 1_000);
  }
  await directory.create('still-there', intent);
  for (const name of ['old', 'new', 'still-there']) await directory.markEnded(name);
  for (const name of ['old', 'still-there']) age(join(ended, name), HOUR_MS);
  for (const name of ['new-a', 'new-b']) mkdirSync(join(drafts, name));
  age(join(drafts, 'new-a'), HOUR_MS);
  await directory.prune();
  expect(readdirSync(failed)).toHaveLength(20);
  expect(existsSync(join(failed, 's-0.0.log'))).toBe(true);
  expect(existsSync(join(failed, 's-24.0.log'))).toBe(false);
  expect(readdirSync(ended).sort()).toEqual(['new', 'still-there']);
  expect(readdirSync(drafts)).toEqual(['new-b']);
});

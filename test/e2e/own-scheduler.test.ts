import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';
import { root } from './cli.ts';
import { runOwnScheduler } from './own-scheduler.ts';

test('the scheduler of the examples gets its work done, and its hosts go', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bellows-own-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const outfile = join(folder, 'scheduler.mjs');
  const entry = join(root, 'examples/own-scheduler/scheduler.ts');
  await build({ entryPoints: [entry], outfile, format: 'esm', platform: 'node' });
  const { lines, hostCountMax } = await runOwnScheduler([process.execPath, outfile]);
  expect(lines.filter((line) => line.endsWith('is done'))).toHaveLength(6);
  expect(lines.at(-1)).toBe('no slice is left');
  // Six tasks of two cores, two to a host.
  expect(hostCountMax).toBe(3);
});

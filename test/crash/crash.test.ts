import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runCrashes } from './crash-run.ts';

// The built command, killed with -9 for real. `npm run crash -- --kills 100` does more of it.

test('ten kills lose nothing, leak nothing and double nothing', { timeout: 240_000 }, async () => {
  const { folder, replay, ...report } = await runCrashes({ kills: 10, seed: 7 });
  expect(report).toMatchObject({
    lost: [],
    leaked: [],
    doubled: [],
    refused: [],
    settled: true,
    exitCode: 0,
  });
  expect(replay).toMatchObject({ exitCode: 0 });
  // It would prove nothing had nothing happened.
  expect(report.acknowledged).toBeGreaterThan(20);
  expect(report.hostsSeen).toBeGreaterThan(5);
  rmSync(folder, { recursive: true, force: true });
});

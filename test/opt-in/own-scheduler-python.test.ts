import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../e2e/cli.ts';
import { runOwnScheduler } from '../e2e/own-scheduler.ts';

test('the same in Python, with nothing but its standard library', async () => {
  const script = join(root, 'examples/own-scheduler/scheduler.py');
  const { lines, hostCountMax } = await runOwnScheduler(['python3', script]);
  expect(lines.filter((line) => line.endsWith('is done'))).toHaveLength(6);
  expect(lines.at(-1)).toBe('all tasks are done, no slice is left');
  expect(hostCountMax).toBe(3);
});

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mutations } from './mutations.ts';

test.each(mutations)('$name finds its one place in the code', ({ file, find }) => {
  const parts = readFileSync(file, 'utf8').split(find);
  expect(parts.length - 1).toBe(1);
});

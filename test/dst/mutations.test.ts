import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mutations } from './mutations.ts';

test.each(mutations)('$name finds its places in the code', ({ edits }) => {
  for (const { file, find } of edits) {
    expect(readFileSync(file, 'utf8').split(find).length - 1, file).toBe(1);
  }
});

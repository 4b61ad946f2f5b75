import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { renderLifecyclePage } from '../scripts/lifecycle-page.ts';

test('docs/lifecycle.md is what the table says; npm run docs:lifecycle writes it', () => {
  const page = readFileSync(new URL('../docs/lifecycle.md', import.meta.url), 'utf8');
  expect(page).toBe(renderLifecyclePage());
});
